"""A disk that is full under a served geomi: reads go on, and the rest when there is space."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from geomi.adapters.store.sqlite.connection import SqliteDatabase, SqliteSession
from geomi.adapters.store.store import DatabaseStore
from geomi.engine.worker.heartbeat import Heartbeat, with_heartbeat
from geomi.errors import StoreFull
from geomi.model.worker import WorkerRole
from tests.api.asking import CRAWL, LOCAL, Client, Ground, serving
from tests.service.working import until
from tests.support.crawl import Ear
from tests.support.waiting import waits

NO_ROOM = "the service has no room on its disk"
QUICK = replace(LOCAL, silence_s=0.5)
WRITTEN = (
    "UPDATE ON workers",
    "INSERT ON jobs",
    "UPDATE ON named_values",
    "INSERT ON named_values",
)
BALLAST_BYTES = 100_000


class Disk:
    """The disk below a store: once it is full, the store's file cannot grow any more."""

    def __init__(self, ground: Ground) -> None:
        store = ground.service.home.store
        assert isinstance(store, DatabaseStore)
        assert isinstance(store.database, SqliteDatabase)
        self._database = store.database
        self._database.write_now(_let_every_write_grow)

    def fill(self) -> None:
        """Let no page be added."""
        self._let_pages("1")  # as many as there are

    def free(self) -> None:
        """Let there be space."""
        self._let_pages("1000000")

    def _let_pages(self, most: str) -> None:
        self._database.write_now(lambda db: db.execute(f"PRAGMA max_page_count = {most}"))


def _let_every_write_grow(db: SqliteSession) -> None:
    db.execute("CREATE TABLE ballast (bytes BLOB)")
    for number, written in enumerate(WRITTEN):
        db.execute(
            f"CREATE TRIGGER grow_{number} AFTER {written} BEGIN "
            f"INSERT INTO ballast VALUES (zeroblob({BALLAST_BYTES})); END"
        )


@waits
async def test_a_server_answers_on_a_full_disk_and_goes_on_when_there_is_space(
    tmp_path: Path,
) -> None:
    ear = Ear()
    async with serving(tmp_path, QUICK, ear) as ground:
        heart, disk = ground.service.home.heart, Disk(ground)
        await heart.enrol(WorkerRole.SUPERVISOR)
        await with_heartbeat(heart, _fill_and_free(ground, disk, ear), endures=True)


async def _fill_and_free(ground: Ground, disk: Disk, ear: Ear) -> None:
    heart, anybody = ground.service.home.heart, Client(ground.app, prefix="")
    assert (await anybody.get("/readyz")).status == 200
    disk.fill()
    await until(lambda: _is_in_trouble(heart))
    first = heart.trouble
    await until(lambda: _is_in_trouble(heart, again=first))
    assert isinstance(first, StoreFull) and ear.warnings == [first.message]
    assert (await anybody.get("/readyz")).status == 503
    assert (await anybody.get("/healthz")).status == 200
    assert (await ground.mine.get("/crawls")).status == 200
    refused = await ground.mine.post("/crawls", CRAWL)
    assert refused.status == 507 and refused.json["detail"] == NO_ROOM
    assert str(ground.service.home.root) not in refused.body.decode()
    disk.free()
    await until(lambda: _is_well(heart))
    assert ear.warnings == [first.message, "the store can be written again"]
    assert (await anybody.get("/readyz")).status == 200
    assert (await ground.mine.post("/crawls", CRAWL)).status == 202


@waits
async def test_whoever_has_nothing_but_writing_to_do_ends(tmp_path: Path) -> None:
    async with serving(tmp_path, QUICK) as ground:
        heart, disk = ground.service.home.heart, Disk(ground)
        await heart.enrol(WorkerRole.WORKER)
        disk.fill()
        with pytest.raises(StoreFull):
            await with_heartbeat(heart, asyncio.Event().wait())
        disk.free()


@waits
async def test_too_little_free_space_is_not_ready(tmp_path: Path) -> None:
    async with serving(tmp_path, replace(LOCAL, min_free_bytes=10**18)) as ground:
        answer = await Client(ground.app, prefix="").get("/readyz")
        assert answer.status == 503 and "too little disk space" in answer.json["detail"]
        assert (await ground.mine.get("/crawls")).status == 200


@waits
async def test_a_crawl_is_refused_at_once_where_it_would_have_no_room(tmp_path: Path) -> None:
    """Before it is let in, and not when its worker finds no room."""
    async with serving(tmp_path, replace(LOCAL, min_free_bytes=10**18)) as ground:
        refused = await ground.mine.post("/crawls", CRAWL)
        assert (refused.status, refused.json["detail"]) == (507, NO_ROOM)
        assert (await ground.mine.get("/crawls")).json["crawls"] == []


async def _is_in_trouble(heart: Heartbeat, *, again: Exception | None = None) -> bool:
    return heart.trouble is not None and heart.trouble is not again


async def _is_well(heart: Heartbeat) -> bool:
    return heart.trouble is None
