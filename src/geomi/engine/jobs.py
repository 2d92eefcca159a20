"""Start, resume, pause, cancel and end a job.

The surfaces translate what a person asks for; these use cases decide. Every change of a job's
state is one legal step (`model/job.py`) and is written down before anything else happens.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import replace

from geomi.engine.visit.links import FoundLinks, LinkGate, link_value_of
from geomi.engine.visit.rules import JobRules
from geomi.engine.world import World
from geomi.errors import ConfigError, UnknownName, WrongState
from geomi.frontier.priority import HIGHEST
from geomi.model.config import CrawlConfig, Scope
from geomi.model.entry import Discovered
from geomi.model.event import Warned
from geomi.model.job import STEPS, Commission, CrawlJob, JobKind, JobState, StopReason
from geomi.model.verdict import Verdict
from geomi.text.identifiers import new_ulid
from geomi.url.parse import Url
from geomi.url.parse import parse as parse_url

# `mailto:` names a scheme, `localhost:8080` a port.
_SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:(?!\d)")

# Stops that leave a job as it is, to go on with.
RESUMABLE = frozenset(
    {StopReason.INTERRUPTED, StopReason.DISK_FULL, StopReason.FAILED, StopReason.NO_REGION}
)

MAX_SEEDS = 10_000
LISTED_JOBS = 1000
TOWARDS_PROCESSING = {
    JobState.PENDING: JobState.INITIALIZING,
    JobState.INITIALIZING: JobState.DISCOVERING,
    JobState.DISCOVERING: JobState.PROCESSING,
    JobState.FINALIZING: JobState.PROCESSING,
}


def read_seeds(texts: Sequence[str]) -> tuple[Url, ...]:
    """Parse start URLs as people type them: a bare host name gets `https://`."""
    if not texts:
        raise ConfigError("no URL to start from", hint="geomi crawl https://example.com/")
    if len(texts) > MAX_SEEDS:
        raise ConfigError(f"{len(texts)} start URLs; the limit is {MAX_SEEDS}")
    return tuple(_read_seed(text) for text in texts)


def admitted(rules: JobRules, seed: Url) -> Discovered:
    """Turn a start URL into an entry; refuse one that the job's own rules exclude."""
    answer = rules.seed(seed)
    if isinstance(answer, Verdict):
        raise ConfigError(
            f"start URL {seed.href} is excluded by rule {answer.rule}: {answer.detail}",
            hint=answer.hint,
        )
    return answer


async def draft(
    world: World, seeds: Sequence[Url], rules: JobRules, commission: Commission
) -> CrawlJob:
    """Create a job that waits for its turn; refuse seeds that its own rules exclude."""
    await asyncio.to_thread(_beginnings, rules, seeds)  # long URLs and dear patterns take a while
    job = CrawlJob(
        id=commission.id or new_ulid(world.clock.wall_s(), world.rng),
        tenant=commission.tenant,
        seeds=tuple(seed.href for seed in seeds),
        config=rules.config,
        state=JobState.PENDING,
        created_at_s=world.clock.wall_s(),
        origins=commission.origins,
        provider=commission.provider,
        collection=commission.collection,
        channel=commission.channel,
        channel_why=commission.channel_why,
        library=commission.library,
        library_name=commission.library_name,
        profile=commission.profile,
        network=commission.network,
        archive=commission.archive,
        directory=commission.directory,
    )
    await world.store.jobs.create(job)
    return job


async def begin_drafted(world: World, job: CrawlJob, rules: JobRules) -> CrawlJob:
    """Put the seeds of a job into the frontier, and start it.

    Whoever died on the way left a state in between: it goes on from there, and what is in the
    frontier already is there once.
    """
    discovered = await asyncio.to_thread(_beginnings, rules, read_seeds(job.seeds))
    while job.state is not JobState.DISCOVERING:
        job = await step(world, job, TOWARDS_PROCESSING[job.state])
    await _add(world, job, discovered)
    return await step(world, job, JobState.PROCESSING)


async def start(
    world: World, seeds: Sequence[Url], rules: JobRules, commission: Commission
) -> CrawlJob:
    """Create a job and let it be worked on at once."""
    return await begin_drafted(world, await draft(world, seeds, rules, commission), rules)


async def newest(world: World, seeds: Sequence[Url]) -> CrawlJob | None:
    """Find the job for `--resume`: the newest unfinished one of these seeds, or any.

    A job whose URLs have expired cannot be resumed.
    """
    wanted = {seed.href for seed in seeds}
    listed = [
        job
        for job in await world.store.jobs.list(limit=LISTED_JOBS)
        if job.kind is JobKind.CRAWL and not job.expired
    ]
    same = [job for job in listed if set(job.seeds) == wanted]
    unfinished = [job for job in same if not job.state.is_final]
    return next(iter(unfinished or same), None)


async def reopen(world: World, job: CrawlJob, rules: JobRules) -> CrawlJob:
    """Resume a job under other rules; a completed one only if URLs are left.

    Where the rules about links have changed, the pages that are here already are read once more
    from the archive: what they link to was judged by the old rules.
    """
    config = rules.config
    judges_anew = _link_rules(config) != _link_rules(job.config)
    job = replace(job, config=config)
    if job.state.is_final and not _may_go_on(job):
        return job
    if judges_anew:
        await world.store.frontier.reopen(job.id)
    if job.state is JobState.COMPLETED:
        if not await _has_more(world, job):
            return job
        job = replace(job, stop=None, ended_at_s=None)
        return await step(world, job, JobState.PROCESSING)
    discovered = await asyncio.to_thread(_beginnings, rules, read_seeds(job.seeds))
    await _add(world, job, discovered)
    while job.state is not JobState.PROCESSING:
        job = await step(world, job, TOWARDS_PROCESSING[job.state])
    job = replace(job, stop=None, paused=False)
    await world.store.jobs.update(job, wall_s=world.clock.wall_s())
    return job


async def finish(world: World, job: CrawlJob, stop: StopReason, error: str = "") -> CrawlJob:
    """End a job, or leave it unfinished if its stop allows a resume.

    Of several that do it one is the first, and the others change nothing. A job for a collection is
    not over before its pages can be found there: whoever puts them there completes it.
    """
    found, now_s = await find(world, job.id), world.clock.wall_s()
    if found.state is JobState.FAILED:
        return found  # it says why
    job = replace(found, stop=stop, error=error)
    if job.state.is_final:
        return job
    if stop in RESUMABLE:
        await world.store.jobs.turn(job, was=found.state, wall_s=now_s)
        return await find(world, job.id)
    if found.state is not JobState.FINALIZING:
        _check_step(found, JobState.FINALIZING)
        ending = replace(job, state=JobState.FINALIZING)
        if not await world.store.jobs.turn(ending, was=found.state, wall_s=now_s):
            return await find(world, job.id)
        _warn_of_limit(world, ending)
    return await (find(world, job.id) if job.collection else complete(world, job))


async def complete(world: World, job: CrawlJob) -> CrawlJob:
    """End a job that takes no more pages; one of which a URL waits again is not done."""
    now_s, is_done = world.clock.wall_s(), job.stop is StopReason.DONE
    ended = replace(job, state=JobState.COMPLETED, ended_at_s=now_s)
    if not await world.store.jobs.turn(
        ended, was=JobState.FINALIZING, only_empty=is_done, wall_s=now_s
    ):
        again = replace(job, state=JobState.PROCESSING, stop=None)
        await world.store.jobs.turn(again, was=JobState.FINALIZING, wall_s=now_s)
    return await find(world, job.id)


async def find(world: World, job_id: str) -> CrawlJob:
    """Return a job by its id, by a unique beginning or end of it, or the newest for `latest`."""
    if found := await world.store.jobs.get(job_id):
        return found
    jobs = await world.store.jobs.list(limit=LISTED_JOBS)
    if job_id == "latest" and jobs:
        return jobs[0]
    near = [job for job in jobs if job.id.startswith(job_id) or job.id.endswith(job_id)]
    if len(near) == 1:
        return near[0]
    known = ", ".join(job.id for job in (near or jobs)[:3]) or "none yet"
    count = "several jobs are" if near else "no job is"
    raise UnknownName(f"{count} called `{job_id}` here", hint=f"jobs: {known}")


async def pause(world: World, job: CrawlJob, *, paused: bool) -> CrawlJob:
    """Set or lift the pause flag; the state keeps its value (G-28)."""
    if job.state.is_final:
        raise WrongState(f"job {job.id} is {job.state}; only an unfinished job can pause")
    job = replace(job, paused=paused)
    await world.store.jobs.update(job, wall_s=world.clock.wall_s())
    return job


async def cancel(world: World, job: CrawlJob) -> CrawlJob:
    """Cancel a job; requests in flight end first (G-18)."""
    if job.state.is_final:
        raise WrongState(f"job {job.id} is {job.state} already")
    ended = replace(job, stop=StopReason.CANCELLED, ended_at_s=world.clock.wall_s())
    return await step(world, ended, JobState.CANCELLED)


async def fail(world: World, job: CrawlJob, error: str) -> CrawlJob:
    """End a job that cannot be done, and say why (C-46)."""
    ended = replace(job, stop=StopReason.FAILED, error=error, ended_at_s=world.clock.wall_s())
    return await step(world, ended, JobState.FAILED)


async def fail_processing(world: World, job: CrawlJob, error: str) -> bool:
    """End a job that several processes work on; False if another process ended it before."""
    now_s = world.clock.wall_s()
    _check_step(job, JobState.FAILED)
    ended = replace(
        job, state=JobState.FAILED, stop=StopReason.FAILED, error=error, ended_at_s=now_s
    )
    return await world.store.jobs.turn(ended, was=job.state, wall_s=now_s)


async def step(world: World, job: CrawlJob, state: JobState) -> CrawlJob:
    """Take one legal step and write it down."""
    _check_step(job, state)
    now_s = world.clock.wall_s()
    job = replace(job, state=state, started_at_s=job.started_at_s or now_s)
    await world.store.jobs.update(job, wall_s=now_s)
    return job


def _warn_of_limit(world: World, job: CrawlJob) -> None:
    """Say that a provider has more pages than it may have (JOB-07); who crawls it should know."""
    if not job.provider or job.stop is not StopReason.MAX_PAGES:
        return
    most = job.config.limits.max_pages
    if job.has_session_limit:
        message = f"the session had {most:,} pages left for provider {job.provider}; its crawl ends"
        hint = "GEOMI_SESSION_PAGES sets the limit; geomi crawl --resume continues it"
    else:
        message = f"provider {job.provider} has reached its limit of {most:,} pages; its crawl ends"
        hint = "the rest waits; register the provider with a higher `max_pages` to crawl it"
    world.sink.emit(Warned(job.id, message, hint))


def _check_step(job: CrawlJob, state: JobState) -> None:
    if state not in STEPS[job.state]:
        raise WrongState(f"job {job.id} is {job.state} and cannot become {state}")


def _beginnings(rules: JobRules, seeds: Sequence[Url]) -> list[Discovered]:
    """Return what a job starts from: sitemaps that were given (LNK-16), its seeds, and probes.

    The sitemaps come first (LNK-11): a page that is listed and linked is one that is listed.
    """
    given = [url.href for url in map(_read_seed, rules.config.scope.sitemap_urls)]
    found = LinkGate(rules).sitemaps(given, seeds[0]) if given else FoundLinks()
    # A person named them, and no page did.
    named = [replace(one, parent=None, priority=HIGHEST) for one in found.discovered]
    probes = [probe for seed in seeds for probe in rules.probes(seed)]
    return [*named, *(admitted(rules, seed) for seed in seeds), *probes]


async def _add(world: World, job: CrawlJob, found: list[Discovered]) -> None:
    worth = link_value_of(world, job.config)
    if worth is not None:
        found = await worth.of(found)
    await world.store.frontier.add(job.id, found, now_s=world.clock.now_s())


def _read_seed(text: str) -> Url:
    # A browser would take the first name of a path for a host.
    if text.startswith("/") and not text.startswith(("//", "/\\")):
        raise ConfigError(f"`{text}` names no host", hint=f"write https://example.com{text}")
    url = parse_url(text if _SCHEME.match(text) else f"https://{text}")
    if url is None:
        raise ConfigError(
            f"`{text}` is not a URL that can be crawled", hint="use http:// or https:// and a host"
        )
    return url


def _link_rules(config: CrawlConfig) -> tuple[Scope, tuple[int, ...]]:
    """Return what decides about a link; a link's own page has nothing to do with it."""
    limits = config.limits
    queued = (limits.max_queued, limits.max_queued_per_host, limits.max_queued_per_pattern)
    return config.scope, (limits.max_depth, limits.max_url_chars, *queued)


def _may_go_on(job: CrawlJob) -> bool:
    """Say whether a job that is over may have something left: its limit was raised, or had none."""
    return job.state is JobState.COMPLETED and (job.stop is StopReason.DONE or _raised(job))


async def _has_more(world: World, job: CrawlJob) -> bool:
    """Return whether URLs wait: links judged again, a raised limit, or pages with lost bytes."""
    outlook = await world.store.census.outlook(job.id, now_s=world.clock.now_s())
    return job.stop is not StopReason.DONE or outlook.pending > 0


def _raised(job: CrawlJob) -> bool:
    limits, stats = job.config.limits, job.stats
    match job.stop:
        case StopReason.MAX_PAGES:
            return limits.max_pages == 0 or limits.max_pages > stats.settled
        case StopReason.MAX_BYTES:
            return limits.max_bytes == 0 or limits.max_bytes > stats.bytes_received
        case StopReason.MAX_TIME:
            return limits.max_time_s == 0 or limits.max_time_s > job.active_s
        case StopReason.DAILY_QUOTA | StopReason.STORAGE_QUOTA:
            return True  # another day, or another quota: its first look says whether it is one
        case _:
            return False
