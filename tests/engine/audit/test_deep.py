"""Stores that were broken on purpose: the check of each invariant sees its own break."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from geomi.app import DATABASE
from geomi.cli.prepare.doctor import doctor
from geomi.engine.audit.invariants import SENTENCES, Invariant
from geomi.errors import RuleBroken
from tests.e2e.command import run
from tests.support.crawl import Ear, crawl_in, home_in, page, plan, robots, to
from tests.support.server import Site
from tests.support.waiting import waits

DELAY_S = 0.01
Spoil = Callable[[Path], None]


@waits
async def _collect(root: Path, site: Site) -> None:
    """Let two tenants collect the same pages."""
    planned = plan([site.url("/")], delay=DELAY_S, assignments=["politeness.max_per_hour=1000"])
    ear = Ear()
    async with home_in(root, ear) as home:
        for tenant in ("local", "other"):
            await crawl_in(home.open_for(tenant), ear, planned)


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Return a data directory in which everything holds."""
    root = tmp_path_factory.mktemp("sound")
    with Site({}) as site:
        site.routes = {
            "/robots.txt": robots("User-agent: *", "Disallow: /private"),
            "/": page("home", "/a", "/b", "/gone", "/private", "/old"),
            "/old": to("/new"),
            "/new": page("new"),
            "/a": page("a"),
            "/b": page("b"),
        }
        _collect(root, site)
    yield root


@pytest.fixture
def copy(sound: Path, tmp_path: Path) -> Path:
    """Return a copy of it, to be spoiled."""
    return Path(shutil.copytree(sound, tmp_path / "data"))


def _execute(*statements: str) -> Spoil:
    def spoil(root: Path) -> None:
        with closing(sqlite3.connect(root / DATABASE)) as db, db:
            for statement in statements:
                db.execute(statement)

    return spoil


def _cut(root: Path) -> None:
    segment = min(root.glob("jobs/*/warc/*.warc.gz"))
    os.truncate(segment, segment.stat().st_size - 1)


def _turn_a_byte(root: Path) -> None:
    place = "SELECT response_segment, response_offset + response_length / 2 FROM captures"
    with closing(sqlite3.connect(root / DATABASE)) as db:
        name, offset = db.execute(f"{place} WHERE seq = 2").fetchone()
    data = bytearray((root / name).read_bytes())
    data[offset] ^= 0xFF
    (root / name).write_bytes(data)


# The second page that was asked for.
SECOND = "number = (SELECT MIN(number) + 1 FROM requests WHERE purpose = 'page')"
BEFORE = (
    "SELECT MAX(earlier.ended_s) FROM requests AS earlier"
    " WHERE earlier.started_s < requests.started_s"
)
COLUMNS = "host, job, owner, ip, purpose, url, status, outcome, floor_s, robots_at_s, robots_line"
AGAIN = (
    f"INSERT INTO requests ({COLUMNS}, started_s, ended_s) SELECT {COLUMNS},"
    f" started_s + 1000 * {{}}, ended_s + 1000 * {{}} FROM requests WHERE {SECOND}"
)

BREAKS: list[tuple[str, Spoil, Invariant, str]] = [
    ("an entry is gone", _execute("DELETE FROM captures WHERE seq = 1"), Invariant.LOST, "is gone"),
    (
        "a counter is changed",
        _execute("UPDATE jobs SET collected = collected + 1 WHERE number = 1"),
        Invariant.COUNTERS,
        "collected is 5, a recount says 4",
    ),
    (
        "an entry is forgotten",
        _execute("DELETE FROM entries WHERE url LIKE '%/gone'"),
        Invariant.COUNTERS,
        "a recount says",
    ),
    (
        "rows of the log are gone",
        _execute("DELETE FROM requests WHERE purpose = 'page'"),
        Invariant.COUNTERS,
        "are in the log",
    ),
    (
        "a row of the log comes earlier",
        _execute(f"UPDATE requests SET started_s = ({BEFORE}) + 0.002 WHERE {SECOND}"),
        Invariant.GAP,
        "s were required",
    ),
    (
        "two requests at once",
        _execute(f"UPDATE requests SET ended_s = ended_s + 1000 WHERE {SECOND}"),
        Invariant.AT_ONCE,
        "had not ended",
    ),
    ("a segment is cut", _cut, Invariant.READABLE, "the record of"),
    ("a byte of a segment is turned", _turn_a_byte, Invariant.READABLE, "the record of"),
    (
        "two copies have changed places",
        _execute(
            "UPDATE captures SET (record_offset, record_length) ="
            " (SELECT record_offset, record_length FROM captures WHERE seq = 2) WHERE seq = 1"
        ),
        Invariant.READABLE,
        "is one of",
    ),
    (
        "a page is another tenant's",
        _execute(
            "UPDATE pages SET tenant = 'x' WHERE tenant = 'local'",
            "UPDATE pages SET tenant = 'local' WHERE tenant = 'other'",
            "UPDATE pages SET tenant = 'other' WHERE tenant = 'x'",
        ),
        Invariant.TENANTS,
        "of tenant `other`",
    ),
    (
        "a copy is another tenant's",
        _execute("UPDATE captures SET job = 2 WHERE seq = 1"),
        Invariant.TENANTS,
        "of tenant `local`",
    ),
    (
        "a page was asked for again and again",
        _execute(*(AGAIN.format(number, number) for number in (1, 2, 3, 4, 5, 6))),
        Invariant.REFETCHED,
        "asked for again: 6",
    ),
    (
        "a private address",
        _execute(
            "UPDATE names SET name = '10.0.0.1' WHERE name LIKE '127.%' AND name NOT LIKE '%:%'"
        ),
        Invariant.GATE,
        "was asked at 10.0.0.1",
    ),
    (
        "robots.txt came after its page",
        _execute(f"UPDATE requests SET robots_at_s = ended_s + 5 WHERE {SECOND}"),
        Invariant.ROBOTS,
        "was fetched after it",
    ),
    (
        "a row that cannot be true",
        _execute(f"UPDATE requests SET ended_s = started_s - 1 WHERE {SECOND}"),
        Invariant.DAMAGED,
        "it ended before it began",
    ),
]


@pytest.mark.parametrize(("spoil", "broken", "told"), [each[1:] for each in BREAKS],
                         ids=[each[0] for each in BREAKS])  # fmt: skip
def test_each_break_is_seen(
    copy: Path,
    capsys: pytest.CaptureFixture[str],
    spoil: Spoil,
    broken: Invariant,
    told: str,
) -> None:
    spoil(copy)
    with pytest.raises(RuleBroken, match=broken):
        doctor(deep=True, output=copy, allow_private=broken is not Invariant.GATE, json=True)
    found = json.loads(capsys.readouterr().out)
    examples = {one["invariant"]: one["examples"] for one in found["invariants"]}
    assert not found["is_good"]
    assert told in " ".join(examples[broken])


def test_everything_holds_and_each_invariant_is_told(
    copy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = (copy / DATABASE).read_bytes()
    doctor(deep=True, output=copy, allow_private=True)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in lines] == [f"✓ {one}" for one in Invariant]
    for one, line in zip(Invariant, lines, strict=True):
        assert SENTENCES[one] in line
        assert "(0 checked" not in line or one is Invariant.FENCE, "every check has looked"
    assert (copy / DATABASE).read_bytes() == before, "looking changes nothing"


def test_a_job_that_lost_pages_on_request_is_left_out(
    copy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _execute(
        "DELETE FROM captures WHERE seq = 1",
        "INSERT INTO takedowns (tenant, key, name, reason, at_s, jobs, pages)"
        " VALUES ('local', 'a', 'a', 'asked', 0, 0, 1)",
    )(copy)
    doctor(deep=True, output=copy, allow_private=True)
    told = capsys.readouterr().out
    assert "1 jobs are at work, have expired or lost pages on request" in told


def test_bytes_that_may_still_come_are_not_missed(
    copy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for segment in copy.glob("jobs/*/warc/*.warc.gz"):
        segment.unlink()
    _execute("UPDATE jobs SET state = 'processing'")(copy)
    doctor(deep=True, output=copy, allow_private=True)
    assert "jobs at work have bytes that are not here yet" in capsys.readouterr().out


@pytest.mark.slow
def test_the_command_ends_with_six_where_something_is_broken(copy: Path) -> None:
    asked = ("doctor", "--deep", "--allow-private", "-o", str(copy))
    assert run(*asked).returncode == 0
    _execute("UPDATE jobs SET collected = collected + 1 WHERE number = 1")(copy)
    said = run(*asked)
    assert said.returncode == 6
    assert "✗ counters" in said.stdout and "a recount says 4" in said.stdout
    assert "error: what must always hold does not: counters" in said.stderr
