"""What only a store in a file has to keep: versions, full disks, locks, copies, crashes."""

from __future__ import annotations

import asyncio
import re
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from importlib import resources
from pathlib import Path

import pytest

from geomi.adapters.store.sqlite import frontier
from geomi.adapters.store.sqlite.connection import SqliteDatabase
from geomi.adapters.store.statements import statements
from geomi.adapters.store.store import DatabaseStore, open_sqlite
from geomi.adapters.store.tables.documents import SQL as DOCUMENTS
from geomi.adapters.store.tables.documents import conditions
from geomi.errors import StoreBusy, StoreError, StoreFull, StoreTooNew
from geomi.model.dataset.queue import LoanSettlement
from geomi.model.entry import Discovered
from geomi.model.index.document import DocumentFilter
from geomi.model.verdict import State
from tests.contracts.suites.damaging import DAMAGES, damage_id, fill, read_all
from tests.contracts.suites.material import (
    START_S,
    batch,
    begin,
    claim,
    claim_one,
    give_back,
    job,
    page,
    url,
    visit,
)
from tests.contracts.suites.queueing import DATASET, borrow_one, bury, sent
from tests.support.waiting import waits


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


@pytest.fixture
def store(path: Path) -> Iterator[DatabaseStore]:
    with closing(open_sqlite(path, tenant="local")) as opened:
        yield opened


class TestOpening:
    @waits
    async def test_what_was_written_is_there_after_a_restart(self, path: Path) -> None:
        with closing(open_sqlite(path, tenant="local")) as store:
            await begin(store, url("/1"), url("/2"))
            lease = await claim_one(store)
            await store.frontier.settle(batch(visit(lease, page=page(url("/1")))))
        with closing(open_sqlite(path, tenant="local")) as store:
            assert (await store.census.outlook("job", now_s=START_S)).leased == 1
            assert await store.pages.get(url("/1").url_hash) == page(url("/1"))
            assert await claim(store) == []

    def test_a_store_of_a_newer_geomi_is_refused_with_both_versions(self, path: Path) -> None:
        open_sqlite(path, tenant="local").close()
        with closing(sqlite3.connect(path)) as db:
            known = db.execute("PRAGMA user_version").fetchone()[0]
            db.execute("PRAGMA user_version = 999")
        with pytest.raises(StoreTooNew, match=rf"999.*{known}"):
            open_sqlite(path, tenant="local")

    def test_a_schema_is_applied_once_however_many_open_it(self, path: Path) -> None:
        with ThreadPoolExecutor(8) as crowd:
            opened = list(crowd.map(lambda _: open_sqlite(path, tenant="local"), range(8)))
        for store in opened:
            store.close()
        with closing(sqlite3.connect(path)) as db:
            steps = resources.files("geomi.adapters.store.sqlite").joinpath("migrations")
            assert db.execute("PRAGMA user_version").fetchone() == (len(list(steps.iterdir())),)
            assert db.execute("PRAGMA journal_mode").fetchone() == ("wal",)

    @pytest.mark.parametrize("place", ["missing/store.db", "folder", "garbage"])
    def test_a_place_that_cannot_be_used_is_named(self, tmp_path: Path, place: str) -> None:
        (tmp_path / "folder").mkdir()
        (tmp_path / "garbage").write_bytes(b"This is not a database at all. " * 200)
        with pytest.raises(StoreError, match=place):
            open_sqlite(tmp_path / place, tenant="local")


class TestFailing:
    @waits
    async def test_a_full_disk_commits_nothing_and_can_be_freed(self, path: Path) -> None:
        database = SqliteDatabase(path, busy_timeout_s=1.0)
        with closing(DatabaseStore(database, frontier, "local")) as store:
            await begin(store, url())
            lease = await claim_one(store)
            links = tuple(url(f"/{number}") for number in range(3000))
            sent = batch(visit(lease, discovered=links), give_back(lease))
            before = await store.census.outlook("job", now_s=START_S)
            used = database.write_now(lambda db: db.execute("PRAGMA page_count").fetchone()[0])
            database.write_now(lambda db: db.execute(f"PRAGMA max_page_count = {used + 5}"))
            with pytest.raises(StoreFull, match=r"store\.db"):
                await store.frontier.settle(sent)
            assert await store.census.outlook("job", now_s=START_S) == before
            database.write_now(lambda db: db.execute("PRAGMA max_page_count = 1000000"))
            assert (await store.frontier.settle(sent)).new_urls == 3000

    @waits
    async def test_a_lock_held_too_long_is_told(self, path: Path) -> None:
        with (
            closing(open_sqlite(path, tenant="local", busy_timeout_s=0.01)) as store,
            closing(sqlite3.connect(path, isolation_level=None)) as other,
        ):
            await store.jobs.create(job())
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(StoreBusy, match="another process"):
                await store.frontier.add("job", [url()], now_s=START_S)
            assert await store.jobs.get("job") is not None  # readers never wait
            other.execute("COMMIT")
            assert await store.frontier.add("job", [url()], now_s=START_S) == 1

    @waits
    async def test_a_transaction_that_fails_leaves_nothing(self, store: DatabaseStore) -> None:
        await begin(store, url())
        lease = await claim_one(store)
        broken = Discovered(b"x" * 16, None, "a.test:80", 1, 1, url().source)  # type: ignore[arg-type]  # the point
        with pytest.raises(StoreError):
            await store.frontier.settle(batch(visit(lease, discovered=(broken,))))
        with pytest.raises(StoreError):
            await store.frontier.add("job", [url("/fine"), broken], now_s=START_S)
        assert (await store.census.outlook("job", now_s=START_S)).by_state == {State.PENDING: 1}


class TestCopying:
    @waits
    async def test_a_copy_is_a_store_of_its_own(self, store: DatabaseStore, tmp_path: Path) -> None:
        await begin(store, url("/1"), url("/2"))
        await bury(store.queues, "dead", "L1")
        await store.queues.send(DATASET, [sent("waiting")])
        store.backup(tmp_path / "copy.db")
        await store.frontier.add("job", [url("/later")], now_s=START_S)
        await store.queues.erase()
        with closing(open_sqlite(tmp_path / "copy.db", tenant="local")) as copy:
            assert (await copy.census.outlook("job", now_s=START_S)).pending == 2
            assert await copy.frontier.add("job", [url("/3")], now_s=START_S) == 1
            assert (await borrow_one(copy.queues)).messages == (sent("waiting"),)
            assert (letter := await copy.queues.letter(DATASET, "L1")) is not None
            assert letter.message == sent("dead")

    @waits
    async def test_a_message_that_is_done_leaves_nothing(
        self, store: DatabaseStore, path: Path
    ) -> None:
        await store.queues.send(DATASET, [sent("1")])
        loan = await borrow_one(store.queues)
        await store.queues.settle(DATASET, loan, LoanSettlement(done=("1",)))
        with closing(sqlite3.connect(path)) as db:
            for table in ("seed_messages", "seed_bodies"):
                assert db.execute(f"SELECT COUNT(*) FROM {table}").fetchone() == (0,)

    def test_a_copy_that_cannot_be_written_is_told(self, store: DatabaseStore, path: Path) -> None:
        with pytest.raises(StoreError, match="nowhere"):
            store.backup(path.parent / "nowhere" / "copy.db")


class TestDamage:
    @pytest.mark.parametrize(("table", "change"), DAMAGES, ids=damage_id)
    @waits
    async def test_a_value_that_cannot_be_read_names_its_row(
        self, store: DatabaseStore, path: Path, table: str, change: str
    ) -> None:
        await fill(store)
        with closing(sqlite3.connect(path, isolation_level=None)) as db:
            assert db.execute(f"UPDATE {table} SET {change}").rowcount > 0
        with pytest.raises(StoreError, match=f"row `.+` of table `{table}`") as raised:
            await read_all(store)
        assert (raised.value.exit_code, "backup" in raised.value.hint) == (4, True)


CRASHING = """
import asyncio, sys
from pathlib import Path
from geomi.adapters.store.store import open_sqlite
from tests.contracts.suites.material import batch, begin, claim, give_back, page, url, visit
from tests.contracts.suites.material import config

async def main():
    store = open_sqlite(Path(sys.argv[1]), tenant="local")
    await begin(store, url("/"), rules=config(delay_s=0.0))
    now_s, settled = 1000.0, 0
    while True:
        for lease in await claim(store, now_s=now_s, urls=3):
            visits = []
            for entry in lease.entries:
                settled += 1
                links = tuple(url(f"/{settled}/{number}") for number in range(20))
                visits.append(visit(lease, entry, discovered=links, page=page(url(f"/{settled}"))))
            await store.frontier.settle(batch(*visits, give_back(lease, end_s=now_s)))
            print(settled, flush=True)
        now_s += 1

asyncio.run(main())
"""


class TestCrashing:
    def test_what_was_settled_before_a_kill_is_there_and_nothing_half(self, path: Path) -> None:
        with subprocess.Popen(
            [sys.executable, "-c", CRASHING, str(path)], stdout=subprocess.PIPE, text=True
        ) as worker:
            assert worker.stdout is not None
            for _ in range(40):
                settled = int(worker.stdout.readline())
            worker.kill()
            told = [settled, *map(int, worker.stdout.read().split())]
        asyncio.run(self._check(path, told[-1]))

    async def _check(self, path: Path, told: int) -> None:
        with closing(open_sqlite(path, tenant="local")) as store:
            found = await store.jobs.get("job")
            entries = await store.census.entries("job", state=None, after=b"", limit=100_000)
            captures = await store.pages.feed("job", after=0, limit=100_000)
        assert found is not None
        ended = [entry for entry in entries if entry.state is State.COMPLETED]
        assert told <= found.stats.settled <= told + 3
        assert found.stats.settled == len(ended) == len(captures)
        assert found.stats.discovered == len(entries) == 1 + 20 * len(ended)


class TestStatements:
    @pytest.mark.parametrize(
        "name",
        sorted(
            file.name.removesuffix(".sql")
            for file in resources.files("geomi.adapters.store.sqlite").joinpath("sql").iterdir()
        ),
    )
    def test_each_says_what_it_does(self, name: str) -> None:
        for text in statements("store.sqlite", name).values():
            assert text.startswith("-- ")
            assert sqlite3.complete_statement(text + ";")

    def test_links_are_looked_up_by_their_keys_alone(
        self, store: DatabaseStore, path: Path
    ) -> None:
        asked = statements("store.sqlite", "links")["absent"].replace("/* asked */", "(0,?,?,?)")
        with closing(sqlite3.connect(path)) as db:
            plan = db.execute(f"EXPLAIN QUERY PLAN {asked}", (1, b"x" * 16, 0)).fetchall()
        assert any("USING COVERING INDEX entries_key" in line for *_, line in plan)

    @pytest.mark.parametrize(
        ("file", "name", "index"),
        [
            ("claim", "due_entries", "entries_next"),
            ("claim", "due_entries", "entries_later"),
            ("claim", "first_due", "entries_next"),
            ("claim", "first_due", "entries_later"),
            ("cash", "lift", "entries_oldest"),
            ("cash", "in_pattern", "entries_of_pattern"),
            ("cash", "others", "jobs_open"),
        ],
    )
    def test_what_waits_is_found_by_an_index_of_its_state(
        self, store: DatabaseStore, path: Path, file: str, name: str, index: str
    ) -> None:
        """An index of some states alone serves what is asked with these very constants."""
        asked = statements("store.sqlite", file)[name]
        values = dict.fromkeys(re.findall(r":([a-z_]+)", asked), 1)
        with closing(sqlite3.connect(path)) as db:
            plan = db.execute(f"EXPLAIN QUERY PLAN {asked}", values or (1,)).fetchall()
        assert any(f"INDEX {index} " in f"{line} " for *_, line in plan)

    @pytest.mark.parametrize("name", ["list", "delete"])
    @pytest.mark.parametrize(
        ("column", "which"),
        [
            ("collection", DocumentFilter(collection="x")),
            ("site", DocumentFilter(site="x")),
            ("job", DocumentFilter(job="x")),
        ],
        ids=["collection", "site", "job"],
    )
    def test_documents_of_a_filter_are_found_by_an_index(
        self, store: DatabaseStore, path: Path, name: str, column: str, which: DocumentFilter
    ) -> None:
        asked = DOCUMENTS[name].narrowed(conditions(which)).sqlite
        values = {"tenant": "local", "after": "", "many": 9, column: "x"}
        with closing(sqlite3.connect(path)) as db:
            plan = db.execute(f"EXPLAIN QUERY PLAN {asked}", values).fetchall()
        (line,) = (line for *_, line in plan)  # nothing is sorted
        assert f"INDEX documents_of_{column} (tenant=? AND {column}=?" in line

    def test_collections_are_counted_without_their_documents(
        self, store: DatabaseStore, path: Path
    ) -> None:
        with closing(sqlite3.connect(path)) as db:
            asked = DOCUMENTS["collections"].sqlite
            plan = db.execute(f"EXPLAIN QUERY PLAN {asked}", {"tenant": "local"}).fetchall()
        assert [line for *_, line in plan] == [
            "SEARCH documents USING COVERING INDEX documents_of_collection (tenant=?)"
        ]
