"""A tenant's crawls: order, start, find, list, cancel, pause, resume, repeat, delete.

An order is read into a plan, and what could never work is refused before anything is written; the
refusal names the field that is wrong. A crawl of a service has the default profile and the limits
of API-02…API-06 and JOB-03, unless it names another profile, which brings its own. The paths of the
contract, `/crawler`, have `knowledge-base`. A public host is refused while no contact address is
set (LEG-08). Whether a host is the operator's own is told by
its name; nothing is looked up here.

A request only stores a crawl; `begin_waiting` starts it when its tenant may run another one. A
started crawl is `initializing` while its rules are read and its seeds judged, `discovering` while
the seeds enter the frontier, and `processing` from then on (WF-02, WF-03). If a process dies
between two states, the next process continues from the stored state. A failure on the way ends the
crawl with its cause (C-46). `add_url`, `add_sitemap` and `sync_collection` are the three
operations of a knowledge base.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Final

from geomi.admit import glob
from geomi.admit.address import is_public
from geomi.app.directory import egress_overrides
from geomi.app.use import channels
from geomi.app.use.crawl import Plan, draft_job, make_plan, rules_of, start_drafted
from geomi.app.use.deletion import delete_job
from geomi.app.use.provider_session import MAX_AT_ONCE
from geomi.engine import jobs, recrawl, watching
from geomi.engine.regions import describe_unserved, unserved
from geomi.engine.visit.links import LinkGate
from geomi.engine.visit.rules import job_rules
from geomi.errors import (
    ConfigError,
    FieldRefused,
    GeomiError,
    NameTaken,
    QuotaReached,
    StoreError,
    StoreFull,
    UnknownName,
    WrongState,
)
from geomi.frontier.region import RegionMap
from geomi.model.config import CrawlConfig, Regions
from geomi.model.index.document import DocumentState
from geomi.model.job import CrawlJob, Expired, JobFilter, JobKind, JobState, StopReason
from geomi.model.site import Provider
from geomi.service import collections
from geomi.service.access import tenants
from geomi.service.crawling.urls import UrlStatus, status_of
from geomi.service.service import Service, TenantService
from geomi.settings.layers import (
    Layer,
    Resolved,
    read_profile,
    refuse_outside,
    resolve_under_profile,
    settings_layer,
)
from geomi.settings.options import RunOptions, Settings
from geomi.settings.providers import provider_layer
from geomi.url.host import is_address
from geomi.url.parse import Url
from geomi.url.parse import parse as parse_url

MIB = 1024 * 1024
ORIGIN = "request"
PROFILE = "default"
CONTRACT_PROFILE: Final = "knowledge-base"  # what the paths of the contract mean (API-01)
# Those whose politeness is never less than RFC 9309 asks for, or a provider's own.
PROFILES = ("default", "docs", "knowledge-base")
MAX_SEEDS = 10  # API-01
MAX_SITEMAPS = 5
MAX_PATTERNS = 100
MAX_HOSTS = 100
# What is not said is this (API-02, API-05, JOB-03, JOB-04).
_DEFAULTS: dict[str, object] = {
    "limits.max_depth": 3,
    "limits.max_pages": 100,
    "limits.max_time_s": 3600.0,
    "limits.max_bytes": 100 * MIB,
    "limits.max_links_per_page": 500,
    "politeness.requests_per_second": 1.0,
}
JOB_ID = re.compile(r"[0-9A-HJKMNP-TV-Z]{26}")
# A place becomes free when a crawl ends, which takes minutes rather than seconds.
CROWDED_S = 60.0
# Ends that a tenant's quota brought: what is left waits for another day, or for room.
BY_QUOTA = frozenset({StopReason.DAILY_QUOTA, StopReason.STORAGE_QUOTA})
MOST_AT_ONCE = 1000
# A page alone, wherever its path leads: somebody asked for just this one.
_ONE_PAGE = {
    "limits.max_pages": 1,
    "limits.max_depth": 0,
    "scope.sitemaps": False,
    "scope.block_defaults": False,
}
MAX_SYNCED = 100  # crawls of one collection that are begun anew at once
# Of an indexing session seed 000 §5.2 asks for three domains, and for one request of a provider.
ONE_HOST: dict[str, object] = {"politeness.concurrency": 1, "politeness.max_hosts": 1}


@dataclass(frozen=True, slots=True)
class CrawlOrder:
    """What a tenant wants crawled.

    Args:
        settings: the crawl's settings besides its profile, by dotted key.
        provider: the key of the provider that it is for, if any.
        is_ours: the service made its settings, and no range limits them.
    """

    collection: str
    seeds: tuple[str, ...]
    sitemaps: tuple[str, ...] = ()
    profile: str = PROFILE
    settings: Mapping[str, object] = field(default_factory=dict)
    provider: str = ""
    is_ours: bool = False


def provider_order(provider: Provider, collection: str) -> CrawlOrder:
    """Return the order of a crawl of a provider, as it is registered now."""
    told = dict(provider_layer(provider).values) | ONE_HOST
    profile = str(told.pop("run.profile"))
    return CrawlOrder(
        collection, provider.seed_urls, profile=profile, settings=told, provider=provider.key
    )


async def plan_for(desk: TenantService, order: CrawlOrder) -> Plan:
    """Read an order; `FieldRefused` names what could never work.

    It compiles the order's patterns, which takes a while, so that it runs beside the loop.
    """
    return await desk.cpu.in_thread(_plan, desk, order)


def _plan(desk: TenantService, order: CrawlOrder) -> Plan:
    with in_field("seedUrls"):
        seeds = jobs.read_seeds(order.seeds)
    with in_field("sitemapUrls"):
        sitemaps = jobs.read_seeds(order.sitemaps) if order.sitemaps else ()
    settings = desk.service.settings
    for name, urls in (("seedUrls", seeds), ("sitemapUrls", sitemaps)):
        refuse_without_contact(settings, urls, field=name)
    with in_field("regions.job"):
        RegionMap(Regions(job=tuple(_texts(order.settings.get("regions.job")))))
    with in_field("regions.hosts"):
        RegionMap(Regions(hosts=tuple(_texts(order.settings.get("regions.hosts")))))
    with in_field("config"):
        resolved = resolve_under_profile(_layers(settings, order))
        if not order.is_ours:
            ranges = read_profile(PROFILE).service_ranges
            refuse_outside(read_profile(order.profile), resolved, ranges=ranges)
    scope = resolved.config.scope
    with in_field("scope.include"):
        includes = glob.compile(scope.include, scope.glob)
    with in_field("scope.exclude"):
        glob.refuse_costly(includes, glob.compile(scope.exclude, scope.glob))
    _refuse_ignoring_robots(desk, resolved.config)
    with in_field("seedUrls"):
        plan = make_plan(
            [seed.href for seed in seeds], resolved, Layer(ORIGIN, {}), provider=order.provider
        )
    _refuse_lost_sitemaps(desk, plan, [url.href for url in sitemaps])
    return plan


def _refuse_ignoring_robots(desk: TenantService, config: CrawlConfig) -> None:
    """Raise for a crawl that would not obey robots.txt where the operator allows none."""
    if not (config.robots.respect or desk.service.settings.allow_ignoring_robots):
        raise FieldRefused(
            "this service obeys robots.txt in every crawl",
            field="robots.respect",
            hint="leave it out; the operator's setting is `allow_ignoring_robots`",
        )


def refuse_without_contact(settings: Settings, urls: tuple[Url, ...], *, field: str) -> None:
    """Raise for a public host if no contact address is set (LEG-08)."""
    if settings.contact:
        return
    for url in urls:
        if not is_operators_own(url, settings):
            raise FieldRefused(
                f"{url.host} is a public host, and no contact address is set",
                field=field,
                hint="start the service with GEOMI_CONTACT, a URL or an e-mail address",
            )


@contextmanager
def in_field(field: str) -> Iterator[None]:
    """Say in which field of a request a mistake is; the nearest that says so is right."""
    try:
        yield
    except (FieldRefused, NameTaken, WrongState):
        raise
    except ConfigError as error:
        raise FieldRefused(error.message, field=field, hint=error.hint) from error


def _layers(settings: Settings, order: CrawlOrder) -> list[Layer]:
    """Return what decides about a crawl, strongest first, without its profile."""
    asked = {key: value for key, value in order.settings.items() if value is not None}
    own: dict[str, object] = {
        **asked,
        "run.profile": order.profile,
        "analysis.collection": order.collection,
    }
    if order.sitemaps:
        own["scope.sitemap_urls"] = order.sitemaps
    layers = [Layer(ORIGIN, own), settings_layer(settings)]
    return layers + ([Layer("service", _DEFAULTS)] if order.profile == PROFILE else [])


def _refuse_lost_sitemaps(desk: TenantService, plan: Plan, sitemaps: list[str]) -> None:
    """Raise for a sitemap that the crawl's own rules would leave unread."""
    config = plan.resolved.config
    if not sitemaps:
        return
    rules = job_rules(desk.world, config, [seed.href for seed in plan.seeds])
    found = LinkGate(rules).sitemaps(sitemaps, plan.seeds[0])
    if len(found.discovered) < len(set(sitemaps)):
        why = found.excluded[0].detail if found.excluded else "this crawl reads no sitemaps"
        raise FieldRefused(f"this crawl would not read the sitemap: {why}", field="sitemapUrls")


def _texts(value: object) -> list[str]:
    return [str(one) for one in value] if isinstance(value, list | tuple) else []


def is_private_host(url: Url) -> bool:
    """Return whether a URL names this machine or a private address."""
    is_local = url.host == "localhost" or url.host.endswith(".localhost")
    return is_local or (is_address(url.host) and not is_public(url.host.strip("[]")))


def is_operators_own(url: Url, settings: Settings) -> bool:
    """Return whether a URL leads to a server of the operator's own."""
    for one in egress_overrides(settings):
        if one.host == url.host:
            return not is_public(one.address)
    return is_private_host(url)


@dataclass(frozen=True, slots=True)
class CrawlCounts:
    """A crawl's URLs by status, as a list of them shows, and what search finds of it (JOB-02).

    Args:
        unserved: what waits for workers of regions where none is alive.
    """

    by_status: Mapping[UrlStatus, int]
    indexed: int
    chunks: int
    unserved: str = ""

    @property
    def queued(self) -> int:
        """How many URLs wait."""
        return self.by_status.get(UrlStatus.PENDING, 0)

    @property
    def processed(self) -> int:
        """How many URLs were visited, or judged to be left alone."""
        return sum(self.by_status.values()) - self.queued


async def start(
    desk: TenantService, order: CrawlOrder, *, job_id: str = "", is_fallback: bool = False
) -> CrawlJob:
    """Write a crawl down, to begin when its turn comes.

    Of a provider its external documents are collected where a source is known to have them.

    Args:
        job_id: its name, where it was given before.
        is_fallback: they were, and it was not enough (G-22). It takes the place of a crawl that
            was let in, however many wait by now.
    """
    plan = await plan_for(desk, order)
    if order.provider and not is_fallback:
        plan = await channels.plan_for_channel(
            desk.home, plan, await channels.known_channel(desk.home, order.provider)
        )
    return await _draft(desk, plan, order.collection, job_id, is_let_in=is_fallback)


async def find(desk: TenantService, job_id: str) -> CrawlJob:
    """Find a crawl of this tenant by its whole id."""
    job = await desk.world.store.jobs.get(job_id) if JOB_ID.fullmatch(job_id) else None
    if job is None:
        raise UnknownName(f"there is no crawl `{job_id[:80]}`")
    return job


async def page(desk: TenantService, which: JobFilter, *, before: str, limit: int) -> list[CrawlJob]:
    """List crawls, newest first, for paging."""
    return list(await desk.world.store.jobs.page(which, before=before, limit=limit))


async def crawl_counts(desk: TenantService, job: CrawlJob) -> CrawlCounts:
    """Count a crawl's URLs by status, and what search finds of it."""
    if job.expired is not Expired.NOTHING:
        return await _counts_of_expired(desk, job)
    counts = await desk.world.store.census.statuses(
        job.id, collection=job.config.analysis.collection
    )
    by_status = Counter[UrlStatus]()
    for one in counts:
        by_status[status_of(one.state, one.document, job, is_page=one.is_page)] += one.entries
    found = [one for one in counts if one.document is DocumentState.INDEXED]
    waiting = () if job.state.is_final else await unserved(desk.world, job)
    return CrawlCounts(
        by_status,
        sum(one.entries for one in found),
        sum(one.chunks for one in found),
        describe_unserved(waiting),
    )


async def _counts_of_expired(desk: TenantService, job: CrawlJob) -> CrawlCounts:
    """Count by what is left when the URLs themselves are gone: counters and documents."""
    stats, documents = job.stats, await desk.world.store.documents.counts(job.id)
    by_status = {
        UrlStatus.COMPLETED: max(stats.collected - documents.skipped - documents.failed, 0),
        UrlStatus.FAILED: stats.failed + documents.failed,
        UrlStatus.SKIPPED: stats.skipped + documents.skipped,
        UrlStatus.BLOCKED: stats.blocked,
    }
    return CrawlCounts(by_status, documents.indexed, documents.chunks)


async def cancel(desk: TenantService, job_id: str) -> CrawlJob:
    """Cancel a crawl for good; a finished one cannot be cancelled (G-18)."""
    return await jobs.cancel(desk.world, await find(desk, job_id))


async def pause(desk: TenantService, job_id: str) -> CrawlJob:
    """Let a crawl take no more pages (G-28)."""
    return await jobs.pause(desk.world, await find(desk, job_id), paused=True)


async def resume(desk: TenantService, job_id: str) -> CrawlJob:
    """Resume a crawl that was paused, or that a quota of its tenant ended (C-45)."""
    job = await find(desk, job_id)
    _refuse_ignoring_robots(desk, job.config)
    if job.state is not JobState.COMPLETED or job.stop not in BY_QUOTA:
        return await jobs.pause(desk.world, job, paused=False)
    if not (await crawl_counts(desk, job)).queued:
        raise WrongState(f"crawl {job.id} has nothing left to do")
    most = (await tenants.find(desk.service, desk.tenant)).quota.max_concurrent_crawls
    again = replace(job, state=JobState.PROCESSING, stop=None, ended_at_s=None)
    was = JobState.COMPLETED
    if not await desk.world.store.jobs.turn(again, was=was, most=most, wall_s=desk.wall_s):
        raise QuotaReached(
            f"{most} crawls are running, which is the limit",
            hint="wait until one has ended",
            retry_after_s=CROWDED_S,
        )
    return await find(desk, job_id)


def next_run_s(job: CrawlJob) -> float | None:
    """Return when a crawl is visited again; None where it is not, or nobody has planned it yet."""
    is_planned = job.is_watched and job.state is JobState.COMPLETED and not job.expired
    return job.next_look_s or None if is_planned else None


async def change_watch(
    desk: TenantService,
    job_id: str,
    *,
    watch: bool | None = None,
    requests_per_day: int | None = None,
) -> CrawlJob:
    """Let a crawl be visited again or not, or by more or fewer requests; its plan is made anew."""
    job = await find(desk, job_id)
    if job.crawl:
        raise WrongState(f"crawl {job.id} is a recrawl", hint=f"change crawl {job.crawl}")
    if job.provider and watch:
        raise WrongState(
            f"crawl {job.id} is of provider {job.provider}, which schedules crawl again",
            hint="POST /api/v1/schedules starts it every week",
        )
    rules = job.config.recrawl
    rules = replace(
        rules,
        watch=rules.watch if watch is None else watch,
        requests_per_day=requests_per_day or rules.requests_per_day,
    )
    changed = replace(job, config=replace(job.config, recrawl=rules))
    await desk.world.store.jobs.update(changed, wall_s=desk.wall_s)
    await desk.world.store.jobs.look_again(job.id, desk.wall_s)
    return await find(desk, job_id)


async def repeat(desk: TenantService, job_id: str) -> CrawlJob:
    """Create a new crawl like a finished one; like the whole crawl where that was a recrawl."""
    old = await find(desk, job_id)
    old = await find(desk, old.crawl) if old.crawl else old
    if not old.state.is_final:
        raise WrongState(f"crawl {old.id} is {old.state}, not over", hint="cancel it first")
    with in_field("crawlId"):
        seeds = jobs.read_seeds(old.seeds)
    plan = Plan(
        seeds,
        Resolved(old.config, RunOptions(profile=old.profile), old.origins),
        Layer(ORIGIN, {}),
        provider=old.provider,
        channel=old.channel,
        channel_why=old.channel_why,
        library=old.library,
        library_name=old.library_name,
    )
    _refuse_ignoring_robots(desk, plan.resolved.config)
    return await _draft(desk, plan, old.collection or old.config.analysis.collection, "")


async def delete(desk: TenantService, job_id: str) -> None:
    """Forget a crawl that is over, with its pages and what can be found of them."""
    await delete_job(desk.home, await find(desk, job_id))


async def _draft(
    desk: TenantService, plan: Plan, collection: str, job_id: str, *, is_let_in: bool = False
) -> CrawlJob:
    if not desk.world.disk.has_space():
        raise StoreFull("this disk has no room for a crawl", hint="make room, then ask again")
    async with desk.door:
        if not is_let_in:
            await refuse_crowd(desk)
        await collections.ensure(desk, collection)
        with in_field("seedUrls"):
            rules = await rules_of(desk.home, plan)
            return await draft_job(desk.home, plan, rules, collection=collection, job_id=job_id)


async def refuse_crowd(desk: TenantService) -> None:
    """Raise where so many crawls wait that one more would wait too long."""
    quota = (await tenants.find(desk.service, desk.tenant)).quota
    many = (await desk.world.store.jobs.counts()).get(JobState.PENDING, 0)
    if quota.max_waiting and many >= quota.max_waiting:
        raise QuotaReached(
            f"{many} crawls are waiting; the limit is {quota.max_waiting}",
            hint="wait until some have started, or cancel them",
            retry_after_s=CROWDED_S,
        )


async def begin_waiting(service: Service) -> int:
    """Let crawls begin that may; return how many did."""
    begun = 0
    waiting = await service.home.store.roster.waiting(MOST_AT_ONCE)
    crawled = await _crawled_providers(service) if waiting else Counter()
    for tenant, name in waiting:
        desk = service.desk(tenant)
        if job := await _admitted(desk, name, is_session_full=crawled[tenant] >= MAX_AT_ONCE):
            await _begin(desk, job)
            begun += 1
            crawled[tenant] += bool(job.provider)
    return begun


async def _crawled_providers(service: Service) -> Counter[str]:
    """Count the providers that are being crawled, by tenant (POL-02)."""
    found: Counter[str] = Counter()
    for tenant, name in await service.home.store.roster.active(MOST_AT_ONCE):
        job = await service.desk(tenant).world.store.jobs.get(name)
        found[tenant] += bool(job and job.provider)
    return found


async def _admitted(desk: TenantService, name: str, *, is_session_full: bool) -> CrawlJob | None:
    """Return a job that has a place among its tenant's, or None.

    Args:
        is_session_full: as many providers are crawled as may be at once.
    """
    job = await desk.world.store.jobs.get(name)
    if job is None or job.state is not JobState.PENDING:
        return job
    if job.provider and is_session_full:
        return None
    quota = (await tenants.find(desk.service, desk.tenant)).quota
    most = quota.max_concurrent_crawls
    if not await desk.world.store.jobs.begin(name, most=most, wall_s=desk.wall_s):
        return None
    return await desk.world.store.jobs.get(name)


async def _begin(desk: TenantService, job: CrawlJob) -> None:
    try:
        if job.kind is JobKind.RECRAWL:
            wish = watching.wish_of(job.config.limits.max_pages)
            await recrawl.begin(desk.world, await recrawl.first_job(desk.world, job.id), wish)
        else:
            await start_drafted(desk.home, job)
    except StoreError:
        raise  # it is not the crawl's fault; the next look goes on with it
    except UnknownName:
        return  # it was deleted meanwhile
    except GeomiError as error:
        await jobs.fail(desk.world, job, error.message)


async def add_url(desk: TenantService, collection: str, url: str) -> CrawlJob:
    """Start a crawl of one page."""
    with in_field("url"):
        return await start(desk, CrawlOrder(collection, (url,), settings=_ONE_PAGE, is_ours=True))


async def add_sitemap(
    desk: TenantService, collection: str, url: str, *, max_pages: int
) -> CrawlJob:
    """Start a crawl of the pages that a sitemap lists, and of its site's front page."""
    parsed = parse_url(url)
    front = f"{parsed.scheme}://{parsed.authority}/" if parsed else url
    settings = {"limits.max_pages": max_pages, "limits.max_depth": 1}
    order = CrawlOrder(collection, (front,), sitemaps=(url,), settings=settings)
    return await start(desk, order)


async def sync_collection(desk: TenantService, collection: str) -> list[CrawlJob]:
    """Crawl again whatever filled a collection; pages that have not changed are not fetched anew.

    Of several crawls from the same seeds the newest counts; a running one is skipped.
    """
    await collections.find(desk, collection)
    newest: dict[tuple[str, ...], CrawlJob] = {}
    before = ""
    while len(newest) < MAX_SYNCED:
        found = await page(desk, JobFilter(collection), before=before, limit=100)
        if not found:
            break
        for job in found:
            if job.kind is JobKind.CRAWL:
                newest.setdefault(job.seeds, job)
        before = found[-1].id
    over = [job for job in newest.values() if job.state.is_final][:MAX_SYNCED]
    if not over:
        raise WrongState(f"no finished crawl has filled collection `{collection}`")
    return [await repeat(desk, job.id) for job in over]
