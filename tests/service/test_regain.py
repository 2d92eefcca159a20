"""An index that is gone is made again by the service, from every crawl and after any end."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from geomi.app.index import FOLDER, open_search_indexes
from geomi.service import collections, enrichment
from geomi.service.enrichment import IndexRebuild
from geomi.service.service import open_service
from tests.api.asking import LOCAL, TENANT, Ground, serving
from tests.api.filling import WEB, filled
from tests.service.working import understood
from tests.support.crawl import Ear
from tests.support.server import Site
from tests.support.waiting import waits

COLLECTIONS, DELETED = ("harbour", "village"), "market"


@pytest.mark.slow
@waits
async def test_every_crawl_of_a_lost_index_is_put_there_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(enrichment, "LOOKED_BACK", 1)

    ear = Ear()
    async with _lost(tmp_path, ear) as ground:
        assert await _where_found(ground) == set()
        await understood(ground.service, lambda: _is_whole(ground))
        told = f"the index of `{TENANT}` is lost; geomi fills it again from 3 crawls"
        assert ear.warnings.count(told) == 1
        async with open_search_indexes(ground.service.home) as search_indexes:
            after = IndexRebuild(ground.service, search_indexes)
            await after.look(TENANT)
            assert await after.go_on(asyncio.Event()) == 0  # and it is over


@pytest.mark.slow
@waits
async def test_whoever_is_killed_on_the_way_is_followed_by_one_that_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(enrichment, "LOOKED_BACK", 1)

    ear = Ear()
    async with _lost(tmp_path, ear) as ground:
        async with open_search_indexes(ground.service.home) as search_indexes:
            killed = IndexRebuild(ground.service, search_indexes)
            await killed.look(TENANT)
            await killed.go_on(asyncio.Event())
        assert await _where_found(ground) == {"village"}  # the newest comes first
        await understood(ground.service, lambda: _is_whole(ground))
        assert f"the index of `{TENANT}` was lost; geomi fills it again from 3 crawls" in (
            ear.warnings
        )


@asynccontextmanager
async def _lost(root: Path, ear: Ear) -> AsyncIterator[Ground]:
    """Serve a directory with two collections whose index is gone, and with a deleted one."""
    with Site(WEB) as site:
        async with serving(root, LOCAL, ear) as ground:
            for collection in (DELETED, *COLLECTIONS):
                await filled(ground.mine, ground.desk, site, collection)
            async with open_service(root, LOCAL, lambda _: Ear()) as before:
                assert await collections.delete(before.desk(TENANT), DELETED)
            shutil.rmtree(root / FOLDER)
            yield ground


async def _where_found(ground: Ground) -> set[str]:
    """Name the collections in which the ferry can be found."""
    found = set()
    for collection in (DELETED, *COLLECTIONS):
        asked = {"query": "ferry", "collectionIds": [collection]}
        answer = await ground.mine.post("/search", asked)
        assert answer.status == 200, answer.json
        if answer.json["results"]:
            found.add(collection)
    return found


async def _is_whole(ground: Ground) -> bool:
    return await _where_found(ground) == set(COLLECTIONS)
