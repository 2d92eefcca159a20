"""Plan a crawl and run it, from its plan to its report: the job, its workers, its outputs.

`make_plan` refuses what could never work before anything is opened. `crawl` starts a job, or
resumes one, and runs it to its end. `start_detached` leaves it to the workers of the store.
`draft_job` and `start_drafted` are the two halves of a start that a service keeps apart. One worker
runs in this process; several run in processes of their own, which the library starts too, so that
their order stands here. A job that this process could not fetch or keep as it was begun is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from geomi import __version__
from geomi.adapters.machine.presence import PresenceLock, is_held
from geomi.adapters.machine.processes import (
    LocalWorkerHandle,
    ProcessWorkerHandle,
    StartedProcess,
    start_worker,
)
from geomi.adapters.outlet import parquet
from geomi.adapters.outlet.job_folder import job_outlets
from geomi.app.directory import DataDirectory, directory_id
from geomi.app.external_docs import fallback_reason, refuse_unserved, world_for_job
from geomi.app.recovery import check_sent, is_dead, note_deaths, recover
from geomi.app.use import outputs, providers
from geomi.app.use.domain_lists import kept_fresh, refresh_due
from geomi.engine import jobs
from geomi.engine.inspect.alarms import CHUNK_RULES, judge_job, report_run
from geomi.engine.regions import refused
from geomi.engine.visit.preview_text import erase_expired_texts
from geomi.engine.visit.privacy import keeps_raw
from geomi.engine.visit.rules import JobRules, read_job_rules
from geomi.engine.worker.loop import Worker
from geomi.engine.worker.publisher import Outlet, Publisher
from geomi.engine.worker.supervisor import CrawlReport, Supervisor, WorkerHandle
from geomi.engine.world import World
from geomi.errors import BatchFailed, ConfigError, NothingFetched, StoreFull
from geomi.extract.dom import is_selector
from geomi.fetch.request import check_requests
from geomi.frontier.region import RegionMap
from geomi.model.config import CrawlConfig, Extraction
from geomi.model.event import Warned
from geomi.model.job import Commission, CrawlJob, JobKind, JobState, StopReason
from geomi.model.site import Channel
from geomi.model.verdict import Outcome
from geomi.model.worker import WorkKind
from geomi.settings.compliance import (
    allowed_network,
    archive_place,
    refuse_disguise,
    refuse_sign_in,
    same_archive,
    same_directory,
    same_network,
    weaknesses,
)
from geomi.settings.layers import Layer, Resolved, resolve_resumed
from geomi.settings.options import RunOptions, Settings
from geomi.text.identifiers import new_ulid
from geomi.url.parse import Url

NO_YEAR = 9999
WORKER_PROGRAM = "geomi.processes.crawl"
# What helps where not even a start URL could be reached.
REMEDIES: dict[str, str] = {
    Outcome.DNS_ERROR: "check the name, or give its address with --resolve HOST:PORT:ADDRESS",
    Outcome.TLS_ERROR: "if you trust the signer of its certificate, add --ca-file PEM",
    Outcome.CONNECT_ERROR: "check the port, and whether it is http:// or https://",
}


@dataclass(frozen=True, slots=True)
class Plan:
    """The order of a crawl; `flags` change the configuration of a resumed job.

    `make_plan` makes one that can work. From `provider` on the fields are those of the job.
    """

    seeds: tuple[Url, ...]
    resolved: Resolved
    flags: Layer
    resume: bool = False
    provider: str = ""
    channel: Channel = Channel.CRAWL
    channel_why: str = ""
    library: str = ""
    library_name: str = ""


def make_plan(
    urls: Sequence[str],
    resolved: Resolved,
    flags: Layer,
    *,
    resume: bool = False,
    provider: str = "",
) -> Plan:
    """Read a crawl's start URLs and refuse what can never work, before anything is opened."""
    seeds = jobs.read_seeds(urls)
    check_identity(resolved.config)
    refuse_sign_in(resolved.config, resolved.run.profile)
    check_selectors(resolved.config.extract)
    check_formats(resolved.run.format)
    check_storing(resolved.config)
    RegionMap(resolved.config.regions)
    hrefs = [seed.href for seed in seeds]
    # Any year will do: no start URL is a calendar without an end.
    rules = JobRules(resolved.config, hrefs, now_year=NO_YEAR)
    for seed in seeds:
        jobs.admitted(rules, seed)
    return Plan(seeds, resolved, flags, resume, provider)


def check_formats(formats: Sequence[str]) -> None:
    """Raise for an output that could not be made when the crawl is over."""
    if "parquet" in formats:
        parquet.require()
    if "cdxj" in formats and "warc" not in formats:
        raise ConfigError("cdxj indexes the responses, which only warc stores", hint="-f warc,cdxj")


def check_storing(config: CrawlConfig) -> None:
    """Raise where responses are to be kept of pages of which only a preview may be."""
    if config.store.is_preview and config.store.raw:
        raise ConfigError(
            "store.text = preview stores no responses, but store.raw = true demands them",
            hint="leave out one of them",
        )


def check_selectors(rules: Extraction) -> None:
    """Raise for a selector that cannot be read; it would silently match nothing."""
    named = [("extract.content", rules.content)] if rules.content else []
    named += [("extract.remove", selector) for selector in rules.remove]
    for name, selector in named:
        if not is_selector(selector):
            raise ConfigError(f"`{name}`: `{selector}` is not a CSS selector")


def check_identity(config: CrawlConfig) -> None:
    """Raise for a name that is not ours to use, or that no request can carry."""
    refuse_disguise(config)
    check_requests(config, version=__version__)


@dataclass(frozen=True, slots=True)
class JobToRun:
    """A job that may be worked on now, with its rules; `is_resumed` where it had begun before."""

    job: CrawlJob
    rules: JobRules
    is_resumed: bool = False


async def crawl(
    home: DataDirectory,
    plan: Plan,
    *,
    extra: Sequence[Outlet] = (),
    standby: Sequence[StartedProcess] = (),
    on_start: Callable[[Supervisor], None] = lambda _: None,
    is_judged: bool = True,
) -> CrawlReport:
    """Start or resume a job, and run it to its end.

    Args:
        standby: worker processes that wait for orders; more are started if needed.
        is_judged: not by a caller that calls `judge_run` itself, when its pages are indexed.
    """
    await recover(home)
    await erase_expired_texts(home.world)
    await home.store.suspects.forget(wall_s=home.world.clock.wall_s())
    await refresh_due(home)
    found, run = await _job(home, plan), plan.resolved.run
    job = found.job
    if job.state.is_final:
        await _publish(home, job, run, extra)
        return CrawlReport(job, job.stop or StopReason.DONE, 0.0)
    report = await run_job(home, found, run, extra=extra, standby=standby, on_start=on_start)
    return await judge_run(home, report) if is_judged else report


async def run_job(
    home: DataDirectory,
    found: JobToRun,
    run: RunOptions,
    *,
    extra: Sequence[Outlet] = (),
    standby: Sequence[StartedProcess] = (),
    on_start: Callable[[Supervisor], None] = lambda _: None,
) -> CrawlReport:
    """Run a job that is there to its end.

    Args:
        run: which outputs are written, and by how many workers.
    """
    world, job = home.world, found.job
    await _warn(world, job)
    workers = min(run.workers, job.config.politeness.concurrency)
    hire = await _hire(home, found, workers, standby)
    outlets = [*_outlets(home, job, run), *extra]
    supervisor = Supervisor(
        world,
        home.heart,
        job,
        hire,
        outlets,
        sent=partial(check_sent, home, job.id),
        explain=partial(_explain, home, job.id),
    )
    on_start(supervisor)
    with PresenceLock(home.root, f"job-{job.id}"):  # one writer of its outputs
        async with kept_fresh(home):
            report = await supervisor.run(workers=workers, resumed=found.is_resumed)
        if report.job.state is JobState.COMPLETED:
            await outputs.write_whole_outputs(home, report.job, run.format)
    return report


async def judge_run(home: DataDirectory, report: CrawlReport) -> CrawlReport:
    """Report the changes of a provider's run, and warn about figures out of bounds.

    A service does both for its own jobs.
    """
    if report.job.state is not JobState.COMPLETED or report.job.collection:
        return report
    world = home.world
    job = await jobs.find(world, report.job.id)
    if job.provider and not await fallback_reason(
        world, job
    ):  # else a crawl follows, which reports
        await report_run(world, job, (await providers.find(world, job.provider)).name)
    judgement = await judge_job(world, job)
    for alarm in judgement.alarms:
        if alarm.rule not in CHUNK_RULES:  # whoever cuts pages into chunks tells of these
            world.sink.emit(Warned(job.id, f"alarm {alarm.rule}: {alarm.message}"))
    return replace(report, judgement=judgement)


def refuse_failure(report: CrawlReport, settings: Settings) -> None:
    """Raise for a crawl that reached no page, that failed, or that found the disk full."""
    if report.stop is StopReason.DISK_FULL:
        raise StoreFull(
            f"less than {settings.min_free_bytes:,} bytes are free; stopped in time",
            hint="make room and go on with --resume (GEOMI_MIN_FREE_BYTES sets the limit)",
        )
    refuse_unserved_region(report)
    if report.nothing_reached:
        outcome = report.nothing_reached.partition(": ")[2].partition(":")[0]
        raise NothingFetched(report.nothing_reached, hint=REMEDIES.get(outcome, ""))
    if report.job.state is JobState.FAILED:
        raise BatchFailed(
            f"the crawl failed: {report.job.error}",
            hint="`geomi status` lists the URLs that failed",
        )


def refuse_unserved_region(report: CrawlReport) -> None:
    """Raise for a crawl whose last URLs need workers of a region where none is."""
    if report.stop is StopReason.NO_REGION:
        raise refused(report.job.error)


def _outlets(home: DataDirectory, job: CrawlJob, run: RunOptions) -> Sequence[Outlet]:
    """Make a job's outputs; the top of the directory leads to those of whole crawls."""
    return job_outlets(home.root, job.id, run.format, is_linked=job.kind is JobKind.CRAWL)


async def _publish(
    home: DataDirectory, job: CrawlJob, run: RunOptions, extra: Sequence[Outlet]
) -> None:
    """Write what is missing of a job's outputs: workers elsewhere may have ended it."""
    publisher = Publisher(home.world, job.id, [*_outlets(home, job, run), *extra])
    publisher.end(is_whole=False)
    with PresenceLock(home.root, f"job-{job.id}"):
        await publisher.run()
        if job.state is JobState.COMPLETED:
            await outputs.write_whole_outputs(home, job, run.format)


async def start_detached(home: DataDirectory, plan: Plan) -> CrawlJob:
    """Start or resume a job, and let the workers of the store crawl it."""
    await recover(home)
    job = (await _job(home, plan)).job
    await _warn(home.world, job)
    return job


async def is_running(home: DataDirectory, job: CrawlJob) -> bool:
    """Return whether a process works on a job, of this directory or elsewhere."""
    if is_held(home.root, f"job-{job.id}"):
        return True
    cards = await home.world.store.workers.list()
    return any(job.id in card.jobs and not is_dead(home, card) for card in cards)


def worker_for(home: DataDirectory, job: CrawlJob, rules: JobRules, *, workers: int) -> Worker:
    """Make one of a job's workers; all together have no more requests in flight than asked for."""
    return Worker(
        world_for_job(home.world, job, home.docs_source, home.docs_api),
        job,
        rules,
        concurrency=max(1, job.config.politeness.concurrency // workers),
    )


@dataclass(frozen=True, slots=True)
class WorkerOrder:
    """The order of a worker process: the job's place, the worker's name, and their number."""

    root: Path
    settings: Settings
    job: str
    owner: str
    workers: int


async def _job(home: DataDirectory, plan: Plan) -> JobToRun:
    """Start or resume a job."""
    found = await jobs.newest(home.world, plan.seeds) if plan.resume else None
    if found is not None:
        return await _resumed(home, plan, found)
    rules = await rules_of(home, plan)
    job = await draft_job(home, plan, rules)
    return JobToRun(await jobs.begin_drafted(home.world, job, rules), rules)


async def _resumed(home: DataDirectory, plan: Plan, found: CrawlJob) -> JobToRun:
    world = home.world
    await providers.refuse_crawl(world, found.provider)
    refuse_unservable(home, found)
    await check_sent(home, found.id)  # what was lost waits again
    found = await jobs.find(world, found.id)  # with the counters of what is left
    resumed = resolve_resumed(plan.flags, found.config, found.profile)
    config = resumed.config
    check_identity(config)
    refuse_sign_in(config, found.profile)
    check_selectors(config.extract)
    check_storing(config)
    RegionMap(config.regions)
    rules = await read_job_rules(world, config, found.seeds)
    found = replace(found, origins=_new_origins(found, plan, resumed))
    return JobToRun(await jobs.reopen(world, found, rules), rules, is_resumed=True)


def _new_origins(found: CrawlJob, plan: Plan, resumed: Resolved) -> tuple[tuple[str, str], ...]:
    """Return the origins of a job of which some settings were given anew."""
    origins, given = dict(found.origins), dict(plan.resolved.origins)
    for key, _ in resumed.origins:
        origins.pop(key, None)
        if key in given:
            origins[key] = given[key]
    return tuple(sorted(origins.items()))


async def rules_of(home: DataDirectory, plan: Plan) -> JobRules:
    """Compile the rules of a planned job; responses are kept for the output that asks for them."""
    config = plan.resolved.config
    if "warc" not in plan.resolved.run.format:
        config = replace(config, store=replace(config.store, raw=False))
    return await read_job_rules(home.world, config, [seed.href for seed in plan.seeds])


async def draft_job(
    home: DataDirectory,
    plan: Plan,
    rules: JobRules,
    *,
    collection: str = "",
    job_id: str = "",
) -> CrawlJob:
    """Create the job of a plan, which waits for its turn.

    Args:
        collection: where a service puts its documents.
        job_id: its name, where it was given before.
    """
    await providers.refuse_crawl(home.world, plan.provider)
    commission = Commission(
        home.store.tenant,
        origins=plan.resolved.origins,
        provider=plan.provider,
        collection=collection,
        id=job_id,
        channel=plan.channel,
        channel_why=plan.channel_why,
        library=plan.library,
        library_name=plan.library_name,
        profile=plan.resolved.run.profile,
        network=allowed_network(home.settings),
        archive=archive_place(home.settings),
        directory=directory_id(home.root, home.settings),
    )
    return await jobs.draft(home.world, plan.seeds, rules, commission)


async def start_drafted(home: DataDirectory, job: CrawlJob) -> CrawlJob:
    """Let a job that was drafted be worked on."""
    rules = await read_job_rules(home.world, job.config, job.seeds)
    return await jobs.begin_drafted(home.world, job, rules)


def refuse_unservable(home: DataDirectory, job: CrawlJob) -> None:
    """Refuse a job that this process could not fetch, or not keep, as it was begun."""
    same_network(job, home.settings)
    same_archive(job, home.settings)
    same_directory(job, directory_id(home.root, home.settings))
    refuse_unserved(job, home.docs_source)


async def _warn(world: World, job: CrawlJob) -> None:
    """Warn about a job's weak settings, each time it starts or resumes."""
    is_ready = job.channel.is_source  # of a site nothing is asked then, a robots.txt neither
    for message in () if is_ready else weaknesses(job.config):
        world.sink.emit(Warned(job.id, message, "the default profile keeps the rule"))
    if job.config.safety.removes and keeps_raw(job.config):  # C-47
        message = "geomi stores responses as they came, with their personal data (store.raw)"
        world.sink.emit(
            Warned(job.id, message, "without store.raw geomi stores only the redacted text")
        )
    for message, hint in await providers.provider_warnings(world, job.provider, is_ready=is_ready):
        world.sink.emit(Warned(job.id, message, hint))


async def _explain(home: DataDirectory, job: str, owner: str) -> bool:
    """Note what a dead worker of a job had in hand, and say whether that is known."""
    return bool(await note_deaths(home, [owner], job=job))


async def _hire(
    home: DataDirectory, found: JobToRun, workers: int, standby: Sequence[StartedProcess]
) -> Callable[[], WorkerHandle]:
    """Return what fills one worker's place: this process alone, or one of several.

    A single worker is a process of its own, too, where a page has killed one: so the command
    outlives the next death. Only this process has the markdown rules of its caller.
    """
    has_suspects = bool(await home.store.suspects.list(WorkKind.PAGE, limit=1))
    if workers == 1 and (home.world.markdown_rules or not has_suspects):
        return partial(_local_worker, home, found)
    waiting = iter(standby)

    def hire() -> WorkerHandle:
        owner = f"w-{new_ulid(home.world.clock.wall_s(), home.world.rng)}"
        order = WorkerOrder(home.root.resolve(), home.settings, found.job.id, owner, workers)
        started = next(waiting, None) or start_worker(WORKER_PROGRAM)
        answer_s = home.settings.answer_s
        return ProcessWorkerHandle(owner, started, order, home.world.sink, answer_s=answer_s)

    return hire


def _local_worker(home: DataDirectory, found: JobToRun) -> WorkerHandle:
    worker = worker_for(home, found.job, found.rules, workers=1)
    return LocalWorkerHandle(home.world.owner, worker)
