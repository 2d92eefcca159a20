"""Whoever looks back has to see what went wrong: one crawl, spoiled in many ways."""

from __future__ import annotations

import os
import socket
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from tests.chaos.ground import Back, Case, Ground, wait_until
from tests.support.server import Reply, Seen, Site

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ground]:
    """Return a ground of one small site."""
    with Ground(tmp_path_factory.mktemp("chaos"), Back(), lane=2, hosts=1, pages=6) as made:
        yield made


@pytest.fixture
def crawled(ground: Ground) -> Iterator[Case]:
    """Return a crawl that went well."""
    with ground.case() as case:
        assert case.finish().violations == 0
        yield case


def _execute(statement: str) -> Callable[[Case], None]:
    def spoil(case: Case) -> None:
        with closing(sqlite3.connect(case.data / "geomi.db")) as db, db:
            db.execute(statement)

    return spoil


def _hurry(case: Case) -> None:
    log = case.ground.sites[0].log
    log[3].started_s = (log[2].ended_s or 0.0) + 0.001


def _tear_segment(case: Case) -> None:
    (segment,) = case.data.glob("jobs/*/warc/*.warc.gz")
    os.truncate(segment, segment.stat().st_size - 10)


def _empty_segment(case: Case) -> None:
    (segment,) = case.data.glob("jobs/*/warc/*.warc.gz")
    size_bytes = segment.stat().st_size
    segment.write_bytes(bytes(size_bytes))


def _print_twice(case: Case) -> None:
    file = case.data / "pages.jsonl"
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join([*lines, lines[-1]]))


def _leave_part(case: Case) -> None:
    file: Path = next((case.data / "md").rglob("*.md"))
    file.rename(file.with_suffix(".part"))


def _forget_request(case: Case) -> None:
    del case.ground.sites[0].log[-1]


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (_hurry, "0.02 s were owed"),
        (_execute("UPDATE requests SET started_s = started_s - 0.018 WHERE number = 4"), "audit"),
        (_execute("UPDATE entries SET state = 'pending' WHERE seq = 3"), "a recount says"),
        (_execute("UPDATE jobs SET collected = collected + 1"), "collected is 7"),
        (_execute("DELETE FROM requests WHERE number = 4"), "are in the log"),
        (_execute("UPDATE jobs SET state = 'processing'"), "not completed"),
        (_forget_request, "in the log than the server saw"),
        (_tear_segment, "are committed"),
        (_empty_segment, "the archive has not the bytes"),
        (_print_twice, "2 times"),
        (_leave_part, "in markdown"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_what_went_wrong_is_told(crawled: Case, spoil: Callable[[Case], None], told: str) -> None:
    spoil(crawled)
    found = crawled.look_back()
    assert told in " ".join((*found.impolite, *found.faults))


def test_a_page_that_is_not_there_is_lost(crawled: Case) -> None:
    _execute("DELETE FROM entries WHERE url LIKE '%/5.html'")(crawled)
    (url,) = crawled.look_back().lost
    assert url.endswith("/5.html")


def test_a_request_that_is_read_after_its_sender_died_is_late() -> None:
    """A server that is kept from work cannot say when it came."""

    def busy(_: Seen) -> Reply:
        time.sleep(0.2)  # nothing else is read meanwhile
        return Reply()

    with Site({"/busy": busy}) as site, ExitStack() as stack:
        for path in ("/busy", "/late", "/again"):
            talk = stack.enter_context(socket.create_connection((site.address, site.port)))
            talk.sendall(f"GET {path} HTTP/1.1\r\nHost: a\r\n\r\n".encode())
            wait_until(lambda: len(site.log) > 0)
            if path == "/late":
                talk.close()
        wait_until(lambda: len(site.log) == 3)
    late = {seen.target: seen.is_late for seen in site.log}
    assert late == {"/busy": False, "/late": True, "/again": False}
