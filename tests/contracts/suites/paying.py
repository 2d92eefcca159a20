"""Costs: what is added stays added, whoever adds at the same time, and whatever is deleted."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from geomi.adapters.store.rows import MAX_NAME_BYTES
from geomi.adapters.store.tables.costs import MAX_AMOUNT
from geomi.errors import StoreError
from geomi.model.index.language_model import CostLine, ModelPurpose
from geomi.model.site import Takedown
from geomi.ports.store import Store
from tests.contracts.suites.crowding import WORKERS, at_once
from tests.contracts.suites.handles import Stores
from tests.contracts.suites.keeping import keep
from tests.contracts.suites.material import page, url
from tests.support.waiting import waits

__all__ = ["TestCosts", "cost"]

LONGEST = "m" * MAX_NAME_BYTES


def cost(
    day: str = "2025-01-31",
    *,
    job: str = "job",
    purpose: ModelPurpose = ModelPurpose.CLASSIFY,
    model: str = "small",
    amount: int = 1,
) -> CostLine:
    """Return a line whose amounts differ from one another."""
    return CostLine(job, day, purpose, "local", model, amount, 0, amount * 7, amount * 3, amount)


class TestCosts:
    """The ledger of what models were paid."""

    @waits
    async def test_lines_of_one_key_add_up(self, stores: Stores) -> None:
        costs = stores("local").costs
        await costs.add([])
        await costs.add([cost(), cost(amount=2), replace(cost(), failures=1)])
        await costs.add([cost(amount=10), cost("2025-02-01")])
        first = CostLine(
            "job", "2025-01-31", ModelPurpose.CLASSIFY, "local", "small", 14, 1, 98, 42, 14
        )
        assert await costs.list("job") == [first, cost("2025-02-01")]
        assert await costs.spent("job") == 15
        assert (await costs.list("none"), await costs.spent("none")) == ([], 0)

    @waits
    async def test_lines_are_in_the_order_of_day_job_purpose_and_model(
        self, stores: Stores
    ) -> None:
        costs = stores("local").costs
        lines = [
            cost("2025-01-01", job="z"),
            cost(job="a", purpose=ModelPurpose.SUMMARIZE),
            cost(job="b", model="Large"),
            replace(cost(job="b"), provider="elsewhere"),
            cost(job="b"),
            cost(job="b", purpose=ModelPurpose.EMBED),
            cost(job="b", purpose=ModelPurpose.SUMMARIZE, model="large"),
            cost("2025-02-01", job="a"),
        ]
        await costs.add(lines[::-1])
        assert await costs.list() == lines
        assert await costs.list("a") == [lines[1], lines[7]]

    @waits
    async def test_tenants_pay_for_themselves(self, stores: Stores) -> None:
        ours, theirs = stores("local").costs, stores("stranger").costs
        await ours.add([cost()])
        await theirs.add([cost(amount=5)])
        assert (await ours.list(), await theirs.list()) == ([cost()], [cost(amount=5)])
        assert (await ours.spent("job"), await theirs.spent("job")) == (1, 5)

    @waits
    async def test_large_amounts_are_exact(self, stores: Stores) -> None:
        costs = stores("local").costs
        large = replace(cost(), micros=MAX_AMOUNT, tokens_in=MAX_AMOUNT)
        await costs.add([large, cost()])
        await costs.add([large])
        (line,) = await costs.list()
        assert (line.micros, line.tokens_in) == (2 * MAX_AMOUNT + 1, 2 * MAX_AMOUNT + 7)
        await costs.add([replace(large, model="other")])
        assert await costs.spent("job") == 3 * MAX_AMOUNT + 1

    @pytest.mark.parametrize(
        "wrong",
        [
            replace(cost(), micros=MAX_AMOUNT + 1),
            replace(cost(), tokens_out=-1),
            replace(cost(), calls=-1),
            replace(cost(), job=LONGEST + "x"),
            replace(cost(), day=LONGEST + "x"),
            replace(cost(), model=LONGEST + "x"),
            replace(cost(), provider=LONGEST + "x"),
        ],
        ids=["large", "negative", "calls", "job", "day", "model", "provider"],
    )
    @waits
    async def test_what_cannot_be_kept_is_refused(self, stores: Stores, wrong: CostLine) -> None:
        costs = stores("local").costs
        with pytest.raises(StoreError):
            await costs.add([cost(), wrong])
        assert await costs.list() == []

    @waits
    async def test_names_may_be_as_long_as_keys_allow(self, stores: Stores) -> None:
        longest = replace(cost(job=LONGEST, model=LONGEST), provider=LONGEST)
        await stores("local").costs.add([longest])
        assert await stores("local").costs.list(LONGEST) == [longest]

    @waits
    async def test_what_was_paid_outlives_its_job_and_its_pages(self, stores: Stores) -> None:
        store = stores("local")
        await keep(store, page(url("/0")))
        await store.costs.add([cost()])
        await store.providers.erase(Takedown("k", "n", "r", 5.0, 1, 1), [url("/0").url_hash])
        await store.jobs.delete("job")
        assert await store.costs.list("job") == [cost()]

    @waits
    async def test_tasks_that_add_at_once_lose_nothing(self, stores: Stores) -> None:
        costs = stores("local").costs
        async with asyncio.TaskGroup() as group:
            for _ in range(20):
                group.create_task(costs.add([cost(), cost("2025-02-01", amount=2)]))
        assert await costs.list() == [cost(amount=20), cost("2025-02-01", amount=40)]

    def test_workers_that_add_at_once_lose_nothing(self, durable_stores: Stores) -> None:
        async def add(store: Store) -> None:
            for number in range(10):
                days = [cost(f"2025-01-{day:02}") for day in range(1, 9)]
                await store.costs.add(days if number % 2 else days[::-1])

        store = durable_stores("local")
        at_once(durable_stores, lambda each, _: asyncio.run(add(each)))
        assert asyncio.run(store.costs.spent("job")) == WORKERS * 10 * 8
