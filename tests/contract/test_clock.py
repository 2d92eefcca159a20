"""Scheduling time never runs backwards: not after a restart, a reboot, or a set clock."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

import pytest

from geomi.adapters.clock import (
    Readings,
    SystemClock,
    open_clock,
    open_shared_clock,
    system_readings,
)
from geomi.adapters.ledger.anchor import Anchor
from geomi.adapters.memory import MemoryStore, open_memory
from geomi.testing.clock import HandClock
from geomi.testing.contracts.material import (
    batch,
    begin,
    claim,
    give_back,
    url,
    waits,
)

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
    await begin(store, url())
    (lease,) = await claim(store)
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
    store.set_anchor(Anchor("boot-1", 50.0, 1_400_000.0), instead_of=None)
    machine = Machine(boot="boot-2", up_s=3.0, wall_s=wall_s)
    assert machine.open(store).now_s() == now_s
    machine.pass_time(4)
    assert machine.open(store).now_s() == now_s + 4


@waits
async def test_a_boot_clock_that_went_back_is_another_clock() -> None:
    store = await _store_with_last_end(1_500_000.0)
    store.set_anchor(Anchor("boot-1", 9_000.0, 1_500_000.0), instead_of=None)
    assert Machine(up_s=8_000.0).open(store).now_s() == 1_500_000.0


@waits
async def test_without_a_boot_clock_nothing_is_stored() -> None:
    store = await _store_with_last_end(1_500_000.0)
    machine = Machine(boot="")
    clock = machine.open(store)
    machine.pass_time(1)
    assert clock.now_s() == 1_500_001.0
    assert store.anchor() is None


@dataclass(frozen=True, slots=True)
class Server:
    """A store whose server has a clock of its own."""

    now_s: float
    last_end_s: float = 0.0

    def time_s(self) -> float:
        return self.now_s

    def greatest_end_s(self) -> float:
        return self.last_end_s


@pytest.mark.parametrize("wrong_s", [-DAY_S, 0.0, DAY_S])
def test_machines_that_share_a_server_share_its_time(wrong_s: float) -> None:
    machine = Machine(wall_s=1_000_000.0 + wrong_s)
    clock = open_shared_clock(Server(1_000_000.0), machine.readings())
    assert clock.now_s() == 1_000_000.0
    machine.pass_time(5)
    machine.wall_s -= HOUR_S
    assert clock.now_s() == 1_000_005.0
    assert clock.wall_s() == 1_000_005.0 + wrong_s - HOUR_S


def test_the_time_of_a_server_is_not_before_the_last_response() -> None:
    clock = open_shared_clock(Server(1_000_000.0, 1_000_060.0), Machine().readings())
    assert clock.now_s() == 1_000_060.0


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
