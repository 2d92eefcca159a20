"""What is left alone, what people decided, and who is registered: kept by tenant, until removed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from geomi.model.page import PageRecord
from geomi.model.site import (
    Channel,
    DomainList,
    OutcomeCount,
    Provider,
    Refusal,
    Review,
    Selectors,
    SiteRule,
    Takedown,
)
from geomi.model.verdict import Outcome, State
from tests.contracts.suites.alike import first, known, sketch_of
from tests.contracts.suites.handles import Stores
from tests.contracts.suites.keeping import keep
from tests.contracts.suites.material import (
    START_S,
    asked,
    batch,
    begin,
    claim_one,
    give_back,
    job,
    page,
    url,
    visit,
)
from tests.support.waiting import waits

__all__ = ["TestDomainLists", "TestProviders", "TestQualities", "TestRefusals", "TestSiteRules"]

PROVIDER = Provider(
    provider_id="p-1",
    key="acme",
    name="Acme 문서",
    seed_urls=("http://a.test/docs",),
    allowed_path_patterns=("/docs/**",),
    blocked_path_patterns=("/docs/old/**",),
    custom_selectors=Selectors(content="main", remove=(".nav", ".toc")),
    channel=Channel.CONTEXT7,
    tos_reviewed_at="2025-01-31",
    tos_allows_crawling=True,
)
TAKEDOWN = Takedown("acme", "Acme 문서", "they asked", at_s=5.0, jobs=1, pages=1)


def refusal(path: str = "/", *, until_s: float | None = 100.0) -> Refusal:
    """Return a URL that said no."""
    found = url(path)
    return Refusal(found.url_hash, found.url, 403, "forbidden", since_s=1.0, until_s=until_s)


class TestRefusals:
    """A URL that said no is left alone until its time is over."""

    @pytest.mark.req("DAT-05")
    @waits
    async def test_a_visit_that_was_refused_leaves_a_refusal(self, stores: Stores) -> None:
        store = stores("local")
        await begin(store, url())
        lease = await claim_one(store)
        refused = visit(lease, outcome=Outcome.REFUSED, state=State.FAILED)
        stale = replace(refused, token=lease.token - 1, refusal=refusal("/never"))
        await store.frontier.settle(batch(stale, replace(refused, refusal=refusal())))
        assert await store.refusals.find(url().url_hash, wall_s=5.0) == refusal()
        assert await store.refusals.find(url("/never").url_hash, wall_s=5.0) is None
        assert await stores("stranger").refusals.find(url().url_hash, wall_s=5.0) is None

    @pytest.mark.parametrize(
        ("until_s", "wall_s", "holds"),
        [(100.0, 99.9, True), (100.0, 100.0, False), (None, 1e12, True)],
        ids=["before", "over", "for-good"],
    )
    @waits
    async def test_a_refusal_holds_until_its_time(
        self, stores: Stores, until_s: float | None, wall_s: float, holds: bool
    ) -> None:
        store, kept = stores("local"), refusal(until_s=until_s)
        await store.refusals.put(kept)
        found = await store.refusals.find(kept.url_hash, wall_s=wall_s)
        assert found == (kept if holds else None)
        assert await store.refusals.list(after=b"", limit=9) == [kept]

    @waits
    async def test_a_claim_says_which_urls_the_tenant_has_met(self, stores: Stores) -> None:
        await keep(stores("local"), page(url("/0")))
        await stores("local").refusals.put(refusal("/refused"))
        met = {}
        for tenant in ("local", "stranger"):
            again = replace(job(), id=f"of {tenant}", tenant=tenant)
            await stores(tenant).jobs.create(again)
            named = (url("/0"), url("/refused"), url("/new"))
            found = [replace(one, host=f"{tenant}.test:80") for one in named]
            await stores(tenant).frontier.add(again.id, found, now_s=START_S)
            lease = await claim_one(stores(tenant), again.id)
            met[tenant] = {entry.url for entry in lease.entries if entry.is_known}
        assert met == {"local": {url("/0").url, url("/refused").url}, "stranger": set()}

    @waits
    async def test_refusals_are_replaced_listed_in_parts_and_removed(self, stores: Stores) -> None:
        store = stores("local")
        many = sorted((refusal(f"/{n}") for n in range(5)), key=lambda one: one.url_hash)
        for one in many:
            await store.refusals.put(replace(one, reason="before"))
            await store.refusals.put(one)
        first = await store.refusals.list(after=b"", limit=3)
        assert first + await store.refusals.list(after=first[-1].url_hash, limit=9) == many
        assert await stores("stranger").refusals.list(after=b"", limit=9) == []
        assert await store.refusals.remove(many[0].url_hash)
        assert not await store.refusals.remove(many[0].url_hash)
        assert not await stores("stranger").refusals.remove(many[1].url_hash)
        assert await store.refusals.list(after=b"", limit=9) == many[1:]


class TestQualities:
    """How the pages of a job came out, by host, outcome and the way their content was found."""

    @waits
    async def test_kept_pages_are_counted_apart_from_lost_ones(self, stores: Stores) -> None:
        store = stores("local")
        fingerprint = page(url("/0")).fingerprint
        kept = [
            replace(page(url("/0")), strategy="main", confidence=0.5),
            replace(
                page(url("/1"), duplicate_of="http://a.test/0"),
                strategy="main",
                confidence=1.0,
                fingerprint=replace(fingerprint, words=7),
            ),
            replace(
                page(url("/2")),
                strategy="body",
                confidence=0.25,
                fingerprint=replace(fingerprint, words=8),
            ),
        ]
        await begin(store, *(url(f"/{number}") for number in range(5)))
        lease = await claim_one(store)
        visits = [visit(lease, e, page=p) for e, p in zip(lease.entries, kept, strict=False)]
        empty = (Outcome.EMPTY, State.SKIPPED)
        visits += [visit(lease, e, outcome=empty[0], state=empty[1]) for e in lease.entries[3:]]
        await store.frontier.settle(batch(*visits))
        assert await store.census.qualities("job", thin_words=8) == [
            OutcomeCount("a.test:80", Outcome.EMPTY, "", 2, 0.0, 0, 0),
            OutcomeCount("a.test:80", Outcome.OK, "body", 1, 0.25, 0, 0),
            OutcomeCount("a.test:80", Outcome.OK, "main", 2, 0.75, 2, 1),
        ]
        assert await stores("stranger").census.qualities("job", thin_words=8) == []


class TestDomainLists:
    """Subscribed lists of domains, for every tenant."""

    @waits
    async def test_a_list_is_kept_refreshed_and_removed(self, stores: Stores) -> None:
        lists = stores("local").domain_lists
        one = DomainList("b", "https://x.test/", 2, 1, tried_s=5.0, read_s=5.0, answered_tag='"1"')
        await lists.put(one, b"bad")
        await lists.put(replace(one, name="a", source="/file"), b"worse")
        await lists.put(one, b"\x00bad")
        assert [each.name for each in await lists.list()] == ["a", "b"]
        assert (await stores("stranger").domain_lists.list())[1] == one
        assert (await lists.body("b"), await lists.body("c")) == (b"\x00bad", None)

        failed = replace(one, problem="HTTP 500", tried_s=9.0)
        await lists.update(failed, None)
        assert (await lists.list())[1] == replace(failed, tried_s=5.0)
        assert await lists.body("b") == b"\x00bad"
        await lists.update(replace(one, edition=2, domains=3), b"new")
        assert (await lists.list())[1] == replace(one, edition=2, domains=3)
        assert await lists.body("b") == b"new"
        await lists.update(replace(one, source="https://y.test/"), b"of another source")
        await lists.update(replace(one, name="c"), b"gone")
        assert (await lists.body("b"), await lists.body("c")) == (b"new", None)
        assert await lists.remove("b")
        assert not await lists.remove("b")

    @waits
    async def test_one_of_several_takes_the_turn(self, stores: Stores) -> None:
        lists = stores("local").domain_lists
        one = DomainList("b", "https://x.test/", 2, 1, tried_s=5.0, read_s=5.0)
        assert not await lists.take(one, now_s=6.0)
        await lists.put(one, b"bad")
        assert await lists.take(one, now_s=6.0)
        assert not await lists.take(one, now_s=6.0)
        assert await lists.take(replace(one, tried_s=6.0), now_s=7.0)


class TestSiteRules:
    """One decision for each host and pattern."""

    @waits
    async def test_a_decision_is_kept_replaced_and_removed(self, stores: Stores) -> None:
        store = stores("local")
        whole = SiteRule("b.test", "", Review.EXCLUDE, "too large", 7.0)
        trap = SiteRule("a.test", "calendar", Review.EXCLUDE)
        for rule in (whole, trap, replace(trap, review=Review.ALLOW)):
            await store.sites.put(rule)
        kept = [replace(trap, review=Review.ALLOW), whole]
        assert await store.sites.list() == kept
        assert await stores("stranger").sites.list() == []
        assert not await stores("stranger").sites.remove("b.test", "")
        assert await store.sites.remove("b.test", "")
        assert not await store.sites.remove("b.test", "")
        assert await store.sites.list() == kept[:1]


class TestProviders:
    """A provider comes back as it went in; what is erased is gone but for one line."""

    @pytest.mark.req("CFG-03")
    @waits
    async def test_a_provider_comes_back_as_it_went_in(self, stores: Stores) -> None:
        store = stores("local")
        other = replace(PROVIDER, key="aaa", seed_urls=("http://x.test/",))
        await store.providers.put(replace(PROVIDER, name="before"))
        for provider in (PROVIDER, other):
            await store.providers.put(provider)
        assert await store.providers.get("acme") == PROVIDER
        assert await store.providers.list() == [other, PROVIDER]
        assert await stores("stranger").providers.get("acme") is None
        assert await stores("stranger").providers.list() == []
        assert await store.providers.remove("aaa")
        assert not await store.providers.remove("aaa")
        assert await store.providers.list() == [PROVIDER]

    @waits
    async def test_a_job_remembers_its_provider(self, stores: Stores) -> None:
        store = stores("local")
        await store.jobs.create(replace(job(), provider="acme"))
        await store.jobs.update(job())
        found = await store.jobs.get("job")
        assert found is not None and found.provider == "acme"

    @pytest.mark.req("LEG-06")
    @waits
    async def test_erased_pages_leave_a_line_and_nothing_else(self, stores: Stores) -> None:
        store = stores("local")
        gone = page(url("/0"), exact_key=b"k" * 16, sketch=sketch_of(1, 2))
        left = page(url("/1"), exact_key=b"l" * 16, sketch=sketch_of(1, 3))
        await keep(store, gone, left)
        await store.pages.advance("job", "out", after=0, seq=2, length=99)
        await store.providers.erase(TAKEDOWN, [gone.url_hash, b"unknown"])
        assert await store.pages.get(gone.url_hash) is None
        assert await store.pages.get(left.url_hash) == left
        assert [row.url for row in await store.pages.feed("job", after=0, limit=9)] == [left.url]
        assert await store.pages.twins("job", [b"k" * 16, b"l" * 16]) == {b"l" * 16: first(left)}
        assert await store.pages.near(sketch_of(2)) == []
        assert await store.pages.near(gone.fingerprint.sketch) == [known(left)]
        assert await store.pages.cursor("job", "out") == (0, 0)
        assert await store.providers.takedowns() == [TAKEDOWN]
        assert await stores("stranger").providers.takedowns() == []

    @pytest.mark.req("LEG-06")
    @waits
    async def test_another_tenants_copy_is_not_erased(self, stores: Stores) -> None:
        store, stranger = stores("local"), stores("stranger")
        kept = page(url())
        await stranger.jobs.create(job("theirs", tenant="stranger"))
        await stranger.frontier.add("theirs", [url()], now_s=START_S)
        lease = await claim_one(stranger, "theirs")
        await stranger.frontier.settle(batch(visit(lease, page=kept), give_back(lease)))
        await store.providers.erase(TAKEDOWN, [kept.url_hash])
        assert await stranger.pages.get(kept.url_hash) == kept
        assert len(await stranger.pages.feed("theirs", after=0, limit=9)) == 1

    @waits
    async def test_the_log_keeps_that_a_host_was_asked_but_not_for_what(
        self, stores: Stores
    ) -> None:
        store = stores("local")
        kept: PageRecord = replace(page(url("/0")), final_url="http://a.test/end")
        await begin(store, url("/0"))
        lease = await claim_one(store)
        rows = tuple(asked(path, at_s=START_S + n) for n, path in enumerate(["/0", "/end", "/x"]))
        await store.frontier.settle(batch(replace(visit(lease, page=kept), asked=rows)))
        await store.jobs.delete("job")
        await store.providers.erase(TAKEDOWN, [kept.url_hash])
        log = await store.requests.of_host("a.test:80", after_s=0.0, limit=9)
        assert log == [replace(rows[0], url=""), replace(rows[1], url=""), rows[2]]

    @waits
    async def test_what_another_tenant_asked_for_stays_in_the_log(self, stores: Stores) -> None:
        store, stranger = stores("local"), stores("stranger")
        await begin(store, url())
        row = asked("/", at_s=START_S)
        lease = await claim_one(store)
        await store.frontier.settle(batch(replace(visit(lease, page=page(url())), asked=(row,))))
        await stranger.jobs.create(job("theirs", tenant="stranger"))
        await stranger.frontier.add("theirs", [url()], now_s=START_S)
        lease = await claim_one(stranger, "theirs", now_s=START_S + 100.0)
        theirs = asked("/", at_s=START_S + 100.0, job="theirs")
        visited = replace(visit(lease, page=page(url())), asked=(theirs,))
        await stranger.frontier.settle(batch(visited))
        await store.providers.erase(TAKEDOWN, [page(url()).url_hash])
        log = await store.requests.of_host("a.test:80", after_s=0.0, limit=9)
        assert log == [replace(row, url=""), theirs]

    @waits
    async def test_takedowns_are_listed_newest_first(self, stores: Stores) -> None:
        store = stores("local")
        lines = [replace(TAKEDOWN, key=key, at_s=at_s) for key, at_s in [("a", 1), ("b", 3)]]
        lines.append(replace(TAKEDOWN, key="c", at_s=3))
        for line in lines:
            await store.providers.erase(line, [])
        assert [line.key for line in await store.providers.takedowns()] == ["c", "b", "a"]
