"""Entries of which processes have died: tried again, read apart, and left out."""

from __future__ import annotations

from pathlib import Path

import pytest

from geomi.adapters.compute.child import ChildCompute
from geomi.app import DataDirectory
from geomi.engine.visit import parsing
from geomi.engine.visit.identity import UrlIdentity
from geomi.model.entry import UrlEntry
from geomi.model.job import CrawlJob
from geomi.model.verdict import Outcome, State
from geomi.model.worker import ALONE_AFTER, POISONED_AFTER, WorkInHand, WorkKind
from geomi.url.parse import split
from tests.support.crawl import Ear, home_in, page, paths, plan, start_in, worker_in
from tests.support.server import Site
from tests.support.waiting import waits


async def note(home: DataDirectory, job: CrawlJob, url: str, *, deaths: int) -> bytes:
    """Let processes have died while they had a URL in hand; return its identity."""
    name = UrlIdentity(job.config).hash(split(url))
    work = WorkInHand(home.store.tenant, WorkKind.PAGE, name, url)
    for number in range(deaths):
        await home.store.suspects.note(work, owner=f"w-{number}", wall_s=home.world.clock.wall_s())
    return name


async def worked_off(home: DataDirectory, job: CrawlJob) -> dict[str, UrlEntry]:
    """Work on a job in this process; return its entries by their URLs."""
    await worker_in(home, job).run()
    entries = await home.store.census.entries(job.id, state=None, after=b"", limit=100)
    return {entry.url: entry for entry in entries}


@pytest.mark.parametrize("deaths", [0, 1, ALONE_AFTER, POISONED_AFTER - 1])
@waits
async def test_what_survives_is_kept_and_its_deaths_are_forgotten(
    tmp_path: Path, deaths: int
) -> None:
    with Site({"/": page("home")}) as site:
        async with home_in(tmp_path, Ear()) as home:
            job = await start_in(home, plan([site.url("/")]))
            name = await note(home, job, site.url("/"), deaths=deaths)
            ended = await worked_off(home, job)
            compute = home.world.compute
            assert isinstance(compute, ChildCompute)
            assert (compute.pid is not None) is (deaths >= ALONE_AFTER)
            assert await home.store.suspects.find(WorkKind.PAGE, name) is None
    assert ended[site.url("/")].outcome is Outcome.OK


@waits
async def test_what_three_processes_died_of_is_not_asked_for(tmp_path: Path) -> None:
    with Site({"/": page("home", "/deadly"), "/deadly": page("deadly")}) as site:
        async with home_in(tmp_path, Ear()) as home:
            job = await start_in(home, plan([site.url("/")]))
            name = await note(home, job, site.url("/deadly"), deaths=POISONED_AFTER)
            ended = (await worked_off(home, job))[site.url("/deadly")]
            left = await home.store.suspects.find(WorkKind.PAGE, name)
            assert left is not None
            assert left.deaths == POISONED_AFTER
            found = await home.store.jobs.get(job.id)
            assert found is not None
            assert (found.stats.poisoned, found.stats.settled) == (1, 2)
        assert paths(site.log) == ["/"]
    assert (ended.state, ended.outcome) == (State.FAILED, Outcome.POISONED)
    assert ended.detail == "3 processes died while they had it in hand; not asked again"


@waits
async def test_what_is_slow_as_well_as_deadly_is_poisoned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that nobody died of is only too complex."""
    monkeypatch.setattr(parsing, "PARSE_DEADLINE_S", 0.0001)
    large = page("large", text="words " * parsing.INLINE_BYTES)
    with Site({"/": page("home", "/large"), "/large": large}) as site:
        async with home_in(tmp_path, Ear()) as home:
            job = await start_in(home, plan([site.url("/")]))
            await note(home, job, site.url("/"), deaths=ALONE_AFTER)
            (seed,) = (await worked_off(home, job)).values()
            assert (seed.outcome, seed.state) == (Outcome.POISONED, State.FAILED)
            told = "2 processes died while they had it in hand, and then reading it took longer"
            assert seed.detail.startswith(told)
            again = await start_in(home, plan([site.url("/large")]))
            ended = await worked_off(home, again)
    assert ended[site.url("/large")].outcome is Outcome.TOO_COMPLEX
