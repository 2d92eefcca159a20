"""How many URLs may wait, and what becomes of those that are too many."""

from __future__ import annotations

from dataclasses import replace

import pytest

from geomi.model.entry import Discovered, Settled
from geomi.model.job import CrawlJob, JobState
from geomi.model.verdict import Outcome, State
from geomi.ports.store import Store
from tests.contracts.suites.handles import Stores
from tests.contracts.suites.material import (
    DELAY_S,
    START_S,
    batch,
    begin,
    claim,
    claim_one,
    config,
    give_back,
    job,
    url,
    visit,
)
from tests.support.waiting import waits

__all__ = ["TestBudgets"]

OF_ALL = "geomi.max_queued"
OF_JOB = "limits.max_queued"
OF_HOST = "limits.max_queued_per_host"
OF_PATTERN = "limits.max_queued_per_pattern"


class TestBudgets:
    """No site, and no endless part of one, fills the frontier; nothing is dropped in silence."""

    @pytest.mark.req("G-03")
    @waits
    async def test_what_is_too_much_for_a_job_is_counted_with_examples(
        self, stores: Stores
    ) -> None:
        store = stores("local")
        await begin(store, url(), rules=config(queued=(3, 0, 0)))
        found = [*(url(f"/{n}") for n in range(3)), url("/", "b.test"), url("/", "c.test")]
        settled = await _find(store, found)
        assert (settled.new_urls, len(settled.left_out)) == (3, 2)
        assert settled.left_out == {found[3].url_hash, found[4].url_hash}
        examples = ("http://b.test/", "http://c.test/")
        assert dict(await store.census.exclusions("job")) == {OF_JOB: (2, examples)}
        told = await store.jobs.get("job")
        assert told is not None and told.stats.discovered == 4

    @pytest.mark.req("FRN-15", "G-03")
    @waits
    async def test_what_is_too_much_for_all_jobs_together_is_counted(self, stores: Stores) -> None:
        store = stores("local")
        store.frontier.max_queued = 6
        await _waiting(stores("other"), "other", 2, tenant="other")
        paused = await _waiting(store, "paused", 2)
        await store.jobs.update(replace(paused, paused=True))
        await begin(store, url())
        settled = await _find(store, [url(f"/{n}") for n in range(5)])
        assert (settled.new_urls, len(settled.left_out)) == (2, 3)
        assert (await store.census.exclusions("job"))[OF_ALL][0] == 3
        assert await store.census.exclusions("paused") == {}

    @waits
    async def test_what_a_job_that_is_over_has_left_takes_no_room(self, stores: Stores) -> None:
        store = stores("local")
        store.frontier.max_queued = 4
        over = await _waiting(store, "over", 3)
        await store.jobs.update(replace(over, state=JobState.COMPLETED, ended_at_s=START_S))
        await begin(store, url())
        settled = await _find(store, [url(f"/{n}") for n in range(5)])
        assert (settled.new_urls, len(settled.left_out)) == (4, 1)

    @waits
    async def test_the_narrower_limit_is_named(self, stores: Stores) -> None:
        store = stores("local")
        store.frontier.max_queued = 4
        await begin(store, url(), rules=config(queued=(2, 0, 0)))
        settled = await _find(store, [url(f"/{n}") for n in range(5)])
        assert settled.new_urls == 2
        assert list(await store.census.exclusions("job")) == [OF_JOB]

    @waits
    async def test_one_host_leaves_room_for_others(self, stores: Stores) -> None:
        store = stores("local")
        await begin(store, url(), rules=config(queued=(0, 2, 0)))
        found = [*(url(f"/{n}") for n in range(5)), url("/", "b.test")]
        settled = await _find(store, found)
        assert settled.new_urls == 3
        assert (await store.census.exclusions("job"))[OF_HOST][0] == 3

    @waits
    async def test_one_pattern_leaves_room_for_others(self, stores: Stores) -> None:
        store = stores("local")
        await begin(store, url(), rules=config(queued=(0, 0, 2)))
        pages = [replace(url(f"/page/{n}"), pattern="page") for n in range(5)]
        settled = await _find(store, [*pages, url("/plain"), replace(url("/x"), pattern="other")])
        assert settled.new_urls == 4
        assert (await store.census.exclusions("job"))[OF_PATTERN][0] == 3

    @waits
    async def test_what_waits_is_counted_and_what_has_ended_is_not(self, stores: Stores) -> None:
        store = stores("local")
        await begin(store, url("/1"), url("/2"), rules=config(queued=(2, 2, 2)))
        (lease,) = await claim(store, urls=2)
        found = tuple(replace(url(f"/page/{n}"), pattern="page") for n in range(4))
        one, two = (visit(lease, entry) for entry in lease.entries)
        one = replace(one, discovered=found)
        settled = await store.frontier.settle(batch(one, two, give_back(lease)))
        assert (settled.new_urls, len(settled.left_out)) == (2, 2)
        # The pattern has ended two of its own by then, so there is room for the others.
        (lease,) = await claim(store, urls=2, now_s=START_S + DELAY_S)
        one, two = (visit(lease, entry) for entry in lease.entries)
        one = replace(one, discovered=found)
        settled = await store.frontier.settle(batch(one, two, give_back(lease)))
        assert (settled.new_urls, settled.left_out) == (2, frozenset())

    @waits
    async def test_a_known_url_takes_no_room(self, stores: Stores) -> None:
        store = stores("local")
        await begin(store, url(), url("/a", depth=2), rules=config(queued=(2, 0, 0)))
        settled = await _find(store, [url("/a", depth=1), url("/b")])
        assert (settled.new_urls, settled.left_out) == (1, frozenset())

    @waits
    async def test_a_redirect_always_has_room(self, stores: Stores) -> None:
        store = stores("local")
        await begin(store, url("/1"), url("/2"), rules=config(queued=(1, 1, 1)))
        (lease,) = await claim(store, urls=1)
        target = replace(url("/moved"), hops=1, pattern="x")
        moved = visit(lease, outcome=Outcome.REDIRECTED, state=State.SKIPPED, discovered=(target,))
        settled = await store.frontier.settle(batch(moved, give_back(lease)))
        assert (settled.new_urls, settled.left_out) == (1, frozenset())

    @waits
    async def test_a_wider_budget_lets_them_in(self, stores: Stores) -> None:
        store = stores("local")
        await begin(store, url(), rules=config(queued=(1, 0, 0)))
        found = [url("/a"), url("/b")]
        assert (await _find(store, found)).new_urls == 1
        await store.jobs.update(job(rules=config(queued=(0, 0, 0))))
        lease = await claim_one(store, now_s=START_S + DELAY_S)
        again = visit(lease, discovered=tuple(found))
        assert (await store.frontier.settle(batch(again))).new_urls == 1

    @waits
    async def test_what_people_name_is_not_counted_against_it(self, stores: Stores) -> None:
        store = stores("local")
        await store.jobs.create(job(rules=config(queued=(1, 1, 1))))
        seeds = [url(f"/{n}") for n in range(3)]
        assert await store.frontier.add("job", seeds, now_s=START_S) == 3

    @pytest.mark.parametrize("many", [2, 3])
    @waits
    async def test_a_url_found_twice_in_one_batch_takes_one_place(
        self, stores: Stores, many: int
    ) -> None:
        store = stores("local")
        await begin(store, url(), rules=config(queued=(many, 0, 0)))
        settled = await _find(store, [url("/a"), url("/a"), url("/b"), url("/c"), url("/c")])
        assert settled.new_urls == many
        assert len(settled.left_out) == 3 - many


async def _waiting(store: Store, name: str, many: int, *, tenant: str = "local") -> CrawlJob:
    """Let URLs of another job wait."""
    begun = job(name, tenant=tenant)
    await store.jobs.create(begun)
    urls = [url(f"/{number}", f"{name}.test") for number in range(many)]
    await store.frontier.add(name, urls, now_s=START_S)
    return begun


async def _find(store: Store, found: list[Discovered]) -> Settled:
    """Let the first page that is due have found something."""
    (lease,) = await claim(store, urls=1)
    done = visit(lease, discovered=tuple(found))
    return await store.frontier.settle(batch(done, give_back(lease)))
