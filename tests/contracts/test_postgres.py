"""What only a store in a server has to keep: versions, timeouts, lost connections, crashes."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from importlib import resources
from importlib.util import find_spec
from pathlib import Path

import pytest

from geomi.adapters.machine.clock import open_shared_clock, system_readings
from geomi.adapters.store.statements import migrations, statements
from geomi.app.store import ServerTime
from geomi.errors import ConfigError, StoreBusy, StoreError, StoreFull, StoreTooNew
from geomi.model.entry import Discovered
from geomi.model.index.document import DocumentFilter
from geomi.model.site import Takedown
from geomi.model.verdict import State
from geomi.ports.runtime import ServerClock
from tests.conftest import missing_part
from tests.contracts.suites.alike import sketch_of
from tests.contracts.suites.attending import card
from tests.contracts.suites.damaging import DAMAGES, damage_id, fill, read_all
from tests.contracts.suites.former_jobs import FORMER_JOBS, POSTGRES_STEPS, former_row
from tests.contracts.suites.knowing import document
from tests.contracts.suites.material import (
    START_S,
    asked,
    batch,
    begin,
    claim,
    claim_one,
    config,
    give_back,
    job,
    page,
    url,
    visit,
)
from tests.support.postgres import NEWEST, VERSIONS, Cluster, programs, running_cluster
from tests.support.waiting import waits

if find_spec("psycopg") is None:
    missing_part("PostgreSQL: pip install '.[postgres,dev]'")

import psycopg

from geomi.adapters.store.postgres.address import read_address
from geomi.adapters.store.postgres.connection import PostgresDatabase
from geomi.adapters.store.postgres.session import PostgresSession
from geomi.adapters.store.session import Statement
from geomi.adapters.store.store import DatabaseStore, open_postgres


@pytest.fixture
def place(cluster: Cluster) -> str:
    return cluster.new_schema()


@pytest.fixture
def store(place: str) -> Iterator[DatabaseStore]:
    with closing(open_postgres(place, tenant="local")) as opened:
        yield opened


def server_clock(store: DatabaseStore) -> ServerClock:
    """Return the clock that a store on a server has."""
    assert store.server_clock is not None
    return store.server_clock


@pytest.fixture
def other(place: str) -> Iterator[psycopg.Connection]:
    """Another program that is connected to the same store."""
    address = read_address(place)
    with psycopg.connect(address.url, autocommit=True) as db:
        db.execute("SELECT set_config('search_path', %s, false)", (address.schema,))
        yield db


class TestAddress:
    @pytest.mark.parametrize(
        ("given", "shown"),
        [
            ("postgresql://u:secret@h:5/d", "postgresql://u@h:5/d"),
            ("postgres://u:s%40cret@h/d?sslmode=require", "postgres://u@h/d?sslmode=require"),
            ("postgresql://h/d?user=u&password=secret", "postgresql://h/d?user=u"),
            ("postgresql://u:a@b:secret@h/d", "postgresql://u@h/d"),
            (
                "postgresql:///d?host=/run/db&schema=mine",
                "postgresql:///d?host=/run/db&schema=mine",
            ),
        ],
        ids=["user", "quoted", "query", "at", "socket"],
    )
    def test_no_password_is_shown(self, given: str, shown: str) -> None:
        address = read_address(given)
        assert address.shown == shown
        assert "schema" not in address.url

    @pytest.mark.parametrize(
        "given",
        [
            "mysql://h/d",
            "postgresql://[::1/d",
            "postgresql://h/d?schema=a.b",
            "postgresql://h/d?schema=%22",
            "postgresql://h/d?schema=Mine",
            f"postgresql://h/d?schema={'a' * 64}",
        ],
        ids=["scheme", "host", "dot", "quote", "capital", "long"],
    )
    def test_nonsense_is_refused(self, given: str) -> None:
        with pytest.raises(ConfigError):
            read_address(given)

    def test_the_longest_name_is_not_refused(self) -> None:
        assert read_address(f"postgresql://h/d?schema={'a' * 63}").schema == "a" * 63


class TestOpening:
    @waits
    async def test_what_was_written_is_there_after_a_restart(self, place: str) -> None:
        with closing(open_postgres(place, tenant="local")) as store:
            await begin(store, url("/1"), url("/2"))
            lease = await claim_one(store)
            await store.frontier.settle(batch(visit(lease, page=page(url("/1")))))
        with closing(open_postgres(place, tenant="local", create=False)) as store:
            assert (await store.census.outlook("job", now_s=START_S)).leased == 1
            assert await store.pages.get(url("/1").url_hash) == page(url("/1"))
            assert await claim(store) == []

    def test_who_only_looks_makes_nothing(self, place: str, other: psycopg.Connection) -> None:
        with pytest.raises(StoreError, match="holds no geomi data"):
            open_postgres(place, tenant="local", create=False)
        found = other.execute("SELECT to_regnamespace(%s)", (read_address(place).schema,))
        assert found.fetchone() == (None,)

    def test_a_store_of_a_newer_geomi_is_refused_with_both_versions(
        self, place: str, other: psycopg.Connection
    ) -> None:
        open_postgres(place, tenant="local").close()
        other.execute("INSERT INTO schema_steps (step) VALUES (999)")
        with pytest.raises(StoreTooNew, match=rf"999.*{len(migrations('store.postgres'))}"):
            open_postgres(place, tenant="local")

    def test_a_schema_is_applied_once_however_many_open_it(
        self, place: str, other: psycopg.Connection
    ) -> None:
        with ThreadPoolExecutor(8) as crowd:
            opened = list(crowd.map(lambda _: open_postgres(place, tenant="local"), range(8)))
        for store in opened:
            store.close()
        steps = other.execute("SELECT step FROM schema_steps ORDER BY step").fetchall()
        assert steps == [(number + 1,) for number in range(len(migrations("store.postgres")))]

    @waits
    async def test_what_a_job_is_moves_from_its_origins_into_fields(
        self, place: str, other: psycopg.Connection
    ) -> None:
        other.execute(f'CREATE SCHEMA "{read_address(place).schema}"')
        for number, step in enumerate(migrations("store.postgres")[:POSTGRES_STEPS], start=1):
            other.execute(step)
            other.execute("INSERT INTO schema_steps (step) VALUES (%s)", (number,))
        described = other.execute("SELECT * FROM jobs LIMIT 0").description or ()
        for origins, former in FORMER_JOBS:
            row = former_row(origins, former, {column.name for column in described})
            marks = ", ".join(f"%({name})s" for name in row)
            other.execute(f"INSERT INTO jobs ({', '.join(row)}) VALUES ({marks})", row)
        with closing(open_postgres(place, tenant="local")) as store:
            for _, former in FORMER_JOBS:
                assert await store.jobs.get(former.id) == former

    def test_a_server_that_is_not_there_is_told_at_once_without_the_password(self) -> None:
        with pytest.raises(StoreError, match=r"postgresql://u@127\.0\.0\.1:1/d") as raised:
            open_postgres("postgresql://u:secret@127.0.0.1:1/d", tenant="local")
        assert "secret" not in raised.value.message

    def test_small_tables_that_change_all_the_time_are_vacuumed_eagerly(
        self, store: DatabaseStore, other: psycopg.Connection
    ) -> None:
        for table in ("jobs", "hosts", "queues", "entries"):
            found = other.execute(
                "SELECT reloptions::text FROM pg_class WHERE oid = %s::regclass", (table,)
            ).fetchone()
            assert found is not None and "autovacuum_vacuum_scale_factor" in str(found[0])

    def test_what_waits_is_found_by_small_indexes(
        self, store: DatabaseStore, other: psycopg.Connection
    ) -> None:
        indexes: dict[str, str] = dict(
            other.execute(
                "SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = current_schema()"
            ).fetchall()
        )
        partial = {name for name, text in indexes.items() if " WHERE " in text}
        assert {"entries_next", "entries_later", "queues_ready", "hosts_lent"} <= partial
        # A count or a time that changes with every settlement must not stand in an index: each
        # change would write all indexes of its table anew.
        assert "pending" not in indexes["queues_ready"]
        assert "lease_until_s" not in indexes["hosts_lent"] + indexes["hosts_lent_ip"]

    def test_rows_that_change_all_the_time_have_room_beside_them(
        self, store: DatabaseStore, other: psycopg.Connection
    ) -> None:
        for table in ("jobs", "hosts", "queues"):
            found = other.execute(
                "SELECT reloptions::text FROM pg_class WHERE oid = %s::regclass", (table,)
            ).fetchone()
            assert found is not None and "fillfactor" in str(found[0])


class TestArrays:
    @pytest.mark.parametrize(
        ("kind", "values"),
        [
            ("bigint", [1, -(2**63), 2**63 - 1]),
            ("bigint", [None, 7, None]),
            ("integer", [3, None]),
            ("float8", [0.5, -1e300, None]),
            ("float8", [0.25]),
            ("float8", [1, 0.25, None]),
            ("text", ["", "a", "Gr\u00fc\u00dfe \U0001f577", None, '{,}"\\']),
            ("bytea", [b"", bytes(range(256)), None, b"x" * 16]),
            ("text", []),
            ("bigint", [None, None]),
            ("boolean", [True, None, False]),
        ],
    )
    def test_a_column_arrives_as_it_was_sent(
        self, store: DatabaseStore, kind: str, values: list[object]
    ) -> None:
        statement = Statement("", f"SELECT %(values)b::{kind}[]")
        told = store.database.read_now(lambda db: db.value(statement, {"values": values}))
        assert told == values

    def test_nul_is_replaced_wherever_it_stands(self, store: DatabaseStore) -> None:
        values = {"values": ["a\0b", None, "c"]}
        statement = Statement("", "SELECT %(values)b::text[]")
        told = store.database.read_now(lambda db: db.value(statement, values))
        assert told == ["a\ufffdb", None, "c"]


class TestTime:
    def test_the_servers_time_is_told_as_it_is(self, store: DatabaseStore) -> None:
        before_s = system_readings().wall_s()
        told_s = server_clock(store).time_s()
        assert before_s - 1 <= told_s <= system_readings().wall_s() + 1  # the same machine here


class TestFailing:
    @waits
    async def test_a_full_disk_commits_nothing_and_can_be_freed(
        self, store: DatabaseStore, other: psycopg.Connection
    ) -> None:
        await begin(store, url())
        lease = await claim_one(store)
        sent = batch(visit(lease, discovered=(url("/1"), url("/2"))), give_back(lease))
        before = await store.census.outlook("job", now_s=START_S)
        other.execute(
            "CREATE FUNCTION fill() RETURNS trigger LANGUAGE plpgsql AS "
            "$$ BEGIN RAISE disk_full; END $$"
        )
        other.execute(
            "CREATE TRIGGER full_disk BEFORE UPDATE ON jobs FOR EACH ROW EXECUTE FUNCTION fill()"
        )
        with pytest.raises(StoreFull, match="nothing of the last batch"):
            await store.frontier.settle(sent)
        assert await store.census.outlook("job", now_s=START_S) == before
        other.execute("DROP TRIGGER full_disk ON jobs")
        assert (await store.frontier.settle(sent)).new_urls == 2

    @waits
    async def test_a_lock_held_too_long_is_told(
        self, place: str, other: psycopg.Connection
    ) -> None:
        with closing(open_postgres(place, tenant="local", busy_timeout_s=0.2)) as store:
            await store.jobs.create(job())
            with other.transaction():
                other.execute("SELECT 1 FROM jobs FOR UPDATE")
                with pytest.raises(StoreBusy, match="lock timeout"):
                    await store.frontier.add("job", [url()], now_s=START_S)
                assert await store.jobs.get("job") is not None  # readers never wait
            assert await store.frontier.add("job", [url()], now_s=START_S) == 1

    @waits
    async def test_whoever_stops_in_the_middle_is_ended_before_others_give_up(
        self, place: str, other: psycopg.Connection
    ) -> None:
        with closing(open_postgres(place, tenant="local", busy_timeout_s=10)) as store:
            (told,) = await asyncio.to_thread(
                store.database.read_now,  # the session's own settings are not seen elsewhere
                lambda db: db.rows(
                    "SELECT current_setting('lock_timeout'),"
                    " current_setting('idle_in_transaction_session_timeout'),"
                    " current_setting('statement_timeout')"
                ),
            )
        assert told == ("10s", "5s", "15min")

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

    @waits
    async def test_text_with_nul_is_kept_without_it(self, store: DatabaseStore) -> None:
        await begin(store, url())
        lease = await claim_one(store)
        kept = replace(page(url(), title="a\0b"), etag="\0")
        await store.frontier.settle(batch(replace(visit(lease, page=kept), detail="x\0y")))
        found = await store.pages.get(url().url_hash)
        assert found is not None and (found.title, found.etag) == ("a\ufffdb", "\ufffd")
        entry = await store.census.entry("job", url().url_hash)
        assert entry is not None and entry.detail == "x\ufffdy"

    def test_a_server_is_not_a_file_that_could_be_copied(
        self, store: DatabaseStore, tmp_path: Path
    ) -> None:
        with pytest.raises(StoreError, match="not a file") as raised:
            store.backup(tmp_path / "copy.db")
        assert "pg_dump" in raised.value.hint


class TestDamage:
    @pytest.mark.parametrize(("table", "change"), DAMAGES, ids=damage_id)
    @waits
    async def test_a_value_that_cannot_be_read_names_its_row(
        self, store: DatabaseStore, other: psycopg.Connection, table: str, change: str
    ) -> None:
        await fill(store)
        assert other.execute(f"UPDATE {table} SET {change}").rowcount > 0
        with pytest.raises(StoreError, match=f"row `.+` of table `{table}`"):
            await read_all(store)


class TestLostConnections:
    @waits
    async def test_work_goes_on_when_the_server_has_ended_all_connections(
        self, store: DatabaseStore, other: psycopg.Connection
    ) -> None:
        await begin(store, url("/1"), url("/2"))
        _end_all(other)
        lease = await claim_one(store)
        _end_all(other)
        settled = await store.frontier.settle(
            batch(*(visit(lease, entry) for entry in lease.entries), give_back(lease))
        )
        assert settled.lost == ()
        assert (await store.census.outlook("job", now_s=START_S)).by_state == {State.COMPLETED: 2}

    @waits
    async def test_a_transaction_is_done_again_when_its_connection_ends_in_it(
        self, place: str, other: psycopg.Connection
    ) -> None:
        with closing(open_postgres(place, tenant="local")) as store:
            await store.jobs.create(job())
            with other.transaction():
                other.execute("SELECT 1 FROM jobs FOR UPDATE")
                adding = asyncio.create_task(
                    store.frontier.add("job", [url("/1"), url("/2")], now_s=START_S)
                )
                while not _waiting(other):  # noqa: ASYNC110  # nothing tells us
                    await asyncio.sleep(0.01)
                _end_all(other)
            assert await adding == 2
            assert (await store.census.outlook("job", now_s=START_S)).pending == 2

    def test_a_connection_whose_driver_is_stuck_is_opened_anew(self, place: str) -> None:
        database = PostgresDatabase(read_address(place), busy_timeout_s=5)
        seen: list[object] = []

        def stick_once(db: PostgresSession) -> object:
            seen.append(db.value("SELECT pg_backend_pid()"))
            if len(seen) == 1:  # as psycopg says it: without an SQLSTATE
                raise psycopg.OperationalError("cannot exit pipeline mode while busy")
            return seen[-1]

        with closing(database):
            assert database.write_now(stick_once) == seen[1] != seen[0]

    @waits
    async def test_a_server_that_crashes_and_comes_back_is_waited_for(
        self, server_programs: Path
    ) -> None:
        with (
            running_cluster(server_programs) as own,
            closing(open_postgres(own.new_schema(), tenant="local")) as store,
        ):
            await begin(store, url("/1"), url("/2"))
            lease = await claim_one(store)
            own.stop(signal.SIGQUIT)
            settling = asyncio.create_task(
                store.frontier.settle(batch(visit(lease), give_back(lease)))
            )
            looking = asyncio.create_task(store.census.outlook("job", now_s=START_S))
            await asyncio.to_thread(own.start)
            assert (await settling).lost == ()
            assert sum((await looking).by_state.values()) == 2
            outlook = await store.census.outlook("job", now_s=START_S)
            assert outlook.by_state == {State.PENDING: 1, State.COMPLETED: 1}

    def test_whoever_joins_meanwhile_waits_too(self, server_programs: Path) -> None:
        with running_cluster(server_programs) as own, ThreadPoolExecutor(1) as thread:
            own.stop(signal.SIGKILL)
            joining = thread.submit(open_postgres, own.new_schema(), tenant="local", waits=True)
            own.restart()
            with closing(joining.result(20)) as store:
                assert server_clock(store).time_s() > 0


def _end_all(other: psycopg.Connection) -> None:
    """End every connection but this one."""
    other.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE application_name = 'geomi' AND pid <> pg_backend_pid()"
    )


def _waiting(other: psycopg.Connection) -> bool:
    """Whether somebody waits for a lock."""
    row = other.execute("SELECT count(*) FROM pg_locks WHERE NOT granted").fetchone()
    return row is not None and row[0] > 0


@pytest.fixture(params=sorted(VERSIONS))
def each_cluster(request: pytest.FixtureRequest, server_programs: Path) -> Iterator[Cluster]:
    """Run a server of each version that there is: their planners differ."""
    if request.param == NEWEST:
        yield request.getfixturevalue("cluster")
        return
    folder = programs(request.param)
    assert folder is not None
    with running_cluster(folder) as started:
        yield started


class TestPlans:
    def test_no_claim_and_no_settlement_reads_a_whole_table(self, each_cluster: Cluster) -> None:
        idle, busy = each_cluster.new_schema(), each_cluster.new_schema()
        open_postgres(idle, tenant="local").close()  # making an index reads its table
        asyncio.run(_crawl_some(busy))
        assert _scans(busy) == _scans(idle)

    def test_what_is_read_for_a_page_does_not_grow_with_the_pages(
        self, each_cluster: Cluster
    ) -> None:
        # Plans are made while tables are empty, and kept.
        place = each_cluster.new_schema()
        with closing(open_postgres(place, tenant="local")) as store:
            asyncio.run(_look_up(store, at_s=START_S))
            asyncio.run(_keep_pages(store, 900, at_s=START_S + 1e5))
        before = _rows_read(place)
        assert before < 900 * 100
        with closing(open_postgres(place, tenant="local")) as store:
            asyncio.run(_look_up(store, at_s=START_S + 2e5))
        assert _rows_read(place) - before < 200

    def test_what_is_read_for_a_document_does_not_grow_with_the_documents(
        self, each_cluster: Cluster
    ) -> None:
        place = each_cluster.new_schema()
        with closing(open_postgres(place, tenant="local")) as store:
            for _ in range(10):  # often enough for plans to be kept
                asyncio.run(_use_documents(store))
            many = [document(f"{n:03}", collection=f"c{n % 90}", job=f"j{n}") for n in range(900)]
            asyncio.run(store.documents.put(many))
            asyncio.run(_use_documents(store))
            line = Takedown("k", "n", "r", START_S, 0, 1)
            asyncio.run(store.providers.erase(line, [document("007").url_hash]))
        assert _rows_read(place) < 900


async def _keep_pages(store: DatabaseStore, many: int, *, at_s: float) -> None:
    """Let a job keep pages, ten a transaction."""
    name = f"job-{at_s}"
    await store.jobs.create(job(name, rules=config(delay_s=0.0)))
    urls = [url(f"/{at_s}/{number}", f"{number % 10}.test") for number in range(many)]
    await store.frontier.add(name, urls, now_s=at_s)
    while leases := await claim(store, name, now_s=at_s, hosts=1):
        for lease in leases:
            visits = [
                visit(lease, entry, page=page(url(entry.url), sketch=sketch_of(n), exact_key=b"k"))
                for n, entry in enumerate(lease.entries)
            ]
            await store.frontier.settle(batch(*visits, give_back(lease, end_s=at_s)))
        at_s += 10


async def _look_up(store: DatabaseStore, *, at_s: float) -> None:
    """Do what is done for one page."""
    name = f"job-{at_s}"
    await store.jobs.create(job(name, rules=config(delay_s=0.0)))
    await store.frontier.add(name, [url(f"/{at_s}")], now_s=at_s)
    (lease,) = await claim(store, name, now_s=at_s)
    await store.pages.twins(name, [b"k", b"l"])
    await store.pages.near(sketch_of(77))
    await store.pages.get(url().url_hash)
    await store.refusals.find(url().url_hash, wall_s=at_s)
    await store.frontier.settle(batch(visit(lease, page=page(url(f"/{at_s}"))), give_back(lease)))


async def _use_documents(store: DatabaseStore) -> None:
    """Do what is done for one document."""
    documents = store.documents
    await documents.put([document("500x", collection="mine", host="mine.test", job="mine")])
    assert await documents.get("500x") is not None
    assert len(await documents.known(["500x", "none"])) == 1
    for which in (DocumentFilter("mine"), DocumentFilter(site="mine.test")):
        assert len(await documents.list(which, after="", limit=9)) == 1
    assert await documents.drop(["none"]) == 0
    assert await documents.delete(DocumentFilter(job="mine")) == 1


def _after_all(place: str) -> psycopg.Connection:
    """Connect, and wait for those that were closed: each hands in its counts as it goes."""
    db = psycopg.connect(place, autocommit=True)
    left = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'geomi'"
    while db.execute(left).fetchone() != (0,):
        time.sleep(0.01)
    return db


def _rows_read(place: str) -> int:
    """Return how many index entries were read in a store so far."""
    address = read_address(place)
    with _after_all(address.url) as db:
        row = db.execute(
            "SELECT sum(idx_tup_read) FROM pg_stat_user_indexes WHERE schemaname = %s",
            (address.schema,),
        ).fetchone()
    assert row is not None
    return int(row[0])


def _scans(place: str) -> dict[str, int]:
    """Return how often each large table of a store was read from its beginning to its end."""
    address = read_address(place)
    with _after_all(address.url) as db:
        rows = db.execute(
            "SELECT relname, seq_scan FROM pg_stat_user_tables WHERE schemaname = %s",
            (address.schema,),
        ).fetchall()
    small = ("jobs", "meta", "schema_steps")
    return {name: scans for name, scans in rows if name not in small}


async def _crawl_some(place: str) -> None:
    """Claim and settle some pages with links on many hosts."""
    with closing(open_postgres(place, tenant="local")) as store:
        await begin(store, *(url("/", f"h{number}.test") for number in range(20)))
        for step in range(20):
            now_s = START_S + 100 * step
            for lease in await claim(store, now_s=now_s, hosts=4, urls=4):
                visits = [
                    replace(
                        visit(
                            lease,
                            entry,
                            now_s=now_s,
                            discovered=tuple(
                                url(f"/{step}/{n}", f"h{n}.test", depth=n) for n in range(20)
                            ),
                            page=page(url(f"/{step}"), sketch=sketch_of(step)),
                        ),
                        asked=(asked(at_s=now_s),),
                    )
                    for entry in lease.entries
                ]
                await store.frontier.renew([lease], lease_s=60.0, now_s=now_s)
                await store.frontier.settle(batch(*visits, give_back(lease, end_s=now_s)))


CRASHING = """
import asyncio, sys
from geomi.adapters.store.store import open_postgres
from tests.contracts.suites.material import batch, begin, claim, give_back, page, url, visit
from tests.contracts.suites.material import config

async def main():
    store = open_postgres(sys.argv[1], tenant="local")
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
    def test_what_was_settled_before_a_kill_is_there_and_nothing_half(self, place: str) -> None:
        with subprocess.Popen(
            [sys.executable, "-c", CRASHING, place], stdout=subprocess.PIPE, text=True
        ) as worker:
            assert worker.stdout is not None
            for _ in range(40):
                settled = int(worker.stdout.readline())
            worker.kill()
            told = [settled, *map(int, worker.stdout.read().split())]
        asyncio.run(self._check(place, told[-1]))

    async def _check(self, place: str, told: int) -> None:
        with closing(open_postgres(place, tenant="local")) as store:
            # A commit that was under way ends in the server; whoever takes the row waits for it.
            await store.jobs.worked("job", 0.0)
            found = await store.jobs.get("job")
            entries = await store.census.entries("job", state=None, after=b"", limit=100_000)
            captures = await store.pages.feed("job", after=0, limit=100_000)
        assert found is not None
        ended = [entry for entry in entries if entry.state is State.COMPLETED]
        assert told <= found.stats.settled <= told + 3
        assert found.stats.settled == len(ended) == len(captures)
        assert found.stats.discovered == len(entries) == 1 + 20 * len(ended)


class TestSharedTime:
    """One time for everybody, whatever is done to the server's clock."""

    @waits
    async def test_the_offset_is_set_by_one(self, place: str) -> None:
        with closing(open_postgres(place, tenant="local")) as store:
            before = await server_clock(store).compare(time.time)
            assert abs(before.ahead_s) < 5
            assert before.offset_s == 0.0
            assert await server_clock(store).set_offset(3600.0, instead_of=0.0)
            assert not await server_clock(store).set_offset(7200.0, instead_of=0.0)
            after = await server_clock(store).compare(time.time)
            assert after.offset_s == 3600.0
            assert after.ahead_s - before.ahead_s == pytest.approx(3600.0, abs=1.0)
            assert server_clock(store).time_s() - time.time() == pytest.approx(3600.0, abs=5.0)

    @waits
    async def test_time_is_not_before_the_last_sign_of_a_worker(self, place: str) -> None:
        with closing(open_postgres(place, tenant="local")) as store:
            ahead_s = time.time() + 900
            await store.workers.enrol(card(at_s=ahead_s))
            assert server_clock(store).time_s() == pytest.approx(ahead_s)

    @waits
    async def test_who_comes_while_the_clock_jumps_goes_by_those_who_work(self, place: str) -> None:
        """Else every lease would seem to be over."""
        with closing(open_postgres(place, tenant="local")) as store:
            old = open_shared_clock(server_clock(store), least_s=store.greatest_end_s())
            await store.workers.enrol(card("w-old", at_s=old.now_s()))
            await server_clock(store).set_offset(
                3600.0, instead_of=0.0
            )  # as if the server's clock were set
            new = open_shared_clock(server_clock(store), least_s=store.greatest_end_s())
            assert new.now_s() - old.now_s() > 3500
            async with asyncio.TaskGroup() as group:
                agreeing = group.create_task(
                    ServerTime(
                        store.workers, server_clock(store), new, owner="", silence_s=3.0
                    ).agree()
                )
                await asyncio.sleep(0.1)
                await store.workers.beat(
                    "w-old", jobs=(), pages=0, pages_per_s=0.0, now_s=old.now_s()
                )
                await agreeing
            assert new.now_s() == pytest.approx(old.now_s(), abs=1.0)
            assert (await server_clock(store).compare(old.now_s)).ahead_s == pytest.approx(
                0.0, abs=1.0
            )

    @waits
    async def test_the_dead_are_not_waited_for_long(self, place: str) -> None:
        with closing(open_postgres(place, tenant="local")) as store:
            clock = open_shared_clock(server_clock(store), least_s=store.greatest_end_s())
            await store.workers.enrol(card("w-dead", at_s=clock.now_s() - 600))
            now_s = clock.now_s()
            await ServerTime(
                store.workers, server_clock(store), clock, owner="", silence_s=0.6
            ).agree()
            assert 0.1 < clock.now_s() - now_s < 30


class TestStatements:
    @pytest.mark.parametrize(
        "name",
        sorted(
            file.name.removesuffix(".sql")
            for file in resources.files("geomi.adapters.store.postgres").joinpath("sql").iterdir()
        ),
    )
    def test_each_says_what_it_does(self, name: str) -> None:
        for text in statements("store.postgres", name).values():
            says, does = (
                [line for line in text.splitlines() if line.startswith("--") is is_said]
                for is_said in (True, False)
            )
            assert says and does
            assert ";" not in "".join(does)
