"""A recrawl from its wish to its report: the pages that are worth it, their job, what changed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from geomi.adapters.machine.processes import StartedProcess
from geomi.app import registry
from geomi.app.home import Home
from geomi.app.plan import check_formats, check_identity
from geomi.app.recover import recover, sent
from geomi.app.run import serves, work_on
from geomi.engine import jobs
from geomi.engine import recrawl as sweeper
from geomi.engine.recrawl import RecrawlRequest
from geomi.engine.worker.supervisor import CrawlReport, Supervisor
from geomi.model.job import CrawlJob
from geomi.recrawl.due import RevisitCandidate
from geomi.recrawl.report import Changes
from geomi.settings.options import RunOptions


@dataclass(frozen=True, slots=True)
class Recrawled:
    """How a recrawl ended, and what it found."""

    report: CrawlReport
    changes: Changes


async def look_again(
    home: Home, job: str, wish: RecrawlRequest
) -> tuple[CrawlJob, list[RevisitCandidate]]:
    """Return the crawl of a job, and what a recrawl of it would ask for now."""
    crawl = await sweeper.first_job(home.world, job)
    return crawl, await sweeper.choose(home.world, crawl, wish)


async def recrawl(
    home: Home,
    job: str,
    wish: RecrawlRequest,
    run: RunOptions,
    *,
    standby: Sequence[StartedProcess] = (),
    on_start: Callable[[Supervisor], None] = lambda _: None,
) -> Recrawled | None:
    """Visit a crawl again, to the end; None where no page is worth it now."""
    world = home.world
    check_formats(run.format)
    await recover(home)
    crawl = await sweeper.first_job(world, job)
    await registry.refuse_crawl(world, crawl.provider)
    serves(home, crawl)
    check_identity(crawl.config)
    begun = await sweeper.begin(world, crawl, wish)
    if begun is None:
        return None
    again, is_old = begun
    if is_old:
        await sent(home, again.id)  # what the archive has lost waits again
    report = await work_on(home, again, run, resumed=is_old, standby=standby, on_start=on_start)
    ended = await jobs.find(world, again.id)
    return Recrawled(report, await sweeper.changes(world, ended))
