"""`geomi demo` and `geomi doctor`: everything works together, on this machine alone."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.e2e.command import records, run


@pytest.mark.slow
def test_the_demo_collects_the_sample_web_politely_and_shows_it(tmp_path: Path) -> None:
    folder = tmp_path / "demo"
    shown = run("demo", "-o", str(folder), timeout_s=60)
    assert shown.returncode == 0, shown.stderr
    for told in (
        "Collected 44 pages",
        "docs.geomi.test: 13 pages",
        "/internal/roadmap: robots, line 3: Disallow: /internal/",
        "/products/moon-thread: gone, HTTP 404",
        "/old: redirected, HTTP 301",
        "/archive/measuring-tension: duplicate of",
        "trap.repeating_path: 1",
        "✓ shop.geomi.test: 0.0",
        f"geomi status -o {folder}",
    ):
        assert told in shown.stdout
    assert "\x1b" not in shown.stdout, "no colour where no terminal is"
    assert len(records(folder)) == 44
    assert len(list((folder / "md").rglob("*.md"))) == 44
    assert list((folder / "warc").glob("*.warc.gz"))


@pytest.mark.slow
def test_the_demo_as_data_and_a_second_time_in_the_same_place(tmp_path: Path) -> None:
    for _ in range(2):
        told = run("demo", "-o", str(tmp_path / "demo"), "--json", timeout_s=60)
        assert told.returncode == 0, told.stderr
        data = json.loads(told.stdout)
        assert data["faults"] == []
        assert len(data["pages"]) == 44
        assert min(data["shortest_gap_s"].values()) >= 0.05
        assert len(data["shortest_gap_s"]) == 4


@pytest.mark.slow
def test_the_doctor_finds_this_installation_sound(tmp_path: Path) -> None:
    told = run("doctor", "-o", str(tmp_path / "data"), "--json")
    assert told.returncode == 0, told.stdout + told.stderr
    report = json.loads(told.stdout)
    assert report["is_good"]
    names = {check["name"] for check in report["checks"]}
    assert {"python", "turbohtml", "sqlite", "clock", "space", "sample crawl"} <= names
    assert not (tmp_path / "data").exists(), "looking makes no directory"


@pytest.mark.slow
def test_the_doctor_names_what_is_wrong(tmp_path: Path) -> None:
    (tmp_path / "geomi.db").touch()
    with closing(sqlite3.connect(tmp_path / "geomi.db")) as db:
        db.execute("PRAGMA user_version = 999")
    told = run("doctor", "-o", str(tmp_path), env={"GEOMI_MIN_FREE_BYTES": str(10**18)})
    assert told.returncode == 1
    assert "✗ space: " in told.stdout
    assert "✗ store: the store" in told.stdout
    assert "✓ sample crawl" in told.stdout
    assert told.stderr == "error: something is wrong: space, store\n"
