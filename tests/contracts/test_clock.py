"""Scheduling time never runs backwards: not after a restart, a reboot, or a set clock."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pytest

from geomi.adapters.machine.clock import (
    LEAD_RATE,
    MOST_DRIFT_S,
    Readings,
    SystemClock,
    keep_time,
    open_clock,
    open_shared_clock,
    system_readings,
)
from geomi.ports.runtime import ClockAnchor, ClockComparison
from tests.contracts.reference import MemoryStore, open_memory
from tests.contracts.suites.material import batch, begin, claim, give_back, job, url
from tests.support.clock import HandClock
from tests.support.stores import with_parts
from tests.support.waiting import waits

HOUR_S, DAY_S = 3600.0, 86_400.0


@dataclass(slots=True)
class Machine:
    """A machine whose clocks a test sets."""

    boot: str = "boot-1"
    up_s: float = 50.0
    wall_s: float = 1_000_000.0

    def pass_time(self, seconds: float) -> None:
        self.up_s += seconds
        self.wall_s += seconds

    def readings(self) -> Readings:
        return Readings(self.boot, lambda: self.up_s, lambda: self.wall_s)

    def open(self, store: MemoryStore) -> SystemClock:
        return open_clock(store, self.readings())


async def _store_with_last_end(end_s: float) -> MemoryStore:
    store = open_memory("local")
    handles = with_parts(store)
    await begin(handles, url())
    (lease,) = await claim(handles)
    await store.frontier.settle(batch(give_back(lease, end_s=end_s)))
    return store


def test_time_begins_at_the_wall_clock_and_passes() -> None:
    machine = Machine()
    clock = machine.open(open_memory("local"))
    assert clock.now_s() == clock.wall_s() == 1_000_000.0
    machine.pass_time(12.5)
    assert clock.now_s() == 1_000_012.5


@pytest.mark.parametrize("jump_s", [-10.0, -HOUR_S, HOUR_S, -DAY_S, DAY_S])
def test_a_set_clock_changes_nothing_now_or_after_a_restart(jump_s: float) -> None:
    machine, store = Machine(), open_memory("local")
    clock = machine.open(store)
    machine.pass_time(5)
    machine.wall_s += jump_s
    assert clock.now_s() == 1_000_005.0
    assert machine.open(store).now_s() == 1_000_005.0
    assert clock.wall_s() == 1_000_005.0 + jump_s


def test_all_processes_of_a_store_share_one_axis() -> None:
    machine, store = Machine(), open_memory("local")
    first = machine.open(store)
    machine.pass_time(7)
    machine.wall_s += 99
    second = machine.open(store.open_for("other"))
    assert first.now_s() == second.now_s()


@pytest.mark.parametrize(
    ("wall_s", "now_s"), [(2_000_000.0, 2_000_000.0), (500.0, 1_500_000.0)], ids=["later", "behind"]
)
@waits
async def test_after_a_reboot_time_is_not_before_the_last_response(
    wall_s: float, now_s: float
) -> None:
    store = await _store_with_last_end(1_500_000.0)
    store.set_anchor(ClockAnchor("boot-1", 50.0, 1_400_000.0), instead_of=None)
    machine = Machine(boot="boot-2", up_s=3.0, wall_s=wall_s)
    assert machine.open(store).now_s() == now_s
    machine.pass_time(4)
    assert machine.open(store).now_s() == now_s + 4


@waits
async def test_after_a_reboot_before_the_first_response_nothing_waits_for_the_clock() -> None:
    """A crawl began, the machine started again with its clock a day back: it goes on at once.

    The explorer of the claim protocol found it: claim, pass, reboot.
    """
    machine, store = Machine(), open_memory("local")
    handles = with_parts(store)
    began_s = machine.open(store).now_s()
    await handles.jobs.create(job())
    await handles.frontier.add("job", [url()], now_s=began_s)
    machine.boot, machine.up_s, machine.wall_s = "boot-2", 3.0, began_s - DAY_S
    now_s = machine.open(store).now_s()
    assert len(await claim(handles, now_s=now_s)) == 1


@waits
async def test_a_boot_clock_that_went_back_is_another_clock() -> None:
    store = await _store_with_last_end(1_500_000.0)
    store.set_anchor(ClockAnchor("boot-1", 9_000.0, 1_500_000.0), instead_of=None)
    assert Machine(up_s=8_000.0).open(store).now_s() == 1_500_000.0


@waits
async def test_without_a_boot_clock_nothing_is_stored() -> None:
    store = await _store_with_last_end(1_500_000.0)
    machine = Machine(boot="")
    clock = machine.open(store)
    machine.pass_time(1)
    assert clock.now_s() == 1_500_001.0
    assert store.anchor() is None


@dataclass(slots=True)
class Server:
    """A store whose server has a clock of its own."""

    now_s: float
    offset_s: float = 0.0

    def time_s(self) -> float:
        return self.now_s + self.offset_s

    async def compare(self, now_s: Callable[[], float]) -> ClockComparison:
        return ClockComparison(self.time_s() - now_s(), self.offset_s)

    async def set_offset(self, offset_s: float, *, instead_of: float) -> bool:
        is_ours = instead_of == self.offset_s
        self.offset_s = offset_s if is_ours else self.offset_s
        return is_ours


@pytest.mark.parametrize("wrong_s", [-DAY_S, 0.0, DAY_S])
def test_machines_that_share_a_server_share_its_time(wrong_s: float) -> None:
    machine = Machine(wall_s=1_000_000.0 + wrong_s)
    clock = open_shared_clock(Server(1_000_000.0), least_s=0.0, readings=machine.readings())
    assert clock.now_s() == 1_000_000.0
    machine.pass_time(5)
    machine.wall_s -= HOUR_S
    assert clock.now_s() == 1_000_005.0
    assert clock.wall_s() == 1_000_005.0 + wrong_s - HOUR_S


def test_the_time_of_a_server_is_not_before_the_last_response() -> None:
    clock = open_shared_clock(
        Server(1_000_000.0), least_s=1_000_060.0, readings=Machine().readings()
    )
    assert clock.now_s() == 1_000_060.0


@dataclass
class Fleet:
    """Some machines that share a server; each keeps its time at every beat."""

    server: Server
    machines: list[Machine]
    clocks: list[SystemClock]
    beats_s: list[float]

    def pass_time(self, seconds: float, *, stopped: Sequence[int] = ()) -> None:
        self.server.now_s += seconds
        for number, machine in enumerate(self.machines):
            machine.pass_time(0.0 if number in stopped else seconds)

    async def beat(self, *numbers: int) -> list[float]:
        """Let machines keep their time, then beat; return the jumps they met."""
        jumps = []
        for number in numbers or range(len(self.machines)):
            others_s = [at_s for other, at_s in enumerate(self.beats_s) if other != number]

            async def beats_s(told_s: list[float] = others_s) -> list[float]:
                return told_s

            jumps.append(await keep_time(self.clocks[number], self.server, beats_s))
            self.beats_s[number] = self.clocks[number].now_s()
        return jumps

    def times_s(self) -> list[float]:
        return [clock.now_s() for clock in self.clocks]


def fleet(many: int) -> Fleet:
    server, machines = Server(1_000_000.0), [Machine() for _ in range(many)]
    clocks = [
        open_shared_clock(server, least_s=0.0, readings=machine.readings()) for machine in machines
    ]
    return Fleet(server, machines, clocks, [1_000_000.0] * many)


@pytest.mark.parametrize("jump_s", [-DAY_S, -HOUR_S, -30.0, 5.0, HOUR_S, DAY_S])
@pytest.mark.parametrize("many", [1, 3])
@waits
async def test_a_server_whose_clock_is_set_takes_no_time_from_anybody(
    jump_s: float, many: int
) -> None:
    """A jump ahead shortens no rest, a jump back freezes nobody; who comes later agrees."""
    workers = fleet(many)
    workers.pass_time(10)
    await workers.beat()
    workers.server.now_s += jump_s
    assert workers.times_s() == [1_000_010.0] * many
    workers.pass_time(10)
    jumps = await workers.beat()
    assert jumps == [pytest.approx(jump_s)] + [0.0] * (many - 1), "the first takes it back for all"
    assert workers.times_s() == [pytest.approx(1_000_020.0, abs=0.01)] * many
    late = open_shared_clock(workers.server, least_s=0.0, readings=Machine().readings())
    assert late.now_s() == pytest.approx(1_000_020.0, abs=0.01)


@waits
async def test_after_a_small_jump_back_all_agree_again() -> None:
    """Each may wait once, because it may as well be its own clock that is ahead."""
    workers = fleet(2)
    workers.pass_time(10)
    await workers.beat()
    workers.server.now_s -= 5
    workers.pass_time(10)
    await workers.beat()
    assert min(workers.times_s()) >= 1_000_020.0
    for _ in range(3):
        workers.pass_time(10)
        jumps = await workers.beat()
    assert jumps == [0.0, 0.0]
    one_s, other_s = workers.times_s()
    assert one_s == pytest.approx(other_s, abs=0.1)
    assert 1_000_040.0 <= one_s <= 1_000_050.0


@waits
async def test_a_machine_that_stood_still_is_set_forward() -> None:
    """Its leases are over, and it has to know; the others lose nothing."""
    workers = fleet(2)
    workers.pass_time(10)
    await workers.beat()
    workers.pass_time(300, stopped=[0])
    await workers.beat(1)
    assert await workers.beat(0) == [pytest.approx(300)]
    assert workers.times_s() == [pytest.approx(1_000_310.0, abs=0.01)] * 2
    assert workers.server.offset_s == 0.0


@waits
async def test_a_clock_that_runs_ahead_of_the_others_waits_for_them() -> None:
    workers = fleet(2)
    workers.pass_time(10)
    workers.machines[0].pass_time(30)
    await workers.beat(1)
    assert await workers.beat(0) == [pytest.approx(-30)]
    workers.pass_time(10)
    assert workers.times_s() == [1_000_040.0, 1_000_020.0]
    workers.pass_time(25)
    assert workers.times_s() == [pytest.approx(1_000_045.0, abs=0.01)] * 2
    assert workers.server.offset_s == 0.0


@pytest.mark.parametrize("drift", [-0.0004, 0.0004, 0.01])
@waits
async def test_a_clock_that_drifts_is_led_back_slowly(drift: float) -> None:
    """As fast as half a second in a thousand: what a rest loses by it nobody can measure."""
    workers = fleet(1)
    for _ in range(100):
        before_s = workers.clocks[0].now_s()
        workers.pass_time(10)
        workers.server.now_s += 10 * drift
        await workers.beat()
        passed_s = workers.clocks[0].now_s() - before_s
        assert 10 - 0.0051 <= passed_s <= 10 + 0.0051 or abs(drift) > LEAD_RATE
    behind_s = workers.server.time_s() - workers.clocks[0].now_s()
    assert abs(behind_s) < (0.01 if abs(drift) < LEAD_RATE else MOST_DRIFT_S + 0.1)


@waits
async def test_time_never_runs_backwards_whatever_is_measured() -> None:
    workers, rng = fleet(2), random.Random(5)
    last_s = workers.times_s()
    for _ in range(300):
        workers.pass_time(rng.uniform(0, 20), stopped=rng.choice([[], [], [0], [1]]))
        workers.server.now_s += rng.choice([0, 0, 0, rng.uniform(-100, 100)])
        await workers.beat(*rng.choice([(0,), (1,), (0, 1)]))
        now_s = workers.times_s()
        assert all(now >= last for now, last in zip(now_s, last_s, strict=True))
        last_s = now_s


def test_this_machines_clocks_can_be_read() -> None:
    readings = system_readings()
    assert readings.passing_s() <= readings.passing_s()
    assert readings.wall_s() > 1_600_000_000


@waits
async def test_sleeping_ends_at_the_hour() -> None:
    clock = open_clock(open_memory("local"))
    when_s = clock.now_s() + 0.01
    await clock.sleep_until(when_s)
    assert clock.now_s() >= when_s
    await clock.sleep_until(when_s - 100)


@waits
async def test_a_hand_clock_wakes_sleepers_at_their_hour() -> None:
    clock, woken = HandClock(100.0), []

    async def sleep(until_s: float) -> None:
        await clock.sleep_until(until_s)
        woken.append(until_s)

    async with asyncio.TaskGroup() as group:
        for until_s in (110.0, 105.0, 90.0):
            group.create_task(sleep(until_s))
        await asyncio.sleep(0)
        assert (woken, clock.next_wake_s) == ([90.0], 105.0)
        clock.advance(5)
        await asyncio.sleep(0)
        assert (woken, clock.next_wake_s) == ([90.0, 105.0], 110.0)
        clock.advance(50)
    assert woken == [90.0, 105.0, 110.0]
    assert (clock.now_s(), clock.wall_s(), clock.next_wake_s) == (155.0, 155.0, None)


@waits
async def test_a_cancelled_sleeper_is_forgotten() -> None:
    clock = HandClock()
    sleeper = asyncio.ensure_future(clock.sleep_until(clock.now_s() + 1))
    await asyncio.sleep(0)
    sleeper.cancel()
    with pytest.raises(asyncio.CancelledError):
        await sleeper
    assert clock.next_wake_s is None
