"""Start crawls again and again, by a cron line or an interval.

A run happens once: the id of its job is stored before the job exists, so that a process that takes
over knows it. A missed run is not repeated later.

A cron line has five fields, in UTC. A day counts if both of its fields allow it. If both fields
restrict the day, one of them is enough, as in the classic cron.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from geomi.app.use import providers
from geomi.errors import ConfigError, FieldRefused, GeomiError, QuotaReached, UnknownName
from geomi.model.named_value import NamedValue
from geomi.service.crawling import crawls
from geomi.service.crawling.crawls import CrawlOrder, in_field, plan_for, provider_order
from geomi.service.service import Service, StoredValue, TenantService, ValueNamespace
from geomi.settings.providers import EVERY_PROVIDER
from geomi.text.identifiers import ULID_TIME_CHARS, new_ulid

NAMESPACE = "schedules"
MAX_SCHEDULES = 100
MIN_INTERVAL_S = 300
MAX_INTERVAL_S = 365 * 86_400
MAX_CRON_CHARS = 100
MAX_PROBLEM_CHARS = 2000
# February 29 comes again after eight years at most; what has not come by then never does.
LOOKED_AHEAD_DAYS = 8 * 366
_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
_DAYS = "sun mon tue wed thu fri sat".split()
_NICKNAMES = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
}


@dataclass(frozen=True, slots=True)
class ScheduleTiming:
    """When a schedule is due: by a cron line (UTC), or so many seconds after the last run."""

    cron: str = ""
    interval_s: int = 0

    def next_s(self, after_s: float) -> float | None:
        """Return the next time after another."""
        return read_cron(self.cron).next_s(after_s) if self.cron else after_s + self.interval_s


@dataclass(frozen=True, slots=True)
class Schedule:
    """A crawl that is started again and again, or the crawls of all providers.

    Args:
        order: names no seed if it is for all providers, which are looked up at each run.
        coming_job: the name of the job that is being started now, if one is.
        problem: why the last run did not start.
    """

    id: str
    title: str
    order: CrawlOrder
    timing: ScheduleTiming
    created_at_s: float
    is_enabled: bool = True
    next_at_s: float | None = None
    last_at_s: float | None = None
    last_job: str = ""
    coming_job: str = ""
    problem: str = ""


async def create(
    desk: TenantService,
    order: CrawlOrder,
    timing: ScheduleTiming,
    *,
    title: str = "",
    is_enabled: bool = True,
) -> Schedule:
    """Keep a schedule; what could never be crawled is refused now."""
    _check(timing)
    for one in await _orders(desk, order):
        await plan_for(desk, one)
    schedule = Schedule(desk.new_id(), title, order, timing, desk.wall_s, is_enabled)
    schedule = _timed(schedule, desk.wall_s)
    async with desk.door:
        if await _values(desk).count() >= MAX_SCHEDULES:
            raise QuotaReached(f"there are {MAX_SCHEDULES} schedules, which is the limit")
        await _values(desk).add(schedule.id, schedule, due_at_s=schedule.next_at_s)
    return schedule


async def find(desk: TenantService, name: str) -> Schedule:
    """Find a schedule."""
    kept = await _values(desk).get(name) if crawls.JOB_ID.fullmatch(name) else None
    if kept is None:
        raise _unknown(name)
    return kept.value


async def page(desk: TenantService, *, after: str, limit: int) -> list[Schedule]:
    """List schedules in the order they were made, for paging."""
    return [kept.value for kept in await _values(desk).list(after=after, limit=limit)]


async def change(
    desk: TenantService,
    name: str,
    *,
    title: str | None = None,
    timing: ScheduleTiming | None = None,
    is_enabled: bool | None = None,
) -> Schedule:
    """Give a schedule other times, or let it rest."""
    await find(desk, name)
    if timing is not None:
        _check(timing)
    wall_s = desk.wall_s

    def changed(old: Schedule) -> Schedule:
        return _timed(
            replace(
                old,
                title=old.title if title is None else title,
                timing=timing or old.timing,
                is_enabled=old.is_enabled if is_enabled is None else is_enabled,
            ),
            wall_s,
        )

    found = await _values(desk).amend(name, changed, due=lambda one: one.next_at_s)
    if found is None:
        raise _unknown(name)
    return found


async def delete(desk: TenantService, name: str) -> None:
    """Delete a schedule; its crawls stay."""
    if not crawls.JOB_ID.fullmatch(name) or await _values(desk).remove(name) is None:
        raise _unknown(name)


async def start_due(service: Service, named: NamedValue) -> None:
    """Start the crawl of a schedule that is due, once, also if several processes try."""
    desk = service.desk(named.tenant)
    kept = _values(desk).read(named)
    if not kept.value.coming_job:
        started = replace(kept.value, coming_job=desk.new_id())
        if not await _values(desk).change(kept, started, due_at_s=named.due_at_s):
            return  # somebody else is at it
        kept = StoredValue(replace(named, revision=named.revision + 1), started)
    job, problem = await _run(desk, kept.value)
    await _conclude(desk, kept, job, problem)


async def _orders(desk: TenantService, order: CrawlOrder) -> list[CrawlOrder]:
    """Return the crawls that an order stands for; for all providers, of those that allow it."""
    if order.provider != EVERY_PROVIDER:
        return [order]
    known = providers.with_presets(await desk.world.store.providers.list())
    return [
        provider_order(provider, order.collection)
        for provider in known.values()
        if provider.tos_allows_crawling is not False
    ]


async def _run(desk: TenantService, schedule: Schedule) -> tuple[str, str]:
    """Start what is not started yet; return the last job, and why others could not be."""
    coming, last, problems = schedule.coming_job, "", []
    for order in await _orders(desk, schedule.order):
        is_alone = order == schedule.order
        job = coming if is_alone else _job_of(schedule, order.provider)
        if problem := await _start(desk, order, job):
            problems.append(problem if is_alone else f"{order.provider}: {problem}")
        else:
            last = job
    return last, "; ".join(problems)[:MAX_PROBLEM_CHARS]


def _job_of(schedule: Schedule, provider: str) -> str:
    """Name the job of one provider in a run, alike in every process that may be at it."""
    rng = random.Random(f"{schedule.coming_job} {provider}")
    return schedule.coming_job[:ULID_TIME_CHARS] + new_ulid(0.0, rng)[ULID_TIME_CHARS:]


async def _start(desk: TenantService, order: CrawlOrder, job: str) -> str:
    """Start a crawl unless it was; return why it could not be."""
    if await desk.world.store.jobs.get(job) is not None:
        return ""
    try:
        await crawls.start(desk, order, job_id=job)
    except GeomiError as error:  # it is told with the schedule, and the next run may do better
        is_there = await desk.world.store.jobs.get(job) is not None
        return "" if is_there else error.message  # another was faster with the same job
    return ""


async def _conclude(
    desk: TenantService, kept: StoredValue[Schedule], started: str, problem: str
) -> None:
    job, wall_s = kept.value.coming_job, desk.wall_s

    def done(old: Schedule) -> Schedule:
        if old.coming_job != job:
            return old
        ran = replace(
            old,
            coming_job="",
            problem=problem,
            last_at_s=wall_s,
            last_job=started or old.last_job,
        )
        return _timed(ran, wall_s)

    await _values(desk).amend(kept.name, done, due=lambda one: one.next_at_s)


def _timed(schedule: Schedule, wall_s: float) -> Schedule:
    """Set when a schedule is due next."""
    next_at_s = schedule.timing.next_s(wall_s) if schedule.is_enabled else None
    return replace(schedule, next_at_s=next_at_s)


def _check(timing: ScheduleTiming) -> None:
    if bool(timing.cron) == bool(timing.interval_s):
        raise FieldRefused("a schedule has either `cron` or `intervalSeconds`", field="cron")
    if timing.cron:
        with in_field("cron"):
            cron = read_cron(timing.cron)
        if cron.shortest_s < MIN_INTERVAL_S:
            raise FieldRefused(
                f"`{timing.cron}` repeats within {cron.shortest_s} seconds",
                field="cron",
                hint=f"leave at least {MIN_INTERVAL_S} seconds between two runs",
            )
    elif not MIN_INTERVAL_S <= timing.interval_s <= MAX_INTERVAL_S:
        raise FieldRefused(
            f"an interval must have {MIN_INTERVAL_S} to {MAX_INTERVAL_S:,} seconds",
            field="intervalSeconds",
        )


def _unknown(name: str) -> UnknownName:
    return UnknownName(f"there is no schedule `{name[:80]}`")


def _values(desk: TenantService) -> ValueNamespace[Schedule]:
    return ValueNamespace(desk.named_values, NAMESPACE, Schedule)


@dataclass(frozen=True, slots=True)
class Cron:
    """A schedule that was read."""

    text: str
    minutes: frozenset[int]
    hours: frozenset[int]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]
    is_either_day: bool

    @property
    def shortest_s(self) -> int:
        """How soon one run may follow another, at least."""
        minutes = sorted(self.minutes)
        following = [*minutes[1:], minutes[0] + 60]
        return 60 * min(later - now for now, later in zip(minutes, following, strict=True))

    def next_s(self, after_s: float) -> float | None:
        """Return the first time after another when it is due; None if there is none."""
        at = datetime.fromtimestamp(after_s, UTC).replace(second=0, microsecond=0)
        at += timedelta(minutes=1)
        last = at + timedelta(days=LOOKED_AHEAD_DAYS)
        while at < last:
            if not self._is_day(at):
                at = (at + timedelta(days=1)).replace(hour=0, minute=0)
            elif at.hour not in self.hours:
                at = (at + timedelta(hours=1)).replace(minute=0)
            elif at.minute not in self.minutes:
                at += timedelta(minutes=1)
            else:
                return at.timestamp()
        return None

    def _is_day(self, at: datetime) -> bool:
        if at.month not in self.months:
            return False
        is_day, is_weekday = at.day in self.days, at.isoweekday() % 7 in self.weekdays
        return is_day or is_weekday if self.is_either_day else is_day and is_weekday


def read_cron(text: str) -> Cron:
    """Read `minute hour day month weekday`; `ConfigError` names the field that is not valid."""
    fields = _NICKNAMES.get(text.strip().lower(), text).lower().split()
    if len(text) > MAX_CRON_CHARS or len(fields) != 5:
        raise ConfigError(
            f"`{text[:MAX_CRON_CHARS]}` does not have five fields",
            hint="minute hour day month weekday, such as `0 3 * * 1`",
        )
    minute, hour, day, month, weekday = fields
    cron = Cron(
        text,
        _read_field(minute, "minute", 0, 59),
        _read_field(hour, "hour", 0, 23),
        _read_field(day, "day", 1, 31),
        _read_field(month, "month", 1, 12, ["", *_MONTHS]),
        frozenset(number % 7 for number in _read_field(weekday, "weekday", 0, 7, _DAYS)),
        is_either_day=not day.startswith("*") and not weekday.startswith("*"),
    )
    if cron.next_s(0.0) is None:
        raise ConfigError(f"`{text}` never occurs", hint="the month does not have that day")
    return cron


def _read_field(
    text: str, field: str, low: int, high: int, names: list[str] | None = None
) -> frozenset[int]:
    found: set[int] = set()
    for part in text.split(","):
        span, slash, step = part.partition("/")
        first, dash, last = span.partition("-")
        if span == "*":
            start, end = low, high
        else:
            start = _read_number(first, field, text, names)
            end = _read_number(last, field, text, names) if dash else (high if slash else start)
        many = _read_number(step, field, text) if slash else 1
        if not (low <= start <= end <= high and many > 0):
            raise _nonsense(field, text)
        found.update(range(start, end + 1, many))
    return frozenset(found)


def _read_number(text: str, field: str, whole: str, names: list[str] | None = None) -> int:
    if text.isascii() and text.isdigit() and len(text) <= 4:
        return int(text)
    if names and text and text in names:
        return names.index(text)
    raise _nonsense(field, whole)


def _nonsense(field: str, text: str) -> ConfigError:
    return ConfigError(f"the {field} `{text}` is not valid", hint="such as `0 3 * * 1`")
