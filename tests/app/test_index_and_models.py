"""What settings name: another index, an embedder, a model that advises; and what they refuse."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import orjson
import pytest

from geomi.app.index import open_search_index, search_pages
from geomi.errors import ConfigError
from geomi.model.index.document import DocumentFilter, DocumentRow
from geomi.model.index.language_model import ModelPurpose
from geomi.model.index.search import NO_FILTERS
from geomi.settings.options import Settings
from tests.conftest import missing_part
from tests.e2e.command import LOCAL as COMMAND_LOCAL
from tests.e2e.command import run
from tests.support.advising import form_of, quality_told
from tests.support.crawl import LOCAL, Ear, crawl_in, home_in, page, plan
from tests.support.models import ModelServer, Scripted, embeddings
from tests.support.onnx import write_model
from tests.support.server import Route, Site
from tests.support.waiting import waits

WEB = {
    "/": page("start", "/car", "/boat", text="A village by the sea. " * 12),
    "/car": page("car", text="The automobile of the doctor stands behind the church. " * 6),
    "/boat": page("boat", text="The ferry leaves at noon and returns before the night. " * 6),
}
NEAR = {"automobile": (1.0, 0.0), "vehicle": (0.9, 0.1), "ferry": (0.0, 1.0)}
EVERY = ("analysis.quality_threshold=0",)


async def crawled(tmp_path: Path, routes: Mapping[str, Route] = WEB) -> None:
    ear = Ear()
    async with home_in(tmp_path, ear) as home:
        with Site(routes) as site:
            await crawl_in(home, ear, plan([site.url("/")], assignments=EVERY))


async def answers(tmp_path: Path, settings: Settings, query: str) -> list[str]:
    """Return the pages that answer a query, best first."""
    async with home_in(tmp_path, Ear(), settings) as home:
        searched = await search_pages(home, query, NO_FILTERS, limit=10)
        return [hit.passage.url.rpartition("/")[2] for hit in searched.found.hits]


@pytest.mark.req("IDX-01")
@waits
async def test_an_embedder_finds_what_no_word_says(tmp_path: Path) -> None:
    if find_spec("onnxruntime") is None:
        missing_part("no onnxruntime: pip install '.[onnx]'")
    write_model(tmp_path / "tiny", NEAR)

    await crawled(tmp_path)
    assert await answers(tmp_path, LOCAL, "vehicle") == []
    assert await answers(tmp_path, LOCAL, "automobile") == ["car"]
    embedding = replace(LOCAL, embedder=f"onnx:{tmp_path / 'tiny'}")
    assert (await answers(tmp_path, embedding, "vehicle"))[0] == "car"


@pytest.mark.slow
@waits
async def test_an_index_in_a_folder_of_its_own(tmp_path: Path) -> None:
    if find_spec("lancedb") is None:
        missing_part("no lancedb: pip install '.[lance]'")

    await crawled(tmp_path)
    shared = replace(LOCAL, index=str(tmp_path / "shared"))
    assert await answers(tmp_path, shared, "ferry noon") == ["boat"]
    assert (tmp_path / "shared").is_dir() and not (tmp_path / "index").exists()


@waits
async def test_a_model_is_asked_and_its_bill_is_kept(tmp_path: Path) -> None:
    quality = (
        '{"scores": {"originality": 9, "depth": 9, "readability": 9, "relevance": 9}, '
        '"overall": 9, "flags": [], "summary": "s"}'
    )

    with ModelServer([quality] * 20) as server:
        await crawled(tmp_path)
        advised = replace(
            LOCAL, model_endpoint=server.endpoint, model="tiny", model_prices=("tiny=1/2",)
        )
        await answers(tmp_path, advised, "ferry")
        async with home_in(tmp_path, Ear(), advised) as home:
            lines = {line.purpose: line for line in await home.world.store.costs.list()}
        assert lines[ModelPurpose.QUALITY].tokens_in >= 100
        assert lines[ModelPurpose.QUALITY].micros >= 140
        assert {asked["model"] for asked in server.asked} == {"tiny"}
        # Whoever searches without the model does not undo what it said, nor asks again.
        asked = len(server.asked)
        for settings in (LOCAL, advised):
            await answers(tmp_path, settings, "ferry")
            async with home_in(tmp_path, Ear(), settings) as home:
                rows = await home.world.store.documents.list(DocumentFilter(), after="", limit=10)
                assert {
                    orjson.loads(row.analysis)["quality"]["engine"]["name"] for row in rows
                } == {"tiny"}
        assert len(server.asked) == asked


@pytest.mark.slow
@pytest.mark.req("COST-01", "COST-05")
def test_the_ledger_has_the_calls_of_the_embedder(tmp_path: Path) -> None:
    folder = ["-o", str(tmp_path)]

    def answer(question: dict[str, Any]) -> Scripted:
        return embeddings([(1.0, float(at)) for at in range(len(question["input"]))])

    with Site(WEB) as site:
        every = ["--set", "analysis.quality_threshold=0", "--delay", "0"]
        assert run("crawl", site.url("/"), *folder, *COMMAND_LOCAL, *every).returncode == 0
    with ModelServer(answer) as server:
        env = {
            "GEOMI_MODEL_ENDPOINT": server.endpoint,
            "GEOMI_EMBEDDER": "openai:tiny",
            "GEOMI_MODEL_PRICES": "tiny=250000/0",
        }
        done = run("enrich", "--once", *folder, env=env)
        assert done.returncode == 0, done.stderr
        again = run("enrich", "--once", *folder, env=env)  # nothing new, so no call
        assert again.returncode == 0
        texts = [one for asked in server.asked for one in asked["input"] if one != "dimensions"]
        calls = sum(asked["input"] != ["dimensions"] for asked in server.asked)
    assert calls and len(texts) >= calls
    (line,) = json.loads(run("cost", *folder, "--json").stdout)["lines"]
    told = {name: line[name] for name in ("purpose", "model", "provider", "calls", "failures")}
    assert told == {
        "purpose": "embed",
        "model": "tiny",
        "provider": server.endpoint,
        "calls": calls,
        "failures": 0,
    }
    # The server says eight tokens for each answer, at a quarter of a dollar for each token.
    assert (line["tokens_in"], line["micros"]) == (8 * calls, 2_000_000 * calls)
    assert f"embed      tiny: {calls} calls" in run("cost", *folder).stdout


@pytest.mark.parametrize(
    ("settings", "word"),
    [
        (Settings(embedder="word2vec:x"), "`word2vec:x` is not an embedder"),
        (Settings(embedder="onnx:"), "`onnx:` is not an embedder"),
        (Settings(embedder="openai:ada"), "no server is named"),
        (Settings(model="gpt"), "no server is named"),
        (Settings(model="gpt", model_endpoint="nonsense"), "plain http or https URL"),
        (
            Settings(model="m", model_endpoint="http://127.0.0.1:1/v1", model_prices=("m=x",)),
            "`m=x` is not a price",
        ),
        (Settings(index="s3://UPPER"), "does not name a bucket"),
    ],
    ids=["kind", "no folder", "no server", "model", "endpoint", "price", "bucket"],
)
@waits
async def test_settings_that_make_no_sense_are_refused(
    tmp_path: Path, settings: Settings, word: str
) -> None:
    with pytest.raises(ConfigError, match=word) as refused:
        async with home_in(tmp_path, Ear(), settings) as home, open_search_index(home):
            pass
    assert refused.value.hint


PROSE = "Yesterday Margaret Ellison walked home from the harbour, and Nobody Else saw the lamp. "
PEOPLE = json.dumps({"names": ["Margaret Ellison", "Zorblax Invented", "1234"]})


@pytest.mark.slow
@pytest.mark.req("SAF-02", "COST-01")
def test_a_model_finds_names_that_nothing_declares(tmp_path: Path) -> None:
    """Only where the kind is asked for; a page that may not be stored with it is not indexed."""

    def answer(question: dict[str, Any]) -> Scripted:
        return PEOPLE if form_of(question) == "names" else quality_told(9)

    asked: dict[str, int] = {}
    told: dict[str, tuple[str, object]] = {}
    kinds = "safety.pii_types=email,name"
    with Site({"/": page("harbour", text=PROSE * 5)}) as site, ModelServer(answer) as server:
        env = {"GEOMI_MODEL_ENDPOINT": server.endpoint, "GEOMI_MODEL": "tiny"}
        for name, rules in {
            "unasked": [],
            "flag": ["--set", kinds],
            "redact": ["--set", kinds, "--set", "safety.pii=redact"],
        }.items():
            folder = ["-o", str(tmp_path / name)]
            done = run("crawl", site.url("/"), *folder, *COMMAND_LOCAL, *rules, "--delay", "0")
            assert done.returncode == 0, done.stderr
            before = len(server.asked)
            assert run("enrich", "--once", *folder, env=env).returncode == 0
            asked[name] = sum(form_of(one) == "names" for one in server.asked[before:])
            (row,) = rows_in(tmp_path / name)
            told[name] = (row.reason, orjson.loads(row.analysis)["personal"])
        lines = json.loads(run("cost", "-o", str(tmp_path / "flag"), "--json").stdout)["lines"]
    assert asked == {"unasked": 0, "flag": 1, "redact": 1}
    assert told == {
        "unasked": ("accepted", []),
        "flag": ("accepted", [["name", 1]]),
        "redact": ("personal_data", [["name", 1]]),
    }
    assert {line["purpose"] for line in lines} >= {"names", "quality"}


@waits
async def rows_in(root: Path) -> list[DocumentRow]:
    """Return the documents of a data directory."""
    async with home_in(root, Ear()) as home:
        return await home.world.store.documents.list(DocumentFilter(), after="", limit=10)
