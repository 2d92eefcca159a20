"""A store of an older geomi opens with everything it held."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from importlib import resources
from pathlib import Path

import pytest

from geomi.adapters.store.statements import migrations
from geomi.adapters.store.store import open_sqlite
from geomi.errors import StoreError
from geomi.model.config import CrawlConfig, Limits, Politeness
from geomi.model.entry import EntryKind, Source, Tally, UrlEntry
from geomi.model.job import CrawlJob, CrawlStats, JobState
from geomi.model.page import DuplicateReason
from geomi.model.verdict import Outcome, State
from tests.contracts.suites.former_jobs import FORMER_JOBS, SQLITE_STEPS, former_row
from tests.contracts.suites.material import asked, batch, claim, give_back, page, url, visit
from tests.support.waiting import waits

FIRST_ROWS = """
INSERT INTO meta VALUES ('anchor', '["boot", 1.5, 900.0]');
INSERT INTO jobs VALUES (
    1, 'old', 'local', '["http://a.test/"]',
    '{"limits":{"max_pages":7},"politeness":{"delay_s":3.0}}', '[["limits.max_pages","flag"]]',
    100.0, 'processing', 0, 101.0, NULL, 12.5, NULL, '', 1, 3.0, 60.0, 7, 4,
    1, 1, 2, 1, 1, 0, 0, 0, 0, 0, 0, 3, 4096
);
INSERT INTO hosts VALUES (
    'a.test:80', 950.0, NULL, 0.0, 0, 0.5, '192.0.2.1', 960.0, 4, NULL, NULL, 0, 0.0
);
INSERT INTO queues VALUES (1, 'a.test:80', 1, 1, 960.0, 940.0);
INSERT INTO entries VALUES
    (1, 1, :seen, 'http://a.test/1', 1, 90, 'link', 'page', 'http://a.test/', NULL, 0, 930.0,
     'completed', 1, 0.0, 950.0, 'ok', 200, ''),
    (2, 1, :left, 'http://a.test/2', 2, 80, 'sitemap', 'page', NULL, NULL, 1, 931.0,
     'pending', 0, 0.0, NULL, NULL, NULL, '');
INSERT INTO exclusions VALUES (1, 'depth', 2, '["http://a.test/deep"]');
INSERT INTO pages VALUES (
    'local', :seen, 1, 'http://a.test/1', 'http://a.test/1', 200, 'text/html', 1000.0, 87400.0,
    :digest_c, :digest_h, x'', 0, 'segment-1', 10, 20, 'segment-1', 30, 40,
    '"1"', 'Mon, 01 Jan 2024 00:00:00 GMT', 'A page', '', 0
), (
    'local', :near, 2, 'http://a.test/3', 'http://a.test/3', 200, 'text/html', 1000.0, 87400.0,
    :digest_c, :digest_h, x'', 0, 'segment-1', 10, 20, 'segment-1', 30, 40,
    '"1"', 'Mon, 01 Jan 2024 00:00:00 GMT', 'A page', 'http://a.test/1', 1
), (
    'local', :copy, 3, 'http://a.test/4', 'http://a.test/4', 200, 'text/html', 1000.0, 87400.0,
    :digest_c, :digest_h, x'', 0, 'segment-1', 10, 20, 'segment-1', 30, 40,
    '"1"', 'Mon, 01 Jan 2024 00:00:00 GMT', 'A page', 'http://a.test/1', 0
);
INSERT INTO captures VALUES (
    1, 1, :seen, 'http://a.test/1', 'segment-1', 10, 20, 'segment-1', 30, 40, NULL, 0
);
INSERT INTO cursors VALUES (1, 'out', 1, 55);
INSERT INTO robots VALUES ('http', 'a.test:80', 'geomi', 200, x'', 900.0, NULL, '', NULL, 0);
"""


def first_store(path: Path) -> None:
    """Write a store as the first schema had it."""
    folder = resources.files("geomi.adapters.store.sqlite").joinpath("migrations")
    values = {
        "seen": url("/1").url_hash,
        "left": url("/2").url_hash,
        "near": url("/3").url_hash,
        "copy": url("/4").url_hash,
        "digest_c": "c" * 64,
        "digest_h": "h" * 64,
    }
    with closing(sqlite3.connect(path)) as db:
        db.executescript(folder.joinpath("0001_initial.sql").read_text("utf-8"))
        for statement in FIRST_ROWS.split(";\n")[:-1]:
            names = {name: value for name, value in values.items() if f":{name}" in statement}
            db.execute(statement, names)
        db.execute("PRAGMA user_version = 1")
        db.commit()


@waits
async def test_everything_of_the_first_schema_is_there(tmp_path: Path) -> None:
    first_store(tmp_path / "store.db")
    with closing(open_sqlite(tmp_path / "store.db", tenant="local")) as store:
        assert await store.jobs.get("old") == CrawlJob(
            id="old",
            tenant="local",
            seeds=("http://a.test/",),
            config=CrawlConfig(limits=Limits(max_pages=7), politeness=Politeness(delay_s=3.0)),
            state=JobState.PROCESSING,
            created_at_s=100.0,
            started_at_s=101.0,
            active_s=12.5,
            stats=CrawlStats(discovered=2, settled=1, collected=1, requests=3, bytes_received=4096),
            origins=(("limits.max_pages", "flag"),),
        )
        assert await store.census.entry("old", url("/2").url_hash) == UrlEntry(
            job="old",
            url_hash=url("/2").url_hash,
            url="http://a.test/2",
            host="a.test:80",
            depth=2,
            priority=80,
            source=Source.SITEMAP,
            kind=EntryKind.PAGE,
            parent=None,
            origin=None,
            hops=1,
            state=State.PENDING,
            attempts=0,
            due_s=0.0,
            discovered_s=931.0,
        )
        assert await store.pages.get(url("/1").url_hash) == page(url("/1"))
        near = page(url("/3"), duplicate_of=url("/1").url)
        assert await store.pages.get(near.url_hash) == near
        copy = page(url("/4"), duplicate_of=url("/1").url)
        exact = replace(copy, duplicate_reason=DuplicateReason.EXACT)
        assert await store.pages.get(copy.url_hash) == exact
        assert len(await store.pages.feed("old", after=0, limit=9)) == 1
        assert await store.pages.cursor("old", "out") == (1, 55)
        assert await store.census.exclusions("old") == {"depth": (2, ("http://a.test/deep",))}
        assert store.greatest_end_s() == 950.0
        anchor = store.anchor()
        assert anchor is not None and anchor.time_s == 900.0


@waits
async def test_an_old_job_goes_on_with_what_is_new(tmp_path: Path) -> None:
    first_store(tmp_path / "store.db")
    with closing(open_sqlite(tmp_path / "store.db", tenant="local")) as store:
        (lease,) = await claim(store, "old", now_s=1000.0)
        (entry,) = lease.entries
        assert (lease.token, entry.tally, entry.pattern) == (5, Tally(), "")
        links = (replace(url("/3"), pattern="page"), url("/1", depth=0))
        done = replace(visit(lease, now_s=1001.0, discovered=links), asked=(asked("/2"),))
        settled = await store.frontier.settle(batch(done, give_back(lease, end_s=1001.0)))
        assert settled.new_urls == 1
        outlook = await store.census.outlook("old", now_s=1002.0)
        assert outlook.by_state == {State.PENDING: 2, State.COMPLETED: 1}
        again = await store.census.entry("old", url("/1").url_hash)
        assert again is not None
        assert (again.depth, again.outcome, again.state) == (0, Outcome.OK, State.PENDING)
        assert await store.requests.hosts() == ["a.test:80"]


def store_of_former_jobs(path: Path) -> None:
    """Write a store as it was before jobs had fields for what they are."""
    with closing(sqlite3.connect(path)) as db:
        for step in migrations("store.sqlite")[:SQLITE_STEPS]:
            db.executescript(step)
        columns = {row[1] for row in db.execute("PRAGMA table_info(jobs)")}
        for origins, job in FORMER_JOBS:
            row = former_row(origins, job, columns)
            marks = ", ".join(f":{name}" for name in row)
            db.execute(f"INSERT INTO jobs ({', '.join(row)}) VALUES ({marks})", row)
        db.execute(f"PRAGMA user_version = {SQLITE_STEPS}")
        db.commit()


@waits
async def test_what_a_job_is_moves_from_its_origins_into_fields(tmp_path: Path) -> None:
    store_of_former_jobs(tmp_path / "store.db")
    with closing(open_sqlite(tmp_path / "store.db", tenant="local")) as store:
        for _, job in FORMER_JOBS:
            assert await store.jobs.get(job.id) == job


@waits
@pytest.mark.parametrize("text", ["not json", "{}", '["a"]', "[[1]]"])
async def test_a_damaged_job_does_not_keep_the_others_from_moving(
    tmp_path: Path, text: str
) -> None:
    store_of_former_jobs(tmp_path / "store.db")
    with closing(sqlite3.connect(tmp_path / "store.db")) as db:
        db.execute("UPDATE jobs SET origins = ? WHERE id = 'plain'", (text,))
        db.commit()
    with closing(open_sqlite(tmp_path / "store.db", tenant="local")) as store:
        for _, job in FORMER_JOBS:
            if job.id != "plain":
                assert await store.jobs.get(job.id) == job
        with pytest.raises(StoreError, match="jobs"):
            await store.jobs.get("plain")


def test_a_store_that_grew_up_looks_like_a_new_one(tmp_path: Path) -> None:
    first_store(tmp_path / "old.db")
    schemas = []
    for name in ("old.db", "new.db"):
        open_sqlite(tmp_path / name, tenant="local").close()
        with closing(sqlite3.connect(tmp_path / name)) as db:
            rows = db.execute("SELECT type, name, sql FROM sqlite_schema ORDER BY name")
            schemas.append(rows.fetchall())
    assert schemas[0] == schemas[1]
