"""Providers of a service by their channel: looked for, collected, and crawled if need be."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from geomi.model.job import JobState
from geomi.model.tenant import Quota
from geomi.seed.external_docs import TOPICS
from geomi.service import deliveries, providers
from geomi.service.access import tenants
from geomi.service.background_tasks import BACKGROUND_TASKS
from geomi.settings.providers import presets
from tests.api.asking import LOCAL, Ground, serving
from tests.api.test_admin import PROVIDER
from tests.service.working import crawled, is_over, understood
from tests.support.crawl import Ear, page
from tests.support.github import Hub, Repository
from tests.support.ready import CONTEXT, SEARCH, Stock, busy
from tests.support.server import Site
from tests.support.waiting import waits

VILLAGE = "/the/village"
FERRY = "The ferry leaves at noon and returns before the night. " * 6


@asynccontextmanager
async def play(root: Path, stock: Stock) -> AsyncIterator[tuple[Ground, Site, Site, Ear]]:
    """Serve a provider whose documents a source may have."""
    with Site({"/": page("start", text=FERRY)}) as site, Site(stock.routes) as source:
        ear = Ear()
        settings = replace(LOCAL, context7_url=source.url(""))
        async with serving(root, settings, ear) as ground:
            await ground.admin.post("/admin/providers", PROVIDER | {"seed_url": site.url("/")})
            yield ground, site, source, ear


async def done(ground: Ground, job_id: str) -> None:
    """Let a crawl be done, understood and told of."""
    desk = ground.service.desk("default")
    await crawled(desk, job_id)
    await understood(ground.service, partial(is_over, desk, job_id))
    while await deliveries.queue_deliveries(ground.service):
        pass


async def started(ground: Ground) -> str:
    """Start a crawl of the provider."""
    path = "/admin/providers/village/crawls"
    made = await ground.admin.post(path, {"collectionId": "apis"})
    assert made.status == 202, made.json
    return str(made.json["jobId"])


@pytest.mark.req("CFG-23", "C7-03")
@waits
async def test_a_service_looks_for_its_providers_by_itself_once_a_day(tmp_path: Path) -> None:
    async with play(tmp_path, Stock({VILLAGE: "The village"})) as (ground, _, source, ear):
        assert providers.check_due_providers in [chore.work for chore in BACKGROUND_TASKS]
        await providers.check_due_providers(ground.service)
        names = len(presets()) + 1
        assert len(source.log) == names, "a name is asked for once, for all tenants"
        assert ear.warnings[-1].startswith(f"Context7 has 1 of {names} providers; it lacks ")
        shown = (await ground.admin.get("/admin/providers/village")).json
        assert (shown["channel_now"], shown["library_id"]) == ("context7", VILLAGE)
        shown = (await ground.admin.get("/admin/providers/openai")).json
        assert (shown["channel"], shown["channel_now"]) == ("context7", "crawl")
        assert "Context7 did not have it" in shown["channel_why"]
        told = len(ear.warnings)
        await providers.check_due_providers(ground.service)
        assert (len(source.log), len(ear.warnings)) == (names, told)


@pytest.mark.req("LEG-05")
@waits
async def test_a_service_collects_documents_from_an_official_api(tmp_path: Path) -> None:
    """It lists them once a day; Context7 need not be configured."""
    hub = Hub(Repository("acme/village", {"docs/ferry.md": f"# Ferry\n\n{FERRY}"}))
    with Site({"/": page("start", text=FERRY)}) as site, Site({}, otherwise=hub.answer) as api:
        settings = replace(LOCAL, github_url=api.url(""))
        async with serving(tmp_path, settings, Ear()) as ground:
            own = PROVIDER | {"seed_url": site.url("/"), "api": "github:acme/village"}
            made = await ground.admin.post("/admin/providers", own)
            assert made.json["api"] == "github:acme/village", made.json
            for _ in range(2):
                await providers.check_due_providers(ground.service)
            assert len(api.log) == 2
            shown = (await ground.admin.get("/admin/providers/village")).json
            assert (shown["channel_now"], shown["library_id"]) == ("api", "acme/village@main")
            await done(ground, await started(ground))
            found = await ground.admin.post("/search", {"query": "ferry"})
            urls = {hit["url"] for hit in found.json["results"]}
    assert urls == {"https://github.test/acme/village/blob/main/docs/ferry.md"}
    assert site.log == []


@waits
async def test_a_source_that_is_away_is_told_of_and_asked_again(tmp_path: Path) -> None:
    stock = Stock({VILLAGE: "The village"})
    async with play(tmp_path, stock) as (ground, _, source, ear):
        stock.trouble = [busy()] * 5
        await providers.check_due_providers(ground.service)
        assert len(source.log) == 5
        assert "got no answer: 5 errors in a row" in ear.warnings[-1]
        await providers.check_due_providers(ground.service)
        assert ear.warnings[-1].startswith("Context7 has 1 of")


@pytest.mark.req("C7-01", "C7-02", "G-22")
@waits
async def test_a_crawl_asks_context7_first_and_is_followed_by_pages_if_need_be(
    tmp_path: Path,
) -> None:
    stock = Stock({VILLAGE: "The village"})
    async with play(tmp_path, stock) as (ground, site, source, ear):
        desk = ground.service.desk("default")
        await providers.check_due_providers(ground.service)
        first = await started(ground)
        await done(ground, first)
        job = await desk.world.store.jobs.get(first)
        assert job is not None and job.library == VILLAGE
        assert job.stats.collected == len(TOPICS)
        assert site.log == []
        stock.empty = True
        second = await started(ground)
        await done(ground, second)
        (follower, *_) = await desk.world.store.jobs.list(limit=10)
        assert follower.id not in (first, second)
        assert (follower.provider, follower.collection) == ("village", "apis")
        assert "it is crawled" in ear.warnings[-1] and "empty result" in ear.warnings[-1]
        await done(ground, follower.id)
        assert len(await desk.world.store.jobs.list(limit=10)) == 3, (
            "one crawl follows, and none after it"
        )
        assert any(seen.path == "/" for seen in site.log)
        searches = sum(seen.path == SEARCH for seen in source.log)
        assert searches == len(presets()) + 1, "starting a crawl asks nobody"
        assert sum(seen.path == CONTEXT for seen in source.log) == 2 * len(TOPICS)


@pytest.mark.req("G-22", "LEG-04")
@waits
async def test_a_provider_that_forbids_crawling_meanwhile_costs_nobody_their_news(
    tmp_path: Path,
) -> None:
    async with play(tmp_path, Stock({VILLAGE: "The village"}, empty=True)) as (ground, _, _, ear):
        desk = ground.service.desk("default")
        await providers.check_due_providers(ground.service)
        await started(ground)
        (job,) = await desk.world.store.jobs.list(limit=10)
        await crawled(desk, job.id)
        await understood(ground.service, partial(is_over, desk, job.id))
        review = {"allows": False}
        answer = await ground.admin.post("/admin/providers/village/review", review)
        assert answer.status == 200, answer.json
        while await deliveries.queue_deliveries(ground.service):
            pass
        assert await ground.service.home.store.unsent_events.list(10) == []
        assert [one.id for one in await desk.world.store.jobs.list(limit=10)] == [job.id]
        assert "cannot be crawled" in ear.warnings[-1]
        assert "does not allow crawling" in ear.warnings[-1]


@waits
async def test_the_crawl_that_follows_needs_no_place_among_those_that_wait(tmp_path: Path) -> None:
    async with play(tmp_path, Stock({VILLAGE: "The village"}, empty=True)) as (ground, _, _, _):
        desk = ground.service.desk("default")
        await providers.check_due_providers(ground.service)
        first = await started(ground)
        await crawled(desk, first)
        await understood(ground.service, partial(is_over, desk, first))
        waiting = await started(ground)
        await tenants.change(ground.service, "default", quota=Quota(max_waiting=1))
        while await deliveries.queue_deliveries(ground.service):
            pass
        found = {one.id: one for one in await desk.world.store.jobs.list(limit=10)}
        (follower,) = found.keys() - {first, waiting}
        assert found[follower].state is JobState.PENDING
        assert found[follower].library == ""
