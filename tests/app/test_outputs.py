"""What a crawl leaves beside its records: outputs that grow, and outputs that need all of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from geomi.adapters.outlet import parquet
from geomi.app.use.outputs import write_output
from geomi.engine.worker.supervisor import Supervisor
from geomi.errors import ConfigError
from geomi.model.job import StopReason
from tests.support.crawl import Ear, crawl_in, crawl_site, home_in, page, plan, robots
from tests.support.server import Route, Site
from tests.support.waiting import waits

EVERY = "md,jsonl,warc,llms,llms-full,cdxj"
WHOLE = ("llms.txt", "warc/index.cdxj")

ROUTES: dict[str, Route] = {
    "/robots.txt": robots("User-agent: *", "Content-Signal: ai-train=no"),
    "/": page("home", "/docs/a", "/docs/b", "/copy"),
    "/docs/a": page("a", "/docs/c"),
    "/docs/b": page("b"),
    "/docs/c": page("c"),
    "/copy": page("home", "/docs/a", "/docs/b", "/copy"),
}


def urls_of(index: str) -> list[str]:
    """Return the URLs that a CDXJ index names."""
    return [json.loads(line.split(" ", 2)[2])["url"] for line in index.splitlines()]


def test_a_crawl_writes_what_it_was_asked_for(tmp_path: Path) -> None:
    with Site(ROUTES) as site:
        crawled = crawl_site(tmp_path, site.url(), format=EVERY)
        urls = [site.url(path) for path in ("/", "/copy", "/docs/a", "/docs/b", "/docs/c")]
        assert sorted(urls_of((tmp_path / "warc/index.cdxj").read_text())) == urls
        site_map = (tmp_path / "llms.txt").read_text("utf-8")
        assert [url for url in urls if f"]({url})" in site_map] == [
            url for url in urls if "copy" not in url
        ]
        assert "\n## Docs\n" in site_map
        text = (tmp_path / "llms-full.txt").read_text("utf-8")
        assert [url for url in urls if f"Source: {url}\nSignals: ai-train=no\n" in text] == [
            url for url in urls if "copy" not in url
        ]
        lines = (tmp_path / "warc/index.cdxj").read_bytes().splitlines()
        assert lines == sorted(lines)
        assert crawled.report.job.stats.collected == len(urls)


def test_nothing_is_written_that_was_not_asked_for(tmp_path: Path) -> None:
    with Site(ROUTES) as site:
        crawl_site(tmp_path, site.url(), format="jsonl")
    (job,) = (tmp_path / "jobs").iterdir()
    assert sorted(path.name for path in job.iterdir()) == ["pages.jsonl", "warc"]
    assert not [path for path in (tmp_path / "warc").iterdir() if path.suffix == ".cdxj"]


@waits
async def test_outputs_of_an_interrupted_job_are_whole_once_it_is_over(tmp_path: Path) -> None:
    """They come when the job is over, from the pages of every run."""
    with Site(ROUTES) as site:
        seed = site.url()
        ear = Ear()
        async with home_in(tmp_path, ear) as home:
            planned = plan([seed], format=EVERY, max_pages=2)
            first = await crawl_in(home, ear, planned, _interrupt)
            assert first.report.stop is StopReason.INTERRUPTED
            assert not (tmp_path / "jobs" / first.report.job.id / "llms.txt").exists()
            again = plan([seed], format=EVERY, resume=True, max_pages=2)
            cut = await crawl_in(home, ear, again)
            assert (tmp_path / "llms.txt").read_text("utf-8").count("](") == 2
            await crawl_in(home, ear, plan([seed], format=EVERY, resume=True, max_pages=0))
            job = cut.report.job.id
            for name in ("llms", "cdxj", "llms-full"):
                made = tmp_path / f"made.{name}"
                with made.open("wb") as file:
                    await write_output(home, job, name, file)
    for name, path in (("llms", WHOLE[0]), ("cdxj", WHOLE[1]), ("llms-full", "llms-full.txt")):
        assert (tmp_path / f"made.{name}").read_bytes() == (tmp_path / path).read_bytes()
    assert (tmp_path / "llms.txt").read_text("utf-8").count("](") == 4


def _interrupt(supervisor: Supervisor) -> None:
    supervisor.interrupt()


def test_pages_come_as_columns(tmp_path: Path) -> None:
    read = pytest.importorskip("pyarrow.parquet", reason="the extra `parquet` is not installed")
    with Site(ROUTES) as site:
        crawled = crawl_site(tmp_path, site.url(), format="jsonl,parquet")
    rows: list[dict[str, Any]] = read.read_table(tmp_path / "pages.parquet").to_pylist()
    assert [row["url"] for row in rows] == crawled.urls
    assert [row["markdown"] for row in rows] == [page["markdown"] for page in crawled.records]
    assert {tuple(row["signals"]) for row in rows} == {(("ai-train", "no"),)}


@pytest.mark.parametrize(
    ("formats", "message", "hint"),
    [
        ("jsonl,parquet", "parquet needs pyarrow", "geomi-crawler[parquet]"),
        ("jsonl,cdxj", "cdxj indexes the responses", "-f warc,cdxj"),
    ],
)
def test_what_could_not_be_made_is_refused_first(
    monkeypatch: pytest.MonkeyPatch, formats: str, message: str, hint: str
) -> None:
    monkeypatch.setattr(parquet, "find_spec", lambda _: None)
    with pytest.raises(ConfigError, match=message) as caught:
        plan(["https://a.test/"], format=formats)
    assert hint in caught.value.hint
