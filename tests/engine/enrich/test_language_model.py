"""Where models are asked about a page, how far they are believed, and what it costs."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from geomi.analyse.classify import RULES
from geomi.analyse.page import analyse
from geomi.app.index import open_search_index, update_index
from geomi.engine.enrich.language_model import MAX_SHIFT, SURE
from geomi.model.index.analysis import (
    Analysis,
    AnalysisInput,
    AnalysisRules,
    ExtractedFields,
    FieldsModel,
    Flag,
    IndexReason,
    Money,
    OnFinding,
    PageType,
    ProductFields,
    WantedType,
)
from geomi.model.index.document import DocumentFilter
from geomi.model.index.language_model import MICROS
from tests.support.advising import (
    ANSWER_MICROS,
    TEXT,
    Advised,
    advise,
    by_form,
    forms,
    product_told,
    quality_told,
    subject,
    type_told,
    understood,
)
from tests.support.crawl import LOCAL, Ear, crawl_in, home_in, plan
from tests.support.models import ModelServer, Scripted, completion
from tests.support.private_site import NEEDLES, routes
from tests.support.server import Site
from tests.support.waiting import waits

RULE = AnalysisRules()
GOOD = subject()
SCARF = subject(
    "# Silk Scarf\n\nA light scarf of pure silk, woven by hand in Lyon by Maison Lumière since "
    "1921.\n\nPrice: $39.00. In stock.\n\n" + TEXT
)


@waits
async def ask(
    root: Path,
    known: Analysis,
    page: AnalysisInput = GOOD,
    rules: AnalysisRules = RULE,
    **answers: Scripted,
) -> tuple[Advised, list[str]]:
    """Let models have their say on one page; return what came of it and what was asked."""
    told: dict[str, Scripted] = {
        "classification": type_told("article"),
        "quality": quality_told(7),
        "product_fields": product_told(),
        "faq_fields": json.dumps({"items": [], "confidence": 1}),
        "policy_fields": json.dumps(
            {"title": None, "effectiveDate": None, "sections": [], "confidence": 1}
        ),
    }
    with ModelServer(by_form(**{**told, **answers})) as server:
        advised = await advise(root, server.endpoint, rules, (page, known))
    return advised, forms(server)


class TestRouting:
    """Only what is unsure is asked about, and only what can still matter."""

    @pytest.mark.req("ANA-05", "ANA-12")
    def test_the_type_of_an_unsure_page_alone(self, tmp_path: Path) -> None:
        unsure = understood(GOOD, RULE, page_type=PageType.LANDING, confidence=SURE - 0.001)
        advised, asked = ask(tmp_path / "a", unsure)
        assert asked == ["classification", "quality"]
        kind = advised.analysis.classification
        assert kind is not None
        assert (kind.page_type, kind.engine.name) == (PageType.ARTICLE, "tiny")
        sure = understood(GOOD, RULE, page_type=PageType.LANDING, confidence=SURE)
        advised, asked = ask(tmp_path / "b", sure)
        assert asked == ["quality"]
        assert advised.analysis.classification == sure.classification

    def test_a_type_that_a_rule_decided_is_not_asked_for(self, tmp_path: Path) -> None:
        known = understood(GOOD, RULE, page_type=PageType.CONTACT, confidence=0.5, engine=RULES)
        advised, asked = ask(tmp_path, known)
        assert asked == ["quality"]
        assert advised.analysis.classification == known.classification

    def test_a_model_that_is_less_sure_is_not_believed(self, tmp_path: Path) -> None:
        known = understood(GOOD, RULE, page_type=PageType.LANDING, confidence=0.5)
        advised, _ = ask(tmp_path, known, classification=type_told("article", 0.5))
        assert advised.analysis.classification == known.classification

    @pytest.mark.req("ANA-07", "ANA-12")
    @pytest.mark.parametrize(
        ("rules", "asked"),
        [
            (AnalysisRules(classify=False), ["quality"]),
            (AnalysisRules(quality=False), ["classification"]),
            (AnalysisRules(classify=False, quality=False), []),
        ],
        ids=["no type", "no quality", "neither"],
    )
    def test_what_a_job_does_not_want_is_not_asked_for(
        self, tmp_path: Path, rules: AnalysisRules, asked: list[str]
    ) -> None:
        known = understood(GOOD, rules, page_type=PageType.LANDING)
        assert ask(tmp_path, known, rules=rules)[1] == asked

    @pytest.mark.req("ANA-14", "ANA-18", "C-64")
    @pytest.mark.parametrize("page_type", list(PageType))
    def test_fields_of_three_types_alone(self, tmp_path: Path, page_type: PageType) -> None:
        known = understood(GOOD, RULE, page_type=page_type, confidence=0.9)
        _, asked = ask(tmp_path, known)
        has_fields = page_type in (PageType.PRODUCT, PageType.FAQ, PageType.POLICY)
        assert asked == ["quality", *([f"{page_type}_fields"] if has_fields else [])]

    @pytest.mark.req("ANA-18")
    @pytest.mark.parametrize(("confidence", "is_asked"), [(SURE, False), (SURE - 0.01, True)])
    def test_fields_only_where_rules_are_unsure(
        self, tmp_path: Path, confidence: float, is_asked: bool
    ) -> None:
        known = understood(SCARF, RULE, page_type=PageType.PRODUCT, confidence=0.9)
        fields = ExtractedFields(
            FieldsModel.PRODUCT, ProductFields(name="Silk Scarf"), confidence, RULES
        )
        _, asked = ask(tmp_path, replace(known, fields=fields), SCARF)
        assert ("product_fields" in asked) is is_asked

    @pytest.mark.parametrize(
        ("page", "rules", "reason"),
        [
            (replace(GOOD, asks_not_to_be_indexed=True), RULE, IndexReason.NOINDEX),
            (subject(robots=frozenset({"noindex"})), RULE, IndexReason.NOINDEX),
            (subject("Too short."), RULE, IndexReason.TOO_SHORT),
            (replace(GOOD, personal_data="email 1"), RULE, IndexReason.PERSONAL_DATA),
            (
                subject(f"{TEXT} Casino roulette, blackjack, baccarat, jackpot; casino jackpot."),
                AnalysisRules(sensitive=OnFinding.SKIP),
                IndexReason.SENSITIVE,
            ),
            (
                subject(metadata=(("copyright", "© 2024 Acme. All rights reserved."),)),
                AnalysisRules(copyright=OnFinding.SKIP),
                IndexReason.COPYRIGHT,
            ),
            (
                replace(GOOD, duplicate_of="https://a.test/first"),
                AnalysisRules(quality_threshold=0),
                IndexReason.DUPLICATE,
            ),
        ],
        ids=lambda value: str(value) if isinstance(value, IndexReason) else "",
    )
    def test_nobody_is_asked_about_what_is_kept_out_anyway(
        self, tmp_path: Path, page: AnalysisInput, rules: AnalysisRules, reason: IndexReason
    ) -> None:
        known = analyse(page, rules)
        assert known.decision.reason is reason
        advised, asked = ask(tmp_path, known, page, rules)
        assert asked == []
        assert advised.analysis == known

    def test_a_type_that_nobody_wants_is_not_rated(self, tmp_path: Path) -> None:
        rules = AnalysisRules(page_types=(WantedType.ARTICLE,))
        known = understood(GOOD, rules, page_type=PageType.LANDING)
        decision = replace(known.decision, should_index=False, reason=IndexReason.PAGE_TYPE)
        known = replace(known, decision=decision)
        advised, asked = ask(
            tmp_path / "a", known, rules=rules, classification=type_told("landing")
        )
        assert asked == ["classification"]
        assert advised.analysis.decision.reason is IndexReason.PAGE_TYPE
        advised, asked = ask(tmp_path / "b", known, rules=rules)
        assert asked == ["classification", "quality"]
        assert advised.analysis.decision.should_index

    def test_another_type_has_fields_of_its_own(self, tmp_path: Path) -> None:
        known = understood(SCARF, RULE, page_type=PageType.FAQ)
        advised, asked = ask(tmp_path, known, SCARF, classification=type_told("product"))
        assert asked == ["classification", "quality", "product_fields"]
        assert advised.analysis.fields is not None
        assert advised.analysis.fields.model is FieldsModel.PRODUCT
        assert isinstance(advised.analysis.fields.data, ProductFields)
        assert advised.analysis.fields.data.price == Money(39.0, "USD")  # as rules read it
        was_product = analyse(SCARF, RULE)
        known = replace(
            understood(SCARF, RULE, page_type=PageType.PRODUCT), fields=was_product.fields
        )
        advised, _ = ask(tmp_path, known, SCARF, classification=type_told("article"))
        assert advised.analysis.fields is None


class TestBelief:
    """A model adds to what was counted; it undoes nothing."""

    @pytest.mark.parametrize(("told", "moved"), [(10, MAX_SHIFT), (0, -MAX_SHIFT), (7.5, None)])
    def test_how_far_a_page_moves(self, tmp_path: Path, told: float, moved: float | None) -> None:
        known = analyse(GOOD, RULE)
        assert known.quality is not None
        assert known.quality.raised == ()
        counted = replace(known.quality, overall=6.5)
        known = replace(known, quality=counted)
        advised, _ = ask(tmp_path, known, quality=quality_told(told))
        assert advised.analysis.quality is not None
        assert advised.analysis.quality.overall == (told if moved is None else 6.5 + moved)
        assert advised.analysis.decision.should_index is (told >= 5)

    @pytest.mark.req("ANA-10")
    def test_a_page_with_a_flag_is_not_lifted(self, tmp_path: Path) -> None:
        known = analyse(GOOD, RULE)
        assert known.quality is not None
        flags = tuple((flag, flag is Flag.THIN_CONTENT) for flag in Flag)
        known = replace(known, quality=replace(known.quality, overall=4.9, flags=flags))
        advised, _ = ask(tmp_path, known, quality=quality_told(10, "outdated"))
        quality = advised.analysis.quality
        assert quality is not None
        assert quality.overall == 4.9
        assert quality.raised == (Flag.THIN_CONTENT, Flag.OUTDATED)
        assert advised.analysis.decision.reason is IndexReason.QUALITY

    @pytest.mark.req("ANA-17")
    def test_fields_fill_gaps_with_what_the_page_says(self, tmp_path: Path) -> None:
        page = SCARF
        known = understood(page, RULE, page_type=PageType.PRODUCT, confidence=0.9)
        held = ProductFields(name="Silk Scarf", in_stock=True)
        known = replace(known, fields=ExtractedFields(FieldsModel.PRODUCT, held, 0.65, RULES))
        told = product_told(
            name="Lyon", brand="Maison Lumière", sku="Z-9", inStock=False,
            price={"amount": 39, "currency": "USD"}, salePrice={"amount": 1, "currency": "USD"},
        )  # fmt: skip
        advised, _ = ask(tmp_path, known, page, product_fields=told)
        assert advised.analysis.fields is not None
        assert advised.analysis.fields.engine.name == "tiny"
        assert advised.analysis.fields.data == ProductFields(
            name="Silk Scarf", brand="Maison Lumière", price=Money(39.0, "USD"), in_stock=True
        )

    @pytest.mark.req("ANA-17")
    @pytest.mark.parametrize("has_fields", [True, False])
    def test_fields_that_are_all_made_up_change_nothing(
        self, tmp_path: Path, has_fields: bool
    ) -> None:
        known = understood(GOOD, RULE, page_type=PageType.PRODUCT, confidence=0.9)
        held = ExtractedFields(
            FieldsModel.PRODUCT, ProductFields(name="The old bridge"), 0.65, RULES
        )
        known = replace(known, fields=held if has_fields else None)
        told = product_told(name="Anvil", price={"amount": 1e12, "currency": "USD"})
        advised, _ = ask(tmp_path, known, product_fields=told)
        assert advised.analysis.fields == known.fields

    @pytest.mark.parametrize(
        "told",
        [
            product_told(price={"amount": float("inf"), "currency": "USD"}),
            product_told(price={"amount": 10**400, "currency": "USD"}),
            product_told(name="\ud800"),
        ],
        ids=["infinite", "huge", "half a character"],
    )  # fmt: skip
    def test_no_answer_breaks_a_page(self, tmp_path: Path, told: str) -> None:
        known = understood(GOOD, RULE, page_type=PageType.PRODUCT, confidence=0.9)
        advised, asked = ask(
            tmp_path, known, product_fields=told, quality=quality_told(7, "\ud800")
        )
        assert asked[:2] == ["quality", "quality"]
        assert advised.analysis.fields is None


class TestMoney:
    """The ledger adds up, and a budget ends the asking."""

    @pytest.mark.req("COST-05")
    @waits
    async def test_every_call_is_in_the_ledger(self, tmp_path: Path) -> None:
        bad = "no JSON"
        answers: list[Scripted] = [
            type_told("article"), quality_told(7),  # both good
            bad, type_told("article"), bad, bad,  # mended; twice nonsense
            (503, "busy"), bad, (429, "later"),  # busy; nonsense, then busy
            completion("{", finish="length"), quality_told(7),  # cut off; good
        ]  # fmt: skip
        page = (GOOD, understood(GOOD, RULE, page_type=PageType.LANDING))
        with ModelServer(answers) as server:
            advised = await advise(tmp_path, server.endpoint, RULE, *[page] * 4)
        assert len(server.asked) == len(answers)
        classify, quality = advised.lines
        assert (classify.purpose, quality.purpose) == ("classify", "quality")
        assert (classify.calls, classify.failures) == (5, 3)
        assert (classify.tokens_in, classify.tokens_out) == (400, 80)
        assert (quality.calls, quality.failures) == (6, 4)
        assert (quality.tokens_in, quality.tokens_out) == (500, 100)
        assert classify.calls + quality.calls == len(server.asked)
        assert advised.micros == 9 * ANSWER_MICROS
        assert {(line.provider, line.model) for line in advised.lines} == {("server", "tiny")}

    @pytest.mark.req("COST-05")
    @waits
    async def test_a_budget_ends_the_asking_and_is_told_once(self, tmp_path: Path) -> None:
        rules = AnalysisRules(budget_usd=2 * ANSWER_MICROS / MICROS)
        page = (GOOD, understood(GOOD, rules, page_type=PageType.LANDING))
        answers = by_form(classification=type_told("article"), quality=quality_told(7))
        with ModelServer(answers) as server:
            advised = await advise(tmp_path, server.endpoint, rules, *[page] * 5)
        assert forms(server) == ["classification", "quality"]
        assert advised.micros == 2 * ANSWER_MICROS
        assert advised.ear.warnings == [
            "the budget of 0.0028 $ is used up; geomi asks no model any more"
        ]
        assert all(one == page[1] for one in advised.analyses[1:])

    def test_the_least_budget_is_one(self, tmp_path: Path) -> None:
        rules = AnalysisRules(budget_usd=0.000_000_1)
        advised, asked = ask(
            tmp_path, understood(GOOD, rules, page_type=PageType.LANDING), rules=rules
        )
        assert asked == ["classification"]
        assert len(advised.ear.warnings) == 1

    @pytest.mark.req("COST-05")
    @waits
    async def test_a_version_of_a_model_has_the_price_of_the_model(self, tmp_path: Path) -> None:
        """Servers name the version that answered; a budget counts it all the same."""
        told = completion(quality_told(5), model="tiny-2024-07-18")
        with ModelServer(lambda _: told) as server:
            ear = Ear()
            settings = replace(
                LOCAL, model_endpoint=server.endpoint, model="tiny", model_prices=("tiny=10/20",)
            )
            with Site(routes()) as site:
                async with (
                    home_in(tmp_path, ear, settings) as home,
                    open_search_index(home) as search_index,
                ):
                    crawled = await crawl_in(home, ear, plan([site.url("/next")], depth=0))
                    await update_index(home, search_index)
                    spent = await home.world.store.costs.spent(crawled.report.job.id)
        assert server.asked
        assert spent == len(server.asked) * ANSWER_MICROS


class TestFalling:
    """Whatever goes wrong with a model, the embedded answer holds."""

    @pytest.mark.parametrize(
        "told",
        [
            (500, "oops"),
            (503, ""),
            (429, "slow down"),
            (401, "no key"),
            (200, "<html>"),
            "nonsense",
        ],
        ids=str,
    )
    def test_no_answer_is_the_embedded_one(self, tmp_path: Path, told: Scripted) -> None:
        known = understood(GOOD, RULE, page_type=PageType.LANDING)
        advised, _ = ask(tmp_path, known, classification=told, quality=told)
        assert advised.analysis == known
        assert all(line.failures == line.calls for line in advised.lines)

    @waits
    async def test_a_server_that_is_down_is_told_once(self, tmp_path: Path) -> None:
        with ModelServer([]) as server:
            endpoint = server.endpoint
        page = (GOOD, understood(GOOD, RULE, page_type=PageType.LANDING))
        advised = await advise(tmp_path, endpoint, RULE, page, page)
        assert advised.analyses == [page[1], page[1]]
        (warning,) = advised.ear.warnings
        assert warning.startswith(f"no model answers: {endpoint} did not answer")
        assert [(line.calls, line.failures, line.micros) for line in advised.lines] == [
            (2, 2, 0), (2, 2, 0),
        ]  # fmt: skip


@pytest.mark.req("C-47", "SAF-01")
@pytest.mark.parametrize("action", ["redact", "skip", "flag"])
@waits
async def test_no_value_is_in_any_request(tmp_path: Path, action: str) -> None:
    """With `flag` there are, else the others would prove nothing."""
    with ModelServer(lambda question: _echo(question)) as server:
        ear = Ear()
        settings = replace(LOCAL, model_endpoint=server.endpoint, model="tiny")
        rules = [f"safety.pii={action}", "analysis.min_chars=0"]
        with Site(routes()) as site:
            async with (
                home_in(tmp_path, ear, settings) as home,
                open_search_index(home) as search_index,
            ):
                await crawl_in(home, ear, plan([site.url("/")], assignments=rules))
                await update_index(home, search_index)
                assert await home.world.store.documents.list(DocumentFilter(), after="", limit=9)
    assert server.asked
    sent = json.dumps(server.asked, ensure_ascii=False).encode()
    assert bool([needle for needle in NEEDLES if needle in sent]) is (action == "flag")


def _echo(question: dict[str, Any]) -> Scripted:
    """Answer with the page itself, so that it is sent back as well."""
    return str(question["messages"][1]["content"])


SHAPE = json.dumps(
    {
        "type": "object",
        "required": ["material", "maker"],
        "properties": {
            "material": {"type": "string", "description": "what it is made of"},
            "maker": {"type": "string"},
            "since": {"type": "integer"},
        },
    }
)
OWN = replace(RULE, schema=SHAPE, quality_threshold=0.0)


class TestCustomFields:
    """A job's own schema is asked for, checked, and left open where nothing came of it."""

    @pytest.mark.req("FUT-14", "C-64")
    @waits
    async def test_what_is_asked_and_what_becomes_of_it(self, tmp_path: Path) -> None:
        page = replace(SCARF, article=replace(SCARF.article, metadata=(("ld:X.maker", "Lumière"),)))
        told = json.dumps({"material": "pure silk", "maker": "Someone", "since": 1921})
        with ModelServer(by_form(quality=quality_told(7), custom_fields=told)) as server:
            known = understood(page, OWN, page_type=PageType.ARTICLE, confidence=SURE)
            advised = await advise(tmp_path, server.endpoint, OWN, (page, known))
            asked = server.asked[-1]
        custom = advised.analysis.custom
        assert custom is not None
        assert custom.data == {"material": "pure silk", "maker": "Lumière", "since": 1921}
        assert (custom.engine.name, custom.problem, custom.missing) == ("tiny", "", ())
        form = asked["response_format"]["json_schema"]["schema"]
        assert form["required"] == ["material", "maker", "since"]
        assert form["properties"]["since"]["type"] == ["integer", "null"]
        task, material = (message["content"] for message in asked["messages"])
        assert "silk" not in task and "<<<PAGE" in material

    @pytest.mark.req("FUT-14")
    @pytest.mark.parametrize("answer", ['{"since": "long ago"}', "no JSON", (400, "no")])
    def test_an_answer_of_another_form_is_asked_for_once_more_and_then_nothing(
        self, tmp_path: Path, answer: Scripted
    ) -> None:
        known = understood(SCARF, OWN, page_type=PageType.ARTICLE, confidence=SURE)
        advised, asked = ask(tmp_path, known, SCARF, OWN, custom_fields=answer)
        assert asked.count("custom_fields") == (1 if isinstance(answer, tuple) else 2)
        custom = advised.analysis.custom
        assert custom is not None
        assert set(custom.data.values()) == {None} and custom.missing == ("material", "maker")
        assert "no model gave an answer" in custom.problem

    def test_nothing_is_asked_where_nothing_is_open_or_the_page_is_not_kept(
        self, tmp_path: Path
    ) -> None:
        said = (("ld:X.maker", "a"), ("ld:X.material", "b"), ("ld:X.since", "1921"))
        page = replace(SCARF, article=replace(SCARF.article, metadata=said))
        known = understood(page, OWN, page_type=PageType.ARTICLE, confidence=SURE)
        assert ask(tmp_path / "a", known, page, OWN)[1] == ["quality"]
        strict = replace(OWN, quality_threshold=10.0)
        poor = understood(SCARF, strict, page_type=PageType.ARTICLE, confidence=SURE)
        assert ask(tmp_path / "b", poor, SCARF, strict)[1] == ["quality"]
