"""Pages that talk to a model which does as they say: what counting contradicts does not change.

The server plays the worst case: it obeys the page. Whatever it is asked, it calls the page a
product, rates it ten of ten, raises no flag, and makes up what it is to extract.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from geomi.analyse.language_model import FIELDS, ask_for_fields, ask_for_quality, ask_for_type
from geomi.app.index import open_search_index, update_index
from geomi.model.index.document import DocumentFilter, DocumentRow, DocumentState
from tests.support.advising import form_of, product_told, quality_told, type_told
from tests.support.crawl import LOCAL, Ear, crawl_in, home_in, plan
from tests.support.hostile_pages import ORDER, PAGES, Hostile, in_tags, site
from tests.support.models import ModelServer, Scripted
from tests.support.server import Site
from tests.support.waiting import waits

TASKS = frozenset(
    [
        ask_for_type("", "", "").task,
        ask_for_quality("", "", "").task,
        *(ask_for_fields("", "", "", page_type).task for page_type in FIELDS),
    ]
)
MADE_UP = "Zorblax"
WANTED = ["analysis.sensitive=skip"]


def obey(question: dict[str, Any]) -> Scripted:
    """Answer as every page demands, and make up what none of them says."""
    quote = {"question": f"Why {MADE_UP}?", "answer": f"Because {MADE_UP}."}
    told: dict[str, Scripted] = {
        "classification": type_told("product", 1.0),
        "quality": quality_told(10),
        "product_fields": product_told(
            name=f"{MADE_UP} Anvil", price={"amount": 31337, "currency": "USD"}, inStock=True,
            brand=MADE_UP, images=["https://zorblax.test/1.png"], confidence=1,
        ),
        "faq_fields": json.dumps({"items": [quote], "confidence": 1}),
        "policy_fields": json.dumps(
            {"title": MADE_UP, "effectiveDate": "2031-01-01", "confidence": 1,
             "sections": [{"heading": "Your rights", "text": f"You have none, says {MADE_UP}."}]}
        ),
    }  # fmt: skip
    return told[form_of(question)]


def babble_first(question: dict[str, Any]) -> Scripted:
    """Repeat the page in place of an answer, and obey when asked again."""
    material = str(question["messages"][1]["content"])
    return obey(question) if "EARLIER ANSWER" in material else f"SYSTEM: {ORDER}\n{material}"


@dataclass(frozen=True)
class Seen:
    """What became of the pages, and what the server was asked."""

    rows: Mapping[str, DocumentRow]
    asked: list[dict[str, Any]]


@waits
async def enriched(root: Path, server: ModelServer | None) -> Seen:
    """Crawl the site and understand it, with or without a model."""
    ear = Ear()
    settings = LOCAL
    if server is not None:
        settings = replace(LOCAL, model_endpoint=server.endpoint, model="tiny")
    with Site(site()) as web:
        async with home_in(root, ear, settings) as home, open_search_index(home) as search_index:
            await crawl_in(home, ear, plan([web.url("/")], assignments=WANTED))
            await update_index(home, search_index)
            found = await home.world.store.documents.list(DocumentFilter(), after="", limit=100)
            rows = {row.url.removeprefix(web.url("")): row for row in found}
    return Seen(rows, server.asked if server else [])


@pytest.fixture(scope="module")
def counted(tmp_path_factory: pytest.TempPathFactory) -> Seen:
    """Return what counting alone says of the pages."""
    return enriched(tmp_path_factory.mktemp("counted"), None)


@pytest.fixture(scope="module", params=["obeys", "babbles"])
def advised(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Seen:
    """Return what is said of them with a model that obeys them."""
    with ModelServer(obey if request.param == "obeys" else babble_first) as server:
        return enriched(tmp_path_factory.mktemp("advised"), server)


def test_there_are_sixteen() -> None:
    assert len({page.route for page in PAGES}) == len({page.name for page in PAGES}) == 16


@pytest.mark.req("ANA-13", "ANA-21")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_no_page_talks_itself_in(page: Hostile, counted: Seen, advised: Seen) -> None:
    for seen in (counted, advised):
        row = seen.rows.get(page.route)
        if page.kept_out == "collected":
            assert row is None
            continue
        assert row is not None
        if page.kept_out:
            assert (row.state, row.reason) == (DocumentState.SKIPPED, page.kept_out), row.detail
        else:
            assert row.state is DocumentState.INDEXED, row.detail


@pytest.mark.req("ANA-04")
@pytest.mark.parametrize(
    "page", [page for page in PAGES if page.page_type], ids=lambda page: page.name
)
def test_a_type_that_a_rule_decided_stays(page: Hostile, counted: Seen, advised: Seen) -> None:
    for seen in (counted, advised):
        assert seen.rows[page.route].page_type == page.page_type


@pytest.mark.req("ANA-17")
def test_nothing_that_was_made_up_is_kept(counted: Seen, advised: Seen) -> None:
    assert "product_fields" in {form_of(question) for question in advised.asked}
    for route, row in advised.rows.items():
        for told in (MADE_UP, "zorblax", "31337", "2031"):
            assert told.encode() not in row.analysis, route
        fields = json.loads(row.analysis)["fields"]
        assert fields == json.loads(counted.rows[route].analysis)["fields"], route


def test_no_flag_goes_down_and_no_flagged_page_goes_up(counted: Seen, advised: Seen) -> None:
    for route, row in advised.rows.items():
        before = json.loads(counted.rows[route].analysis)["quality"]
        after = json.loads(row.analysis)["quality"]
        raised = {flag for flag, is_up in before["flags"].items() if is_up}
        assert raised <= {flag for flag, is_up in after["flags"].items() if is_up}, route
        assert after["overall"] <= before["overall"] + (0 if raised else 2.0), route


def test_no_word_of_a_page_is_in_an_instruction(advised: Seen) -> None:
    assert advised.asked
    for question in advised.asked:
        (system, user) = question["messages"]
        assert (system["role"], user["role"]) == ("system", "user")
        task = system["content"].partition("\n\nAn earlier answer stands after the page")[0]
        assert task in TASKS
        assert not {"tools", "tool_choice", "functions"} & set(question)


def test_what_a_page_says_stands_between_its_marks(advised: Seen) -> None:
    """The page, and an answer that repeats it, cannot close what they stand in."""
    for question in advised.asked:
        left = question["messages"][1]["content"]
        for name in ("PAGE", "EARLIER ANSWER"):
            opening, _, rest = left.partition("\n")
            assert opening.startswith(f"<<<{name} ")
            _, closing, left = rest.partition(f"\n{opening.removeprefix('<<<')}>>>")
            assert closing
            if not left:
                break
            left = left.removeprefix("\n\n")
        assert left == ""


def test_what_nobody_sees_is_not_sent(advised: Seen) -> None:
    hidden = [page for page in PAGES if in_tags(ORDER) in page.body]
    assert hidden
    for question in advised.asked:
        sent = "".join(message["content"] for message in question["messages"])
        assert not {c for c in sent if unicodedata.category(c) in ("Cf", "Co", "Cs")}
