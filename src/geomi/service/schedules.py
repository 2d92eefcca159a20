"""Schedules: crawls that are started again and again, by a cron line or an interval.

A run happens once: the name of its job is written down before there is a job, so that whoever died
in between left word of it. Runs that were missed are not made up for.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from geomi.errors import FieldRefused, GeomiError, QuotaReached, UnknownName
from geomi.model.named_value import NamedValue
from geomi.service import crawls
from geomi.service.cron import read_cron
from geomi.service.drawer import Drawer, Kept
from geomi.service.open import Desk, Service
from geomi.service.orders import CrawlOrder, naming, plan_for

DRAWER = "schedules"
MAX_SCHEDULES = 100
MIN_INTERVAL_S = 300
MAX_INTERVAL_S = 365 * 86_400


@dataclass(frozen=True, slots=True)
class Timing:
    """When a schedule is due: by a cron line (UTC), or so many seconds after the last run."""

    cron: str = ""
    interval_s: int = 0

    def next_s(self, after_s: float) -> float | None:
        """Return the next time after another."""
        return read_cron(self.cron).next_s(after_s) if self.cron else after_s + self.interval_s


@dataclass(frozen=True, slots=True)
class Schedule:
    """A crawl that is started again and again.

    Args:
        coming_job: the name of the job that is being started now, if one is.
        problem: why the last run did not start.
    """

    id: str
    title: str
    order: CrawlOrder
    timing: Timing
    created_at_s: float
    is_enabled: bool = True
    next_at_s: float | None = None
    last_at_s: float | None = None
    last_job: str = ""
    coming_job: str = ""
    problem: str = ""


async def create(
    desk: Desk, order: CrawlOrder, timing: Timing, *, title: str = "", is_enabled: bool = True
) -> Schedule:
    """Keep a schedule; what could never be crawled is refused now."""
    _check(timing)
    plan_for(desk, order)
    schedule = Schedule(desk.new_id(), title, order, timing, desk.wall_s, is_enabled)
    schedule = _timed(schedule, desk.wall_s)
    async with desk.door:
        if await _drawer(desk).count() >= MAX_SCHEDULES:
            raise QuotaReached(f"there are {MAX_SCHEDULES} schedules, which is the limit")
        await _drawer(desk).add(schedule.id, schedule, due_at_s=schedule.next_at_s)
    return schedule


async def find(desk: Desk, name: str) -> Schedule:
    """Find a schedule."""
    kept = await _drawer(desk).get(name) if crawls.ID.fullmatch(name) else None
    if kept is None:
        raise _unknown(name)
    return kept.value


async def page(desk: Desk, *, after: str, limit: int) -> list[Schedule]:
    """List schedules in the order they were made, for paging."""
    return [kept.value for kept in await _drawer(desk).list(after=after, limit=limit)]


async def change(
    desk: Desk,
    name: str,
    *,
    title: str | None = None,
    timing: Timing | None = None,
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

    found = await _drawer(desk).amend(name, changed, due=lambda one: one.next_at_s)
    if found is None:
        raise _unknown(name)
    return found


async def delete(desk: Desk, name: str) -> None:
    """Forget a schedule; the crawls that it has started stay."""
    if not crawls.ID.fullmatch(name) or await _drawer(desk).remove(name) is None:
        raise _unknown(name)


async def fire(service: Service, slip: NamedValue) -> None:
    """Start the crawl of a schedule that is due, once, whoever else is at it."""
    desk = service.desk(slip.tenant)
    kept = _drawer(desk).read(slip)
    if not kept.value.coming_job:
        named = replace(kept.value, coming_job=desk.new_id())
        if not await _drawer(desk).change(kept, named, due_at_s=slip.due_at_s):
            return  # somebody else is at it
        kept = Kept(replace(slip, revision=slip.revision + 1), named)
    problem = await _run(desk, kept.value)
    await _conclude(desk, kept, problem)


async def _run(desk: Desk, schedule: Schedule) -> str:
    """Start the crawl unless it was; return why it could not be."""
    if await desk.world.jobs.get(schedule.coming_job) is not None:
        return ""
    try:
        await crawls.start(desk, schedule.order, job_id=schedule.coming_job)
    except GeomiError as error:  # it is told with the schedule, and the next run may do better
        is_there = await desk.world.jobs.get(schedule.coming_job) is not None
        return "" if is_there else error.message  # another was faster with the same job
    return ""


async def _conclude(desk: Desk, kept: Kept[Schedule], problem: str) -> None:
    job, wall_s = kept.value.coming_job, desk.wall_s

    def done(old: Schedule) -> Schedule:
        if old.coming_job != job:
            return old
        ran = replace(
            old,
            coming_job="",
            problem=problem,
            last_at_s=wall_s,
            last_job=old.last_job if problem else job,
        )
        return _timed(ran, wall_s)

    await _drawer(desk).amend(kept.name, done, due=lambda one: one.next_at_s)


def _timed(schedule: Schedule, wall_s: float) -> Schedule:
    """Set when a schedule is due next."""
    next_at_s = schedule.timing.next_s(wall_s) if schedule.is_enabled else None
    return replace(schedule, next_at_s=next_at_s)


def _check(timing: Timing) -> None:
    if bool(timing.cron) == bool(timing.interval_s):
        raise FieldRefused("a schedule has either `cron` or `intervalSeconds`", field="cron")
    if timing.cron:
        with naming("cron"):
            cron = read_cron(timing.cron)
        if cron.shortest_s < MIN_INTERVAL_S:
            raise FieldRefused(
                f"`{timing.cron}` comes again within {cron.shortest_s} seconds",
                field="cron",
                hint=f"let {MIN_INTERVAL_S} seconds lie between two runs",
            )
    elif not MIN_INTERVAL_S <= timing.interval_s <= MAX_INTERVAL_S:
        raise FieldRefused(
            f"an interval has {MIN_INTERVAL_S} to {MAX_INTERVAL_S:,} seconds",
            field="intervalSeconds",
        )


def _unknown(name: str) -> UnknownName:
    return UnknownName(f"no schedule is called `{name[:80]}`")


def _drawer(desk: Desk) -> Drawer[Schedule]:
    return Drawer(desk.slips, DRAWER, Schedule)
