"""What a tenant is shown of its jobs: counts, pages of entries, hosts, documents of a job."""

from __future__ import annotations

from dataclasses import replace

import pytest

from geomi.adapters.store.tables.census import MAX_PREFIX_CHARS
from geomi.errors import StoreError
from geomi.model.entry import (
    MAX_ENTRIES,
    MAX_LOOKED_AT,
    AnswerTimes,
    EntryFilter,
    HostState,
    HostUpdate,
    ResponseTimes,
)
from geomi.model.history import FIRST_CURSOR, PageCursor
from geomi.model.index.document import DocumentCounts, DocumentState, StatusCount, document_id
from geomi.model.site import HostView
from geomi.model.verdict import Outcome, State
from geomi.ports.store import Store
from tests.contracts.suites.handles import Stores
from tests.contracts.suites.knowing import document
from tests.contracts.suites.material import START_S, batch, begin, claim, job, url, visit
from tests.support.waiting import waits

__all__ = ["TestEntryPages", "TestHostViews", "TestJobCounts", "TestResponseTimes"]

SECONDS = {"a.test:80": 0.5, "b.test:80": 6.5, "c.test:80": 0.5}
HOSTS = ("a.test", "b.test", "c.test")

OK = (State.COMPLETED, Outcome.OK, 200)
GONE = (State.FAILED, Outcome.GONE, 404)

FOUND = {
    EntryFilter(): "a.test/0 a.test/1 a.test/2 b.test/0 b.test/1 b.test/2",
    EntryFilter(state=State.PENDING): "a.test/1 a.test/2 b.test/2",
    EntryFilter(outcome=Outcome.GONE): "b.test/1",
    EntryFilter(State.COMPLETED, Outcome.GONE): "",
    EntryFilter(prefix="http://b.test/"): "b.test/0 b.test/1 b.test/2",
    EntryFilter(State.COMPLETED, prefix="http://b.test/"): "b.test/0",
    EntryFilter(prefix="http://_.test/"): "",
    EntryFilter(prefix="b.test"): "",
}


async def crawl_some(store: Store) -> None:
    """Let the job `job` have six URLs on two hosts, two of them kept, one gone, three waiting."""
    await begin(
        store, *(url(f"/{number}", host) for host in ("a.test", "b.test") for number in "012")
    )
    for lease in await claim(store):
        first, second, _ = lease.entries
        ends = [visit(lease, first)]
        if lease.host == "b.test:80":
            gone = visit(lease, second, outcome=Outcome.GONE, state=State.FAILED)
            ends.append(replace(gone, status=404))
        await store.frontier.settle(batch(*ends))


async def walk(store: Store, which: EntryFilter, *, limit: int = 2) -> list[str]:
    """Return the URLs of a filter, page after page."""
    found: list[str] = []
    after: PageCursor | None = FIRST_CURSOR
    while after is not None:
        page = await store.census.rows("job", which, after=after, limit=limit)
        assert len(page.entries) <= limit
        found += [entry.url.removeprefix("http://") for entry in page.entries]
        after = page.after
    assert len(found) == len(set(found))
    return sorted(found)


class TestJobCounts:
    """How a job's URLs ended, and what was made of its pages."""

    @waits
    async def test_urls_are_counted_by_how_they_ended(self, stores: Stores) -> None:
        store = stores("local")
        await crawl_some(store)
        waiting = (State.PENDING, None, None)
        assert await store.census.outcomes("job") == {OK: 2, GONE: 1, waiting: 3}
        assert await stores("other").census.outcomes("job") == {}

    @waits
    async def test_urls_are_counted_by_state_and_document(self, stores: Stores) -> None:
        store = stores("local")
        await crawl_some(store)
        (kept, other) = (url("/0", host).url_hash for host in ("a.test", "b.test"))
        skipped = document_id("blog", kept)
        made = document("x", state=DocumentState.SKIPPED, chunks=0)
        of_waiting = document_id("blog", url("/1").url_hash)
        elsewhere = document_id("another", other)
        await store.documents.put(
            [replace(made, id=name) for name in (skipped, of_waiting, elsewhere)]
        )
        strange = [replace(made, id=document_id("blog", other))]
        await stores("other").documents.put(strange)
        counts = await store.census.statuses("job", collection="blog")
        assert sorted(counts, key=repr) == sorted(
            [
                StatusCount(State.COMPLETED, True, DocumentState.SKIPPED, 1, 0),
                StatusCount(State.COMPLETED, True, None, 1, 0),
                StatusCount(State.FAILED, True, None, 1, 0),
                StatusCount(State.PENDING, True, None, 3, 0),
            ],
            key=repr,
        )
        assert not await stores("other").census.statuses("job", collection="blog")
        await store.documents.put(
            [replace(made, id=skipped, state=DocumentState.INDEXED, chunks=4)]
        )
        counts = await store.census.statuses("job", collection="blog")
        assert StatusCount(State.COMPLETED, True, DocumentState.INDEXED, 1, 4) in counts

    @waits
    async def test_documents_are_counted_by_their_job(self, stores: Stores) -> None:
        store = stores("a")
        await store.documents.put(
            [
                document("1"),
                document("2", collection="blog", chunks=4),
                document("3", state=DocumentState.SKIPPED, chunks=0),
                document("4", state=DocumentState.FAILED, chunks=0),
                document("5", job="another"),
            ]
        )
        assert await store.documents.counts("job") == DocumentCounts(2, 1, 1, 7)
        assert await store.documents.counts("nothing") == DocumentCounts()
        assert await stores("b").documents.counts("job") == DocumentCounts()


class TestResponseTimes:
    """How long the pages of a job took to answer."""

    @pytest.mark.req("MON-03")
    @waits
    async def test_the_mean_is_that_of_the_jobs_own_answers(self, stores: Stores) -> None:
        """Visits that are tried again count, and those under a lease that was lost do not."""
        store = stores("local")
        await begin(store, *(url(f"/{number}", host) for host in HOSTS for number in "01"))
        for lease in await claim(store):
            first, second = lease.entries
            again = visit(lease, first, outcome=Outcome.SERVER_ERROR, state=State.PENDING)
            slowly = AnswerTimes(1, SECONDS[lease.host])
            ends = (replace(again, answers=slowly), replace(visit(lease, second), answers=slowly))
            late = replace(visit(lease, first), token=lease.token - 1, answers=AnswerTimes(9, 99.0))
            await store.frontier.settle(batch(*ends, late))
        times = await store.census.response_times("job", limit=9)
        assert times.slowest == (("b.test:80", 6.5), ("a.test:80", 0.5), ("c.test:80", 0.5))
        assert times.mean_s == pytest.approx(2.5)
        named = await store.census.response_times("job", limit=1)
        assert (named.slowest, named.mean_s) == (times.slowest[:1], times.mean_s)
        await store.jobs.create(job("second"))
        await store.frontier.add("second", [url("/2")], now_s=START_S)
        assert await store.census.response_times("second", limit=9) == ResponseTimes(None, ())
        assert await stores("other").census.response_times("job", limit=9) == ResponseTimes(
            None, ()
        )


class TestEntryPages:
    """Entries of a job, some at a time."""

    @waits
    async def test_a_filter_is_walked_to_its_end(self, stores: Stores) -> None:
        store = stores("local")
        await crawl_some(store)
        for which, found in FOUND.items():
            for limit in (1, 2, 99):
                assert await walk(store, which, limit=limit) == found.split()

    @waits
    async def test_an_entry_is_shown_as_it_is(self, stores: Stores) -> None:
        store = stores("local")
        await begin(store, replace(url("/1"), pattern="p"))
        (entry,) = (await store.census.rows("job", EntryFilter(), limit=9)).entries
        assert entry == await store.census.entry("job", url("/1").url_hash)

    @pytest.mark.req("SEC-09", "DAT-08")
    @waits
    async def test_another_tenant_sees_nothing(self, stores: Stores) -> None:
        await crawl_some(stores("local"))
        assert (await stores("other").census.rows("job", EntryFilter(), limit=9)).entries == ()

    @waits
    async def test_one_answer_looks_at_so_many_entries(self, stores: Stores) -> None:
        store = stores("local")
        await begin(store, *(url(f"/{number}") for number in range(MAX_LOOKED_AT + 1)))
        nothing = EntryFilter(outcome=Outcome.GONE)
        first = await store.census.rows("job", nothing, limit=9)
        assert (first.entries, first.after is None) == ((), False)
        assert first.after is not None
        second = await store.census.rows("job", nothing, after=first.after, limit=9)
        assert (second.entries, second.after) == ((), None)
        (last,) = (
            await store.census.rows("job", EntryFilter(), after=first.after, limit=9)
        ).entries
        assert last.url_hash > first.after[1]
        most = await store.census.rows("job", EntryFilter(), limit=MAX_ENTRIES + 1)
        assert len(most.entries) == MAX_ENTRIES

    @waits
    async def test_a_beginning_that_is_too_long_is_refused(self, stores: Stores) -> None:
        which = EntryFilter(prefix="x" * (MAX_PREFIX_CHARS + 1))
        with pytest.raises(StoreError):
            await stores("local").census.rows("job", which, limit=9)


class TestHostViews:
    """How the hosts of a tenant are treated."""

    @pytest.mark.req("SEC-09")
    @waits
    async def test_hosts_of_the_tenants_own_jobs_are_shown(self, stores: Stores) -> None:
        store, other = stores("local"), stores("other")
        await begin(store, url("/", "b.test"), url("/", "a.test"), url("/", "c.test"))
        await store.jobs.create(job("second"))
        await store.frontier.add("second", [url("/2", "a.test")], now_s=START_S)
        await other.jobs.create(job("theirs", tenant="other"))
        await other.frontier.add("theirs", [url("/", "d.test")], now_s=START_S)
        lease = next(one for one in await claim(store) if one.host == "b.test:80")
        seen = HostState(
            "b.test:80",
            last_end_s=START_S,
            crawl_delay_s=4.0,
            backoff_s=8.0,
            errors=2,
            latency_s=0.5,
            ip="192.0.2.1",
        )
        await store.frontier.settle(batch(HostUpdate(lease, seen, START_S + 12)))
        listed = await store.census.hosts(limit=2)
        assert [one.host for one in listed] == ["a.test:80", "b.test:80"]
        assert listed[1] == HostView("b.test:80", START_S + 12, 4.0, 8.0, 2, 0.5, "192.0.2.1")
        rest = await store.census.hosts(after="b.test:80", limit=9)
        assert [one.host for one in rest] == ["c.test:80"]
        assert await store.census.hosts(after="c.test:80", limit=9) == []
        assert await store.census.hosts(limit=-1) == []

    @waits
    async def test_an_answer_has_a_limit(self, stores: Stores) -> None:
        store = stores("local")
        await begin(store, *(url("/", f"h{number:04}.test") for number in range(MAX_ENTRIES + 1)))
        assert len(await store.census.hosts(limit=MAX_ENTRIES + 1)) == MAX_ENTRIES
