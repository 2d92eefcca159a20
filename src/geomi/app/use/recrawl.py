"""Visit again the pages of a crawl that are worth a visit, and report what changed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from geomi.adapters.machine.processes import StartedProcess
from geomi.app.directory import DataDirectory
from geomi.app.recovery import check_sent, recover
from geomi.app.use import providers
from geomi.app.use.crawl import (
    JobToRun,
    check_formats,
    check_identity,
    judge_run,
    refuse_unservable,
    run_job,
)
from geomi.app.use.domain_lists import refresh_due
from geomi.engine import jobs
from geomi.engine import recrawl as sweeper
from geomi.engine.recrawl import RecrawlRequest
from geomi.engine.visit.rules import read_job_rules
from geomi.engine.worker.supervisor import CrawlReport, Supervisor
from geomi.model.job import CrawlJob
from geomi.recrawl.due import RevisitCandidate
from geomi.recrawl.report import Changes
from geomi.settings.options import RunOptions


@dataclass(frozen=True, slots=True)
class RecrawlResult:
    """How a recrawl ended, and what it found."""

    report: CrawlReport
    changes: Changes


async def preview_recrawl(
    home: DataDirectory, job: str, wish: RecrawlRequest
) -> tuple[CrawlJob, list[RevisitCandidate]]:
    """Return the crawl of a job, and what a recrawl of it would ask for now."""
    crawl = await sweeper.first_job(home.world, job)
    return crawl, await sweeper.choose(home.world, crawl, wish)


async def recrawl(
    home: DataDirectory,
    job: str,
    wish: RecrawlRequest,
    run: RunOptions,
    *,
    standby: Sequence[StartedProcess] = (),
    on_start: Callable[[Supervisor], None] = lambda _: None,
) -> RecrawlResult | None:
    """Visit a crawl again, to the end; None where no page is worth it now."""
    world = home.world
    check_formats(run.format)
    await recover(home)
    await refresh_due(home)
    crawl = await sweeper.first_job(world, job)
    await providers.refuse_crawl(world, crawl.provider)
    refuse_unservable(home, crawl)
    check_identity(crawl.config)
    begun = await sweeper.begin(world, crawl, wish)
    if begun is None:
        return None
    again, is_old = begun
    if is_old:
        await check_sent(home, again.id)  # what the archive has lost waits again
    rules = await read_job_rules(world, again.config, again.seeds)
    found = JobToRun(again, rules, is_resumed=is_old)
    report = await run_job(home, found, run, standby=standby, on_start=on_start)
    report = await judge_run(home, report)
    ended = await jobs.find(world, again.id)
    return RecrawlResult(report, await sweeper.changes(world, ended))
