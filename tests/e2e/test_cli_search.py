"""`geomi search`, `geomi enrich`, `geomi analyse` and `geomi preview`, as people call them."""

from __future__ import annotations

import json
import random
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.e2e.command import LOCAL, kill_at_random, run
from tests.support.server import Reply, Route, Seen, Site

SENTENCES = {
    "/": "Our workshop mends clocks of every age. We open at nine and close when the last customer "
    "has left, and in between we drink a good deal of tea.",
    "/winding": "A tower clock is wound by hand once a week. Turn the crank until the weight "
    "reaches the mark, and never let it run back by itself, because the pawl would break.",
    "/oil": "Oil the pivots twice a year with a drop no larger than a grain of rice. More oil "
    "attracts dust, and dust wears the brass down faster than any winter does.",
    "/ko": "괘종시계는 일주일에 한 번 손으로 감아야 합니다. 추가 표시선에 닿을 때까지 손잡이를 "
    "돌리고, 톱니가 부러지지 않도록 저절로 풀리게 두지 마십시오. 기름은 일 년에 두 번 칩니다.",
}


def _page(path: str, text: str) -> Reply:
    links = "".join(f'<a href="{other}">{other}</a> ' for other in SENTENCES)
    language = "ko" if path == "/ko" else "en"
    body = f"<main><h1>Clock {path}</h1><p>{text}</p></main><nav>{links}</nav>"
    return Reply(f"<html lang={language}><title>Clock {path}</title><body>{body}".encode())


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Site]]:
    """Crawl a small site in two languages."""
    folder = tmp_path_factory.mktemp("searched")
    with Site({path: _page(path, text) for path, text in SENTENCES.items()}) as site:
        ended = run("crawl", site.url("/"), "-o", str(folder), "--delay", "0", *LOCAL, *EVERY)
        assert ended.returncode == 0, ended.stderr
        yield folder, site


EVERY = ("--set", "analysis.quality_threshold=0")


def test_a_search_finds_words_and_shows_where(crawled: tuple[Path, Site]) -> None:
    folder, site = crawled
    told = json.loads(run("search", "winding the crank", "-o", str(folder), "--json").stdout)
    first = told["hits"][0]
    assert first["url"] == site.url("/winding")
    assert "crank" in first["snippet"] and len(first["snippet"]) <= 200
    marked = [first["snippet"][start:end] for start, end in first["marks"]]
    assert "crank" in marked
    assert told["searched"]["documents"] == 4 and told["is_whole"]
    shown = run("search", "drop of oil", "-o", str(folder), "-n", "1").stdout
    assert site.url("/oil") in shown and "pivots" in shown


@pytest.mark.req("G-24", "IDX-02")
def test_a_search_in_korean_and_filters(crawled: tuple[Path, Site]) -> None:
    folder, site = crawled

    def urls(*arguments: str) -> list[str]:
        ended = run("search", *arguments, "-o", str(folder), "--json")
        assert ended.returncode == 0, ended.stderr
        return [hit["url"] for hit in json.loads(ended.stdout)["hits"]]

    assert urls("괘종시계를 감는 법") == [site.url("/ko")]
    assert urls("clock", "--language", "ko") == [site.url("/ko")]
    assert site.url("/ko") not in urls("clock", "--language", "en")
    host = site.url("/").split("/")[2].partition(":")[0]
    assert len(urls("clock", "--site", host)) == len(urls("clock", "--site", site.url("/"))) == 4
    assert urls("clock", "--site", "elsewhere.test") == []
    assert urls("clock", "--collection", "other") == []
    assert urls("clock", "--since", "2100-01-01") == []
    assert urls('"grain of rice"') == [site.url("/oil")]


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ((" ",), "a query has 1 to 1,000 characters"),
        (("x" * 1001,), "this one 1,001"),
        (("clock", "--since", "yesterday"), "`yesterday` is not a date"),
        (("clock", "--type", "novel"), "'novel'"),
    ],
    ids=["empty", "too long", "no date", "no type"],
)
def test_what_cannot_be_searched_for(
    crawled: tuple[Path, Site], arguments: tuple[str, ...], word: str
) -> None:
    ended = run("search", *arguments, "-o", str(crawled[0]))
    assert ended.returncode == 2
    assert word in ended.stderr and "hint:" in ended.stderr


def test_an_analysis_of_a_page_of_a_file_and_of_a_preview(
    crawled: tuple[Path, Site], tmp_path: Path
) -> None:
    folder, site = crawled
    told = json.loads(run("analyse", site.url("/oil"), "-o", str(folder), "--json").stdout)
    assert told["classification"]["pageType"] and "thin_content" in told["quality"]["flags"]
    assert told["decision"]["engine"]["version"]
    file = tmp_path / "page.html"
    file.write_bytes(_page("/oil", SENTENCES["/oil"]).body)
    shown = run("analyse", str(file), *EVERY).stdout
    assert "indexed" in shown and "summary" in shown
    before = len(site.log)
    ended = run("preview", site.url("/oil"), "--json", "--allow-private")
    assert ended.returncode == 0, ended.stderr
    assert json.loads(ended.stdout)["summary"]["short"].startswith("Oil the pivots")
    assert len(site.log) > before
    missing = run("analyse", site.url("/nowhere"), "-o", str(folder))
    assert missing.returncode == 2 and "was not collected" in missing.stderr


def test_an_analysis_of_a_page_of_a_job_is_of_its_own_copy(tmp_path: Path) -> None:
    """A job that took personal data out gives nothing away that a later one kept."""
    text = "Ask mender@example.com about the clock, who mends it on the first day of the week. "
    with Site({"/": _page("/", text)}) as site:
        for rule in ("redact", "flag"):
            said = ("--delay", "0", "--set", f"safety.pii={rule}", *LOCAL, *EVERY)
            ended = run("crawl", site.url("/"), "-o", str(tmp_path), *said)
            assert ended.returncode == 0, ended.stderr
        jobs = sorted(path.name for path in (tmp_path / "jobs").iterdir())
        shown = {
            name: run("analyse", site.url("/"), "-o", str(tmp_path), "--json", "--job", name).stdout
            for name in (*jobs, "latest")
        }
        missing = run("analyse", site.url("/a"), "-o", str(tmp_path), "--job", jobs[0])
    assert [("mender@" in told) for told in shown.values()] == [False, True, True]
    assert json.loads(shown[jobs[0]])["summary"]["short"].startswith("Ask [redacted:email]")
    assert missing.returncode == 2 and f"was not collected by job {jobs[0]}" in missing.stderr


def test_a_file_that_is_not_there_is_no_url(tmp_path: Path) -> None:
    ended = run("analyse", "nothere.html", cwd=tmp_path)
    assert ended.returncode == 2 and "there is no file `nothere.html`" in ended.stderr


def test_other_rules_for_a_crawl_that_is_over(crawled: tuple[Path, Site], tmp_path: Path) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(crawled[0], folder)

    def left_out() -> int:
        told = json.loads(run("search", "clock", "-o", str(folder), "--json").stdout)
        return int(told["searched"]["left_out"])

    before = left_out()
    changed = run("enrich", "--once", "--set", "analysis.min_chars=100000", "-o", str(folder))
    assert changed.returncode == 0, changed.stderr
    assert (before, left_out()) == (0, 4)
    shown = run("search", "clock", "-o", str(folder)).stdout
    assert "nothing found in 0 documents; 4 pages are not indexed" in shown
    told = run("why", crawled[1].url("/oil"), "-o", str(folder)).stdout
    assert "analysis.min_chars is 100000" in told
    refused = run("enrich", "--set", "limits.max_depth=3", "-o", str(folder))
    assert refused.returncode == 2 and "`limits.max_depth` cannot be changed" in refused.stderr


@pytest.mark.req("FUT-18")
def test_two_sets_of_rules_compared(crawled: tuple[Path, Site], tmp_path: Path) -> None:
    folder, site = crawled
    for name, least in (("a", 0), ("b", 150)):
        (tmp_path / f"{name}.toml").write_text(
            f"[crawl]\nanalysis.quality_threshold = 0\nanalysis.min_chars = {least}\n"
        )
    files = [str(tmp_path / "a.toml"), str(tmp_path / "b.toml")]
    told = json.loads(run("analyse", "--compare", *files, "-o", str(folder), "--json").stdout)
    assert told["pages"] == 4
    assert told["changed"] == len(told["changes"]) > 0
    assert {change["second"]["reason"] for change in told["changes"]} == {"too_short"}
    assert site.url("/winding") not in [change["url"] for change in told["changes"]]


@pytest.mark.slow
def test_an_enricher_that_is_killed_again_and_again_loses_nothing(tmp_path: Path) -> None:
    rng = random.Random(6)
    routes = {
        f"/p{number}": _page("/", " ".join(rng.choices(SENTENCES["/oil"].split(), k=400)))
        for number in range(120)
    }
    links = "".join(f'<a href="{path}">x</a>' for path in routes)
    with Site({"/": Reply(f"<html><body>{links}".encode()), **routes}) as site:
        crawl = ("crawl", site.url("/"), "-o", str(tmp_path), "-n", "0", "--delay", "0")
        assert run(*crawl, *LOCAL, "--set", "analysis.min_chars=0", *EVERY).returncode == 0
    assert kill_at_random(tmp_path, "enrich", "--once", kills=8, rng=rng) > 0
    ended = run("enrich", "--once", "-o", str(tmp_path), timeout_s=60)
    assert ended.returncode == 0, ended.stderr
    with closing(sqlite3.connect(tmp_path / "geomi.db")) as db:
        collected = db.execute("SELECT COUNT(*) FROM captures").fetchone()[0]
        documents = db.execute("SELECT state, COUNT(*), SUM(chunks) FROM documents GROUP BY 1")
        by_state = {state: (many, chunks) for state, many, chunks in documents}
    assert sum(many for many, _ in by_state.values()) == collected == 121
    assert "failed" not in by_state
    told = json.loads(run("search", "pivots", "-o", str(tmp_path), "--json").stdout)
    documents, chunks = by_state["indexed"]
    left_out = collected - documents
    assert told["searched"] == {"documents": documents, "chunks": chunks, "left_out": left_out}
    assert told["is_whole"]


@pytest.mark.slow
def test_a_job_is_analysed_by_its_name(crawled: tuple[Path, Site]) -> None:
    folder = ("-o", str(crawled[0]))
    assert run("enrich", "--once", *folder).returncode == 0
    told = json.loads(run("analyse", "latest", *folder, "--json").stdout)
    assert (told["documents"], told["states"], told["reasons"]) == (
        4, {"indexed": 4}, {"accepted": 4},
    )  # fmt: skip
    assert sum(told["types"].values()) == 4 and 0 < told["quality"] <= 10
    shown = run("analyse", told["job"][-8:], *folder).stdout
    assert "states: indexed 4" in shown and f"4 pages of job {told['job']}" in shown
    missing = run("analyse", "nojob", *folder)
    assert missing.returncode == 2 and "no job is called `nojob`" in missing.stderr


class TestIndexing:
    """`geomi crawl --index`: pages are found without a command of their own."""

    @pytest.mark.slow
    def test_pages_are_found_as_soon_as_the_crawl_is_over(self, tmp_path: Path) -> None:
        folder = ("-o", str(tmp_path))
        with Site({path: _page(path, text) for path, text in SENTENCES.items()}) as site:
            begin = ("crawl", site.url("/"), *folder, "--delay", "0", *LOCAL, *EVERY, "--index")
            ended = run(*begin, "--json")
            assert ended.returncode == 0, ended.stderr
            events = [json.loads(line) for line in ended.stdout.splitlines()]
            assert sum(event.get("indexed", 0) for event in events) == 4
            found = run("search", "crank", "--as-is", *folder, "--json")
            assert json.loads(found.stdout)["hits"][0]["url"] == site.url("/winding")
            again = run(*begin, "--resume")
            assert again.returncode == 0, again.stderr

    @pytest.mark.slow
    def test_pages_are_found_while_it_goes_on(self, tmp_path: Path) -> None:
        """The last page is held back until the first can be found."""
        folder = ("-o", str(tmp_path))

        def last(_: Seen) -> Reply:
            for _try in range(200):
                told = run("search", "mends clocks", "--as-is", *folder, "--json").stdout
                if told and json.loads(told)["hits"]:
                    return Reply(b"<title>Last</title><p>It was found before this came.")
            return Reply(status=500)

        routes: dict[str, Route] = {"/": _page("/", SENTENCES["/"]), "/winding": last}
        with Site(routes) as site:
            rules = ("--delay", "0", *LOCAL, *EVERY, "--index", "--set", "http.read_timeout_s=100")
            longer = ("--set", "http.total_timeout_s=100")
            ended = run("crawl", site.url("/"), *folder, *rules, *longer, "--json")
            assert ended.returncode == 0, ended.stderr
        collected = [json.loads(line) for line in ended.stdout.splitlines()][-1]["collected"]
        assert collected == 2

    def test_what_it_cannot_go_with(self, tmp_path: Path) -> None:
        url, folder = "https://a.test/", ("-o", str(tmp_path))
        both = run("crawl", url, *folder, "--index", "--detach")
        assert both.returncode == 2 and "geomi enrich" in both.stderr
        kept_out = run("crawl", url, *folder, "--index", "--set", "analysis.index=false")
        assert kept_out.returncode == 2 and "leave out --index" in kept_out.stderr
