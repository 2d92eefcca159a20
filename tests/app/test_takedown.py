"""A takedown leaves nothing of a provider but the line that says so, also when it is cut short."""

from __future__ import annotations

import asyncio
import gzip
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from geomi.adapters.outlet.job_folder import remove_job
from geomi.adapters.store.session import Statement
from geomi.adapters.store.store import DatabaseStore
from geomi.app import DataDirectory
from geomi.app.use import deletion, providers
from geomi.app.use.deletion import MAX_REASON_CHARS, provider_holdings, take_down_provider
from geomi.app.use.retention import clean
from geomi.errors import ConfigError
from geomi.model.config import Retention
from geomi.model.job import JobState, StopReason
from geomi.model.site import Takedown
from tests.app.test_providers import plan_for, provider_of
from tests.support.crawl import Crawled, Ear, crawl_in, home_in, page, plan
from tests.support.server import Reply, Route, Site
from tests.support.waiting import waits

CANARY = "the canary that nobody may ever find again"
ROUTES = {
    "/docs": page("docs", "/docs/a", text=f"First, {CANARY} one. " * 30),
    "/docs/a": page(CANARY, "/docs/gone", head=f'<meta name="description" content="{CANARY}">'),
    "/docs/gone": Reply(CANARY.encode(), status=404),
}


def traces(root: Path) -> list[str]:
    """Name the files that hold the canary, whatever wraps it: free pages and gzip members too."""
    needle = CANARY.encode()
    files = [path for path in root.rglob("*") if path.is_file()]
    return [path.name for path in files if needle in path.read_bytes() + _unpacked(path)]


def _unpacked(path: Path) -> bytes:
    return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else b""


async def collect(home: DataDirectory, site: Site) -> None:
    """Crawl a provider's site twice, and another site once."""
    provider = provider_of(site)
    await providers.add(home.world, provider)
    for _ in range(2):
        await crawl_in(home, Ear(), plan_for(provider))


async def erase(home: DataDirectory) -> Takedown:
    """Take the provider down."""
    return await take_down_provider(
        home, await provider_holdings(home, "example"), "they wrote on 1 May"
    )


async def states_what_was_done(home: DataDirectory) -> None:
    """Check what is left in an open directory."""
    assert [job for job in await home.world.store.jobs.list(limit=10) if job.provider] == []
    (line, *_) = await home.world.store.providers.takedowns()
    assert (line.key, line.reason) == ("example", "they wrote on 1 May")
    with pytest.raises(ConfigError, match="does not allow crawling"):
        await providers.refuse_crawl(home.world, "example")


@pytest.mark.req("LEG-06", "G-20")
@waits
async def test_no_byte_of_its_pages_is_left_and_others_keep_theirs(tmp_path: Path) -> None:
    with (
        Site(ROUTES) as site,
        Site(
            {"/": page("other", text="Another site's words. " * 30)}, address="127.0.0.2"
        ) as other,
    ):
        async with home_in(tmp_path, Ear()) as home:
            await collect(home, site)
            kept = await crawl_in(home, Ear(), plan([other.url("/")]))
        assert traces(tmp_path)
        async with home_in(tmp_path, Ear()) as home:
            line = await erase(home)
            assert (line.jobs, line.pages) == (2, 2)
            await states_what_was_done(home)
            assert [job.id for job in await home.world.store.jobs.list(limit=9)] == [
                kept.report.job.id
            ]
        assert traces(tmp_path) == []
        assert "Another site's words" in (tmp_path / "pages.jsonl").read_text("utf-8")


@pytest.mark.req("LEG-06")
@waits
async def test_a_job_whose_urls_have_expired_leaves_nothing_either(tmp_path: Path) -> None:
    with Site(ROUTES) as site:
        async with home_in(tmp_path, Ear()) as home:
            await collect(home, site)
            for job in await home.world.store.jobs.list(limit=9):
                kept = replace(job.config, retention=Retention(urls_days=1e-9))
                await home.world.store.jobs.update(replace(job, config=kept))
            assert len((await clean(home)).urls_of) == 2
            assert (await erase(home)).pages == 2
        assert traces(tmp_path) == []


class Cut(Exception):
    """What ends a takedown in a test."""


@pytest.mark.req("LEG-06")
@pytest.mark.parametrize("step", ["files of the second job", "pages", "jobs", "second job"])
@waits
async def test_one_that_was_cut_short_is_finished_by_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    with Site(ROUTES) as site:
        async with home_in(tmp_path, Ear()) as home:
            await collect(home, site)
            with monkeypatch.context() as patch:
                cut(patch, home, step)
                with pytest.raises(Cut):
                    await erase(home)
            with pytest.raises(ConfigError, match="does not allow crawling"):
                await providers.refuse_crawl(home.world, "example")
        async with home_in(tmp_path, Ear()) as home:
            await erase(home)
            await states_what_was_done(home)
        assert traces(tmp_path) == []


def cut(patch: pytest.MonkeyPatch, home: DataDirectory, step: str) -> None:
    """Let one step of a takedown fail before it does anything."""
    if step == "files of the second job":
        patch.setattr(deletion, "remove_job", _failing(remove_job, after=1))
    elif step == "pages":
        patch.setattr(type(home.world.store.providers), "erase", _failing(None, after=0))
    else:
        delete = type(home.world.store.jobs).delete
        patch.setattr(
            type(home.world.store.jobs), "delete", _failing(delete, after=step == "second job")
        )


def _failing(works: Callable[..., object] | None, *, after: int) -> Callable[..., object]:
    left = [after]

    def call(*args: object, **kwargs: object) -> object:
        if not left[0] or works is None:
            raise Cut
        left[0] -= 1
        return works(*args, **kwargs)

    return call


@waits
async def test_nothing_is_left_in_a_store_that_does_not_overwrite_what_it_deletes(
    tmp_path: Path,
) -> None:
    with Site(ROUTES) as site:
        async with home_in(tmp_path, Ear()) as home:
            assert isinstance(home.store, DatabaseStore)
            kept_bytes = Statement("PRAGMA secure_delete = OFF", "")
            await home.store.database.write(lambda db: db.send(kept_bytes))
            await collect(home, site)
            await erase(home)
    assert traces(tmp_path) == []


@waits
async def test_a_second_one_changes_nothing(tmp_path: Path) -> None:
    with Site(ROUTES) as site:
        async with home_in(tmp_path, Ear()) as home:
            await collect(home, site)
            first = await erase(home)
            assert await erase(home) == first
            assert await home.world.store.providers.takedowns() == [first]


@waits
async def test_a_running_crawl_is_ended_first(tmp_path: Path) -> None:
    """Its files are written until it has ended."""
    has_two = threading.Event()
    paths = [f"/docs/{number}" for number in range(200)]

    def second(_: object) -> Reply:
        has_two.set()
        return page(CANARY)

    routes: dict[str, Route] = {path: page(f"{CANARY} {path}") for path in paths}
    routes |= {"/docs": page("docs", *paths), "/docs/7": second}

    async def crawl(site: Site) -> Crawled:
        async with home_in(tmp_path, Ear()) as home:
            provider = provider_of(site)
            await providers.add(home.world, provider)
            return await crawl_in(home, Ear(), plan_for(provider, delay=0.02))

    with Site(routes) as site:
        async with asyncio.TaskGroup() as group:
            running = group.create_task(crawl(site))
            await asyncio.to_thread(has_two.wait, 20)
            async with home_in(tmp_path, Ear()) as home:
                assert (await erase(home)).jobs == 1
                await states_what_was_done(home)
        assert (await running).report.stop is StopReason.CANCELLED
        assert traces(tmp_path) == []


@waits
async def test_what_was_taken_down_comes_back_only_through_a_review(tmp_path: Path) -> None:
    with Site(ROUTES) as site:
        async with home_in(tmp_path, Ear()) as home:
            await collect(home, site)
            await erase(home)
            for again in (
                providers.add(home.world, provider_of(site)),
                providers.remove(home.world, "example"),
            ):
                with pytest.raises(ConfigError, match="does not allow crawling"):
                    await again
            await providers.review(home.world, "example", allows=True, reviewed_at="2026-06-01")
            assert await providers.add(home.world, provider_of(site))


@waits
async def test_a_registration_stays_as_long_as_a_takedown_may_need_it(tmp_path: Path) -> None:
    with Site(ROUTES) as site:
        async with home_in(tmp_path, Ear()) as home:
            await collect(home, site)
            with pytest.raises(ConfigError, match="provider `example` has 2 jobs"):
                await providers.remove(home.world, "example")
            for job in await providers.jobs_of(home.world, "example"):
                await home.world.store.jobs.delete(job.id)
            assert (await providers.remove(home.world, "example")).key == "example"


@waits
async def test_jobs_that_others_started_on_its_hosts_are_named(tmp_path: Path) -> None:
    with Site(ROUTES) as site:
        async with home_in(tmp_path, Ear()) as home:
            by_hand = await crawl_in(home, Ear(), plan([site.url("/docs/a")]))
            await collect(home, site)
            found = await provider_holdings(home, "example")
            assert found.others == (by_hand.report.job.id,)
            assert len(found.jobs) == 2
            assert all(job.state is JobState.COMPLETED for job in found.jobs)


@waits
async def test_a_reason_has_an_end(tmp_path: Path) -> None:
    with Site(ROUTES) as site:
        async with home_in(tmp_path, Ear()) as home:
            await providers.add(home.world, provider_of(site))
            found = await provider_holdings(home, "example")
            with pytest.raises(ConfigError, match="more than 2000 characters"):
                await take_down_provider(home, found, "x" * (MAX_REASON_CHARS + 1))
            assert await home.world.store.providers.takedowns() == []
            assert (
                await take_down_provider(home, replace(found), "x" * MAX_REASON_CHARS)
            ).jobs == 0
