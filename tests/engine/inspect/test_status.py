"""How a job stands: counted over its entries, within limits."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import geomi
from geomi.adapters.telemetry.fan_out import EventFanOut
from geomi.app import open_directory
from geomi.engine.inspect import status as room
from geomi.engine.inspect.export import records, segment_ends
from geomi.engine.inspect.status import Status, status
from geomi.engine.jobs import find
from geomi.model.verdict import Outcome, State
from geomi.settings.options import Settings
from tests.support.server import Reply, Site
from tests.support.waiting import waits

LINKS = ("/a", "/b", "/missing", "/gone", "/login", "http://elsewhere.test/")


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("status")
    items = "".join(f'<a href="{link}">{link}</a> ' for link in LINKS)
    routes = {
        "/": Reply(f"<title>Home</title><p>Links: {items}".encode()),
        "/a": Reply(b"<title>A</title><p>The first page of two."),
        "/b": Reply(b"<title>B</title><p>And here another one."),
    }
    with Site(routes) as site:
        assert (
            len(list(geomi.crawl(site.url("/"), output=folder, allow_private=True, delay=0))) == 3
        )
    yield folder


@waits
async def look(folder: Path) -> Status:
    async with open_directory(folder, Settings(), lambda _: EventFanOut(), create=False) as home:
        return await status(home.world, await find(home.world, "latest"))


@pytest.mark.parametrize("per_read", [1, 2, 5000])
@pytest.mark.req("FRN-16")
def test_everything_is_counted_once_however_it_is_read(
    crawled: Path, monkeypatch: pytest.MonkeyPatch, per_read: int
) -> None:
    monkeypatch.setattr(room, "ENTRIES_PER_READ", per_read)
    found = look(crawled)
    assert found.is_whole
    assert found.states == {State.COMPLETED: 3, State.FAILED: 2}
    assert found.outcomes == {"ok": 3, "gone": 2}
    assert list(found.hosts.values()) == [{State.COMPLETED: 3, State.FAILED: 2}]
    assert sorted(problem.url.rpartition("/")[2] for problem in found.problems) == [
        "gone",
        "missing",
    ]
    assert {problem.outcome for problem in found.problems} == {Outcome.GONE}
    assert {rule: count for rule, (count, _) in found.exclusions.items()} == {
        "block.login": 1,
        "scope.host": 1,
    }
    assert found.next_in_s is None


@pytest.mark.parametrize(("limit", "is_whole"), [(5, True), (4, False)])
def test_a_job_of_more_urls_than_the_limit_is_told_without_them(
    crawled: Path, monkeypatch: pytest.MonkeyPatch, limit: int, is_whole: bool
) -> None:
    monkeypatch.setattr(room, "MAX_ENTRIES", limit)
    found = look(crawled)
    assert found.is_whole is is_whole
    assert bool(found.hosts) is is_whole
    assert found.states == {State.COMPLETED: 3, State.FAILED: 2}


def test_problems_past_the_limit_are_only_counted(
    crawled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room, "MAX_PROBLEMS", 1)
    found = look(crawled)
    assert len(found.problems) == 1
    assert found.outcomes["gone"] == 2


@waits
async def test_records_and_segments_are_read_back(crawled: Path) -> None:
    async with open_directory(crawled, Settings(), lambda _: EventFanOut(), create=False) as home:
        job = (await find(home.world, "latest")).id
        lines = [line async for line in records(home.world, job)]
        ends = await segment_ends(home.world.store.pages, job)
    assert b"".join(line + b"\n" for line in lines) == (crawled / "pages.jsonl").read_bytes()
    sizes = {name: (crawled / name).stat().st_size for name in ends}
    assert ends == sizes
