"""The real command with its state in a real PostgreSQL."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.e2e.command import LOCAL, records, run
from tests.support.postgres import Cluster
from tests.support.server import Reply, Site

PAGES = 30


def _site() -> Site:
    links = "".join(f"<a href='/{number}'>{number}</a> " for number in range(PAGES))
    return Site({"/": Reply(links.encode())} | {f"/{n}": _page(n) for n in range(PAGES)})


def _page(number: int) -> Reply:
    return Reply(f"<title>{number}</title><p>{'word ' * 40} number {number} of many".encode())


@pytest.mark.slow
@pytest.mark.req("FRN-11")
def test_workers_share_a_database_and_every_command_finds_it(
    tmp_path: Path, cluster: Cluster
) -> None:
    db, root = cluster.new_schema(), str(tmp_path / "data")
    with _site() as site:
        seed = site.url("/")
        crawled = run(
            "crawl", seed, *LOCAL, "--delay", "0", "--workers", "2", "-o", root, "--db", db
        )
        assert crawled.returncode == 0, crawled.stderr
        asked = [seen.path for seen in site.log]
    assert len(asked) == len(set(asked))
    assert len(records(tmp_path / "data")) == PAGES + 1
    assert not (tmp_path / "data" / "geomi.db").exists()
    for command in (
        ("status", "--json"),
        ("jobs", "list", "--json"),
        ("why", site.url("/7"), "--json"),
        ("report", "--json"),
        ("audit", "--json"),
    ):
        told = run(*command, "-o", root, "--db", db)
        assert told.returncode == 0, told.stderr
        assert json.loads(told.stdout)
    by_name = run("providers", "list", "--json", "-o", root, env={"GEOMI_DB": db})
    assert by_name.returncode == 0, by_name.stderr


@pytest.mark.slow
def test_a_database_that_cannot_be_reached_is_named_without_its_password(tmp_path: Path) -> None:
    db = "postgresql://crawler:secret@127.0.0.1:1/crawl"
    told = run("status", "-o", str(tmp_path / "data"), "--db", db)
    assert told.returncode == 4
    assert "postgresql://crawler@127.0.0.1:1/crawl" in told.stderr
    assert "secret" not in told.stderr + told.stdout
    shown = run("config", "show", env={"GEOMI_DB": db}, cwd=tmp_path)
    assert "secret" not in shown.stdout + shown.stderr
