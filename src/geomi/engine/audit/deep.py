"""Hold a store, its archive and its request log against every invariant, for all tenants.

Everything is read once, host by host and job by job; in memory are the URLs of one job and the
requests of one host. Nothing is written. What is at work while it is read, what has expired and
what was erased on request is not counted anew: there a difference would say nothing.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable
from dataclasses import dataclass, replace
from itertools import chain

import orjson

from geomi.engine.audit import invariants
from geomi.engine.audit.audit import Audit, audit
from geomi.engine.audit.invariants import SENTENCES, Invariant
from geomi.engine.inspect.export import captures
from geomi.engine.world import World
from geomi.errors import BytesMissing, GeomiError
from geomi.model.entry import UrlEntry
from geomi.model.job import CrawlJob, Expired
from geomi.model.page import CaptureRow
from geomi.model.request_log import SentRequest

MAX_EXAMPLES = 5  # of each invariant; all that is broken is counted
ROWS_PER_READ = 2000
EVERY_JOB = 1_000_000


@dataclass(frozen=True, slots=True)
class DeepFinding:
    """What is known of one invariant.

    Args:
        checked: how much was looked at.
        note: what the check left out, and why.
    """

    invariant: Invariant
    sentence: str
    checked: int
    broken: int
    examples: tuple[str, ...]
    note: str = ""

    @property
    def is_good(self) -> bool:
        """Whether it holds."""
        return not self.broken


async def inspect(
    world: World, tenants: Callable[[str], World], *, lets_through: Callable[[str], bool]
) -> list[DeepFinding]:
    """Check every invariant.

    Args:
        tenants: returns the world of a tenant; `world` may be that of any.
        lets_through: whether the gate connects to an address.
    """
    looked = _Inspection(world, tenants, lets_through)
    await looked.read_log()
    await looked.read_jobs()
    found = await audit(world, jobs_of=lambda tenant: tenants(tenant).store.jobs)
    looked.take_audit(found)
    return looked.findings()


class _Inspection:
    """Gathers what is checked and what is broken."""

    def __init__(
        self, world: World, tenants: Callable[[str], World], lets_through: Callable[[str], bool]
    ) -> None:
        self._world = world
        self._tenants = tenants
        self._lets_through = lets_through
        self._checked: Counter[Invariant] = Counter()
        self._broken: Counter[Invariant] = Counter()
        self._examples: dict[Invariant, list[str]] = {one: [] for one in Invariant}
        self._notes: dict[Invariant, str] = {
            Invariant.FENCE: "leaves no trace in a store; `make explore` checks it in every state"
        }
        self._logged: Counter[str] = Counter()
        self._log_begins_s = 0.0
        self._left_out = 0

    def findings(self) -> list[DeepFinding]:
        """Say what was found, in the order of the invariants."""
        if self._left_out:
            note = f"{self._left_out} jobs are at work, have expired or lost pages on request"
            self._notes |= {Invariant.LOST: note, Invariant.COUNTERS: note}
        return [
            DeepFinding(
                invariant=one,
                sentence=SENTENCES[one],
                checked=self._checked[one],
                broken=self._broken[one],
                examples=tuple(self._examples[one]),
                note=self._notes.get(one, ""),
            )
            for one in Invariant
        ]

    async def read_log(self) -> None:
        """Read the log host by host: what was asked again, and where requests went."""
        requests = self._world.store.requests
        self._log_begins_s = (await requests.gone()).before_s
        for host in await requests.hosts():
            log = [asked async for asked in self._of_host(host)]
            self._logged.update(asked.job for asked in log)
            leases = await self._world.store.census.leases(host)
            # A lease asks for each of its pages once: whatever is more was asked for under none.
            for (_, url), many in invariants.answered_pages(log).items():
                told = invariants.asked_again(many - 1, max(0, leases - 1), url)
                self._take(Invariant.REFETCHED, told)
            for asked in log:
                if asked.ip and asked.status:
                    is_allowed = self._lets_through(asked.ip)
                    self._take(Invariant.GATE, invariants.ungated(asked, is_allowed=is_allowed))

    async def read_jobs(self) -> None:
        """Read every tenant's jobs, entries, captures and bytes."""
        jobs: dict[str, list[CrawlJob]] = {}
        for tenant in await self._world.store.roster.tenants():
            jobs[tenant] = await self._tenants(tenant).store.jobs.list(limit=EVERY_JOB)
        owners = {job.id: tenant for tenant, own in jobs.items() for job in own}
        for tenant, own in jobs.items():
            world = self._tenants(tenant)
            has_erased = bool(await world.store.providers.takedowns())
            for job in own:
                await self._read_job(world, job, owners, has_erased=has_erased)
            await self._read_others(world, owners)

    def take_audit(self, found: Audit) -> None:
        """Take over what an audit of the log has proven."""
        rules = (Invariant.AT_ONCE, Invariant.GAP, Invariant.ROBOTS, Invariant.DAMAGED)
        self._checked.update(dict.fromkeys(rules, found.requests))
        self._checked[Invariant.PER_ADDRESS] += found.requests
        told = 0
        for breach in chain.from_iterable(
            [*(host.breaches for host in found.hosts), *(ip.breaches for ip in found.addresses)]
        ):
            last = breach.requests[-1]
            where = f"{last.host}, {last.url or 'an erased page'} at {last.started_s:.3f}"
            self._break(breach.rule, f"{where}: {breach.detail}")
            told += 1
        for cap in found.caps:
            self._checked[Invariant.CAPS] += 1
            if cap.broken:
                to = f" to {cap.domain}" if cap.domain else ""
                detail = f"{cap.most} requests{to} in one {cap.window}, {cap.allowed} are allowed"
                self._break(Invariant.CAPS, detail)
                told += cap.broken
        if found.broken > told:
            self._notes[Invariant.GAP] = "`geomi audit` has more of the log"

    async def _read_job(
        self, world: World, job: CrawlJob, owners: dict[str, str], *, has_erased: bool
    ) -> None:
        others = {one: whose for one, whose in owners.items() if whose != job.tenant}
        own = owners.keys() - others.keys()
        kept: list[str] = []
        origins: dict[str, str] = {}
        async for entry in _entries(world, job):
            if entry.origin is not None:
                origins[entry.url] = entry.origin
            if not invariants.is_kept(entry):
                continue
            kept.append(entry.url)
            page = await world.store.pages.get(entry.url_hash)
            if page is not None and page.record.job in owners:
                told = invariants.foreign(f"the page {page.url}", page.record, own, others)
                self._take(Invariant.TENANTS, (f"tenant `{job.tenant}`: {one}" for one in told))
        urls, many = set[str](), 0
        async for rows in captures(world.store.pages, job.id):
            for row in rows:
                urls.add(row.url)
                many += 1
                known = (row.url, origins.get(row.url, row.url))
                await self._read_capture(world, job, row, known, others)
        endings = invariants.count_endings(await world.store.census.outcomes(job.id))
        now = await world.store.jobs.get(job.id)
        if (
            has_erased
            or job.expired is not Expired.NOTHING
            or now is None
            or now.stats != job.stats
        ):
            self._left_out += 1
            return
        keeps_log = job.config.store.request_log and not job.channel.is_source
        counted = replace(
            endings,
            captures=many,
            urls=len(urls),
            logged=self._logged[job.id] if keeps_log and self._log_is_whole(world, job) else None,
        )
        told = invariants.miscounted(job.stats, counted)
        self._take(Invariant.COUNTERS, (f"job {job.id}: {one}" for one in told))
        self._checked[Invariant.LOST] += max(0, len(kept) - 1)
        lost = invariants.lost(kept, urls)
        self._take(Invariant.LOST, (f"job {job.id}: {url} was kept and is gone" for url in lost))

    def _log_is_whole(self, world: World, job: CrawlJob) -> bool:
        """Whether the log has all requests of a job: those of old jobs go before the jobs do."""
        ahead_s = world.clock.wall_s() - world.clock.now_s()
        return job.created_at_s - ahead_s >= self._log_begins_s

    async def _read_capture(
        self,
        world: World,
        job: CrawlJob,
        row: CaptureRow,
        known: tuple[str, ...],
        others: dict[str, str],
    ) -> None:
        for place in filter(None, (row.record, row.response)):
            told = invariants.foreign(f"the copy of {row.url}", place, {job.id}, others)
            self._take(Invariant.TENANTS, (f"tenant `{job.tenant}`: {one}" for one in told))
        try:
            record = orjson.loads(await world.archive.read(row.record))
            named = [str(record[name]) for name in ("url", "final_url")]
            if row.response is not None:
                await world.archive.read(row.response)
        except BytesMissing as error:
            if job.state.is_final:
                self._take(Invariant.READABLE, [f"the record of {row.url}: {error}"])
            else:  # another machine may not have sent them yet
                self._notes[Invariant.READABLE] = "jobs at work have bytes that are not here yet"
        except (GeomiError, ValueError, LookupError, TypeError) as error:
            self._take(Invariant.READABLE, [f"the record of {row.url}: {error}"])
        else:
            self._take(Invariant.READABLE, invariants.misread(known, named))

    async def _read_others(self, world: World, owners: dict[str, str]) -> None:
        """Ask for another tenant's jobs, as if they were this one's."""
        for job, whose in owners.items():
            if whose == world.store.tenant:
                continue
            shown = await world.store.jobs.get(job) is not None
            shown = shown or bool(await world.store.pages.feed(job, after=0, limit=1))
            told = [f"tenant `{world.store.tenant}` is shown job {job} of tenant `{whose}`"]
            self._take(Invariant.TENANTS, told if shown else ())

    async def _of_host(self, host: str) -> AsyncIterator[SentRequest]:
        after_s, log = -math.inf, self._world.store.requests
        while rows := await log.of_host(host, after_s=after_s, limit=ROWS_PER_READ):
            for row in rows:
                yield row
            after_s = rows[-1].started_s

    def _take(self, invariant: Invariant, told: Iterable[str]) -> None:
        """Count one thing that was looked at, and what is wrong with it."""
        self._checked[invariant] += 1
        for detail in told:
            self._break(invariant, detail)

    def _break(self, invariant: Invariant, detail: str) -> None:
        self._broken[invariant] += 1
        examples = self._examples[invariant]
        if len(examples) < MAX_EXAMPLES and detail not in examples:
            examples.append(detail)


async def _entries(world: World, job: CrawlJob) -> AsyncIterator[UrlEntry]:
    after = b""
    while rows := await world.store.census.entries(
        job.id, state=None, after=after, limit=ROWS_PER_READ
    ):
        for row in rows:
            yield row
        after = rows[-1].url_hash
