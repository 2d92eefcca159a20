"""The composition root: settings in, a running geomi out. Only it knows every adapter."""

from __future__ import annotations

import random
import shutil
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from geomi import __version__
from geomi.adapters.blob.dir import DirectoryArchive
from geomi.adapters.clock import open_clock
from geomi.adapters.compute.child import ChildCompute
from geomi.adapters.crew import LocalHand, ProcessHand, Started, start_worker
from geomi.adapters.http.client import HttpClient
from geomi.adapters.http.egress import Egress
from geomi.adapters.http.rules import (
    EgressRules,
    Proxies,
    parse_no_proxy,
    parse_override,
    parse_proxy,
)
from geomi.adapters.outlet.folder import job_outlets
from geomi.adapters.presence import Presence, dead_owners, forget
from geomi.adapters.sqlite import SqliteStore, open_sqlite
from geomi.admit.rules import Admission
from geomi.engine import jobs
from geomi.engine.crawl import Worker
from geomi.engine.jobs import read_seeds
from geomi.engine.links import LinkGate
from geomi.engine.page import Road
from geomi.engine.publish import Outlet
from geomi.engine.requests import check_requests
from geomi.engine.supervise import Hand, Report, Supervisor
from geomi.engine.world import World
from geomi.errors import StoreError
from geomi.model.config import CrawlConfig
from geomi.model.event import Warned
from geomi.model.job import CrawlJob, StopReason
from geomi.ports.clock import Clock
from geomi.ports.sink import EventSink
from geomi.settings.layers import Layer, Resolved, resolve
from geomi.settings.network import network, same_network
from geomi.settings.options import Settings
from geomi.text.ulid import new_ulid
from geomi.url.parse import Url

TENANT = "local"  # the embedded command line's own tenant; it has no quota
DATABASE = "geomi.db"
WORKER_PROGRAM = "geomi.worker"
NO_YEAR = 9999


@dataclass(frozen=True, slots=True)
class Home:
    """An open data directory and the world around it."""

    root: Path
    settings: Settings
    store: SqliteStore
    archive: DirectoryArchive
    world: World


@dataclass(frozen=True, slots=True)
class Plan:
    """A crawl as it was asked for; `flags` are what a resumed job's configuration is changed by.

    `make_plan` makes one that can work.
    """

    seeds: tuple[Url, ...]
    resolved: Resolved
    flags: Layer
    resume: bool = False


def make_plan(
    urls: Sequence[str], resolved: Resolved, flags: Layer, *, resume: bool = False
) -> Plan:
    """Read a crawl's start URLs and refuse what can never work, before anything is opened."""
    seeds = read_seeds(urls)
    check_requests(resolved.config, version=__version__)
    hrefs = [seed.href for seed in seeds]
    # Any year will do: no start URL is a calendar without an end.
    gate = LinkGate(resolved.config, Admission(resolved.config, hrefs, now_year=NO_YEAR))
    for seed in seeds:
        jobs.admitted(gate, seed)
    return Plan(seeds, resolved, flags, resume)


def egress_rules(settings: Settings) -> EgressRules:
    """Read what the gate has to know; nonsense is refused before anything is opened."""
    return EgressRules(
        allow_private=settings.allow_private,
        overrides=tuple(parse_override(text) for text in settings.resolve),
        ca_file=Path(settings.ca_file) if settings.ca_file else None,
        proxies=Proxies(
            http=parse_proxy(settings.http_proxy) if settings.http_proxy else None,
            https=parse_proxy(settings.https_proxy) if settings.https_proxy else None,
            no_proxy=parse_no_proxy(settings.no_proxy),
        ),
    )


@asynccontextmanager
async def open_home(
    root: Path,
    settings: Settings,
    listen: Callable[[Clock], EventSink],
    *,
    owner: str = "",
    create: bool = True,
) -> AsyncIterator[Home]:
    """Open a data directory: its store, its archive, the network behind the gate.

    Args:
        listen: makes the listener of its events, given its clock.
    """
    if not create and not (root / DATABASE).is_file():
        raise StoreError(f"`{root}` holds no geomi data", hint="give the directory with -o DIR")
    rules = egress_rules(settings)
    rng = random.Random()
    _make_folder(root)
    with closing(open_sqlite(root / DATABASE, tenant=TENANT)) as store:
        clock = open_clock(store)
        owner = owner or f"w-{new_ulid(clock.wall_s(), rng)}"
        archive = DirectoryArchive(root, worker=owner, software=f"geomi/{__version__}")
        egress = Egress(rules, clock)
        client = HttpClient(egress, clock)
        compute = ChildCompute()
        world = World(
            clock=clock,
            fetcher=client,
            resolver=egress,
            frontier=store.frontier,
            census=store.census,
            jobs=store.jobs,
            pages=store.pages,
            robots=store.robots,
            archive=archive,
            compute=compute,
            sink=listen(clock),
            rng=rng,
            version=__version__,
            owner=owner,
        )
        try:
            with Presence(root, owner):  # one for all crawls of this process
                yield Home(root, settings, store, archive, world)
        finally:
            await client.aclose()
            await compute.aclose()
            await archive.aclose()
            egress.close()


async def crawl(
    home: Home,
    plan: Plan,
    *,
    extra: Sequence[Outlet] = (),
    standby: Sequence[Started] = (),
    on_start: Callable[[Supervisor], None] = lambda _: None,
) -> Report:
    """Start a job, or go on with one, and run it to its end.

    Args:
        standby: worker processes that wait for orders; more are started where these do not suffice.
    """
    world = home.world
    await recover(home)
    job, resumed = await _job(home, plan)
    if job.state.is_final:
        return Report(job, job.stop or StopReason.DONE, 0.0)
    outlets = [*job_outlets(home.root, job.id, plan.resolved.run.format), *extra]
    workers = plan.resolved.run.workers
    supervisor = Supervisor(world, job, _hire(home, job, workers, standby), outlets)
    on_start(supervisor)
    with Presence(home.root, f"job-{job.id}"):  # one writer of its outputs
        return await supervisor.run(workers=workers, resumed=resumed)


async def recover(home: Home) -> None:
    """Put in order what dead workers left: leases, and half-written ends of segments."""
    dead = dead_owners(home.root)
    if not dead:
        return
    await home.world.census.release_dead(dead, now_s=home.world.clock.now_s())
    for owner in dead:
        lost = home.archive.mend(owner, await home.store.segments.ends(owner))
        await _requeue(home, lost)
    forget(home.root, dead)


async def _requeue(home: Home, lost: Sequence[str]) -> None:
    """Fetch again what the disk has lost: committed captures whose bytes are gone."""
    count = await home.store.segments.requeue(lost) if lost else 0
    if count:
        message = f"{len(lost)} archive segments are damaged; {count} pages will be fetched again"
        home.world.sink.emit(Warned("", message))


def gate_for(world: World, config: CrawlConfig, seeds: Sequence[str]) -> LinkGate:
    """Make the judge of one job's links."""
    year = 1970 + int(world.clock.wall_s() // (365.2425 * 86_400))
    return LinkGate(config, Admission(config, seeds, now_year=year))


def worker_for(home: Home, job: CrawlJob, *, workers: int) -> Worker:
    """Make one of a job's workers, with its share of the requests in flight."""
    world, config = home.world, job.config
    gate = gate_for(world, config, job.seeds)
    return Worker(
        world,
        job,
        Road(world, job, gate),
        gate,
        concurrency=-(-config.politeness.concurrency // workers),
        has_space=partial(_has_space, home.root, home.settings.min_free_bytes),
    )


@dataclass(frozen=True, slots=True)
class Order:
    """What a worker process is told: where the job is, who it is, and how many there are."""

    root: Path
    settings: Settings
    job: str
    owner: str
    workers: int


async def _job(home: Home, plan: Plan) -> tuple[CrawlJob, bool]:
    world = home.world
    found = await jobs.newest(world, plan.seeds) if plan.resume else None
    if found is not None:
        same_network(found, home.settings)
        ends = await home.store.segments.job_ends(found.id)
        await _requeue(home, home.archive.check(ends))
        found = await jobs.find(world, found.id)  # with the counters of what is left
        config = resolve([plan.flags], onto=found.config).config
        check_requests(config, version=__version__)
        return await jobs.reopen(world, found, config, gate_for(world, config, found.seeds)), True
    config = plan.resolved.config
    if "warc" not in plan.resolved.run.format:
        config = replace(config, store=replace(config.store, raw=False))
    seeds = [seed.href for seed in plan.seeds]
    job = await jobs.start(
        world,
        plan.seeds,
        config,
        gate_for(world, config, seeds),
        tenant=TENANT,
        origins=plan.resolved.origins + network(home.settings),
    )
    return job, False


def _hire(
    home: Home, job: CrawlJob, workers: int, standby: Sequence[Started]
) -> Callable[[], Hand]:
    """Return what fills one worker's place: this process alone, or one of several."""
    if workers == 1:
        return partial(_local_hand, home, job)
    waiting = iter(standby)

    def hire() -> Hand:
        owner = f"w-{new_ulid(home.world.clock.wall_s(), home.world.rng)}"
        order = Order(home.root.resolve(), home.settings, job.id, owner, workers)
        started = next(waiting, None) or start_worker(WORKER_PROGRAM)
        return ProcessHand(owner, started, order, home.world.sink)

    return hire


def _make_folder(root: Path) -> None:
    try:
        root.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(
            f"cannot make the data directory `{root}`: {error.strerror}",
            hint="give one that can be written with -o DIR",
        ) from error


def _local_hand(home: Home, job: CrawlJob) -> Hand:
    return LocalHand(home.world.owner, worker_for(home, job, workers=1))


def _has_space(root: Path, min_free_bytes: int) -> bool:
    return shutil.disk_usage(root).free >= min_free_bytes
