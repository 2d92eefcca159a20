"""What costly requests of a tenant may take: measured on the loop and in threads, and refilled."""

from __future__ import annotations

import asyncio
import time

import pytest

from geomi.adapters.machine.threads import MeasuredThreads
from geomi.errors import QuotaReached, StoreBusy
from geomi.service import cpu_budget
from geomi.service.cpu_budget import CpuBudget, LoopPace
from tests.support.waiting import waits


def burn(seconds: float) -> str:
    """Take some CPU."""
    end_s = time.thread_time() + seconds
    while time.thread_time() < end_s:
        pass
    return "done"


async def burn_in_steps(steps: int, seconds: float) -> int:
    """Take some CPU on the loop, step by step."""
    for _ in range(steps):
        burn(seconds)
        await asyncio.sleep(0)
    return steps


@waits
async def test_who_has_spent_it_is_told_when_to_come_again() -> None:
    """The last piece may take more than was left; then it refills."""
    budget = CpuBudget(0.1, LoopPace())
    assert await budget.spend(burn_in_steps, 1, 0.12) == 1
    with pytest.raises(QuotaReached, match=r"0\.1 s of CPU") as refusal:
        await budget.spend(burn_in_steps, 1, 0)
    assert refusal.value.retry_after_s > 0
    budget._at_s -= refusal.value.retry_after_s
    assert await budget.spend(burn_in_steps, 1, 0) == 1


@waits
async def test_what_is_under_way_ends_with_the_budget() -> None:
    """Of two budgets: else one request could take as much as ten thousand may."""
    budget = CpuBudget(0.05, LoopPace())
    assert await budget.spend(burn_in_steps, 3, 0.02) == 3
    budget = CpuBudget(0.05, LoopPace())
    with pytest.raises(QuotaReached):
        await budget.spend(burn_in_steps, 1000, 0.01)


@waits
async def test_threads_are_charged() -> None:
    """Those of the loop, as the service opens it."""
    asyncio.get_running_loop().set_default_executor(MeasuredThreads())
    budget = CpuBudget(0.1, LoopPace())
    assert await budget.in_thread(burn, 0.12) == "done"
    with pytest.raises(QuotaReached):
        await budget.in_thread(burn, 0)


@waits
async def test_nested_work_is_charged_once() -> None:
    """A preview reads an order, which is such work itself."""
    budget = CpuBudget(1.0, LoopPace())

    async def outer() -> None:
        await budget.spend(burn_in_steps, 1, 0.1)

    await budget.spend(outer)
    assert 0.81 < budget._left_s < 0.95


@waits
async def test_other_tenants_and_no_limit() -> None:
    """Each tenant has its own; 0 is no limit."""
    pace = LoopPace()
    for budget in (CpuBudget(0.05, pace), CpuBudget(0.05, pace), CpuBudget(0, pace)):
        assert await budget.spend(burn_in_steps, 1, 0.06) == 1
    assert await budget.spend(burn_in_steps, 1, 0) == 1


def test_costly_work_of_all_gets_half_of_the_loop() -> None:
    """Whoever has just taken a slice waits for the slices of all others, too."""
    pace = LoopPace()
    waits_s = [pace.wait_s(10.0) for _ in range(3)]
    assert [round(wait_s, -1) for wait_s in waits_s] == [20, 40, 60]


@waits
async def test_an_error_is_raised_as_itself_and_a_cancel_reaches_the_work() -> None:
    """As if nobody measured."""
    ended: list[str] = []

    async def fail() -> None:
        await asyncio.sleep(0)
        raise ValueError("no")

    async def wait() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("cleaned up")

    budget = CpuBudget(60, LoopPace())
    with pytest.raises(ValueError, match="no"):
        await budget.spend(fail)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await budget.spend(wait)
    assert ended == ["cleaned up"]


@waits
async def test_a_thread_has_a_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who waits for the answer is told."""
    monkeypatch.setattr(cpu_budget, "DEADLINE_S", 0.01)
    with pytest.raises(StoreBusy, match="longer than"):
        await CpuBudget(60, LoopPace()).in_thread(burn, 0.2)
