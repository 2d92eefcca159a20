"""The chunks of a crawl, by the real command: measured, shown with their bands, and warned of."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.command import LOCAL, run
from tests.support import chunk_sites
from tests.support.server import Reply, Site

QUICK = ("--delay", "0", "--set", "analysis.quality_threshold=0", *LOCAL)
BANDS = {
    "mean_chunk_tokens": (200, 600),
    "empty_chunks": (0, 0.05),
    "repeated_chunks": (0, 0.1),
    "smallest_chunk": (50, None),
    "chunks_per_page": (1, 20),
}


@pytest.mark.slow
@pytest.mark.req("CHK-03", "MON-09", "MON-10", "MON-11", "MON-13")
def test_a_measure_out_of_its_band_is_a_warning_and_in_the_report(tmp_path: Path) -> None:
    output = ("-o", str(tmp_path))
    healthy = _crawled(chunk_sites.healthy(), *output)
    broken = {
        _crawled(chunk_sites.short(), *output): "mean_chunk_tokens",
        _crawled(chunk_sites.empty(), *output): "empty_chunks",
        _crawled(chunk_sites.repeating(), *output): "repeated_chunks",
        _crawled(chunk_sites.long(), *output): "chunks_per_page",
    }
    warned = _chunk_alarms(run("enrich", *output, "--once").stderr)
    assert {job: rule for job, (rule, _) in warned.items()} == broken
    told = dict(warned.values())
    assert "average: 83.95 (normal: 200–600)" in told["mean_chunk_tokens"]
    assert "50 % (normal: ≤ 5 %)" in told["empty_chunks"]
    # Of 24 chunks the twelve pages share one, which eleven of them repeat.
    assert "45.8 % (normal: ≤ 10 %)" in told["repeated_chunks"]
    assert "26 (normal: 1–20)" in told["chunks_per_page"]
    assert all("check " in text or "find " in text for text in told.values())
    # What was told is not told again.
    assert _chunk_alarms(run("enrich", *output, "--once").stderr) == {}

    found = json.loads(run("report", *output, "--job", healthy, "--json").stdout)
    indicators = found["chunks"]["indicators"]
    assert {name: (one["least"], one["most"]) for name, one in indicators.items()} == BANDS
    assert all(one["healthy"] for one in indicators.values())
    assert found["alarms"] == []
    shown = run("report", *output).stdout
    assert f"! chunks_per_page: {told['chunks_per_page']}" in " ".join(shown.split())


def test_a_few_chunks_are_shown_and_not_judged(tmp_path: Path) -> None:
    output = ("-o", str(tmp_path))
    _crawled({"/": chunk_sites.short()["/1"]}, *output)
    assert _chunk_alarms(run("enrich", *output, "--once").stderr) == {}
    shown = " ".join(run("report", *output).stdout.split())
    assert "tokens of a chunk on average 84 (normal: 200–600)" in shown
    assert "too few chunks to judge: 1 of at least 20" in shown


@pytest.mark.req("MON-12", "CHK-02")
def test_a_small_rest_is_no_chunk_of_its_own(tmp_path: Path) -> None:
    """Of 510 words two chunks are made, and not one of 480 and one of 30."""
    output = ("-o", str(tmp_path))
    words = random.Random(0).choices(["river", "stone", "bridge", "water", "wheel"], k=510)
    first, rest = " ".join(words[:480]), " ".join(words[480:])
    body = f"<title>Mill</title><main><p>{first}</p><p>{rest}</p></main>"
    _crawled({"/": Reply(body.encode())}, *output, "--index")
    told = json.loads(run("report", *output, "--json").stdout)["chunks"]
    assert (told["pages"], told["chunks"]) == (1, 2)
    assert told["indicators"]["smallest_chunk"]["value"] >= 50


def _crawled(routes: dict[str, Reply], *output: str) -> str:
    """Crawl a site, and return the job."""
    with Site(routes) as site:
        done = run("crawl", site.url("/"), *output, *QUICK, "--json")
    assert done.returncode == 0, done.stderr
    return str(json.loads(done.stdout.splitlines()[-1])["job"])


def _chunk_alarms(stderr: str) -> dict[str, tuple[str, str]]:
    """Return the warnings of a command that are about chunks: rule and message, by job."""
    found = {}
    for line in stderr.splitlines():
        event: dict[str, Any] = json.loads(line) if line.startswith("{") else {}
        rule, _, told = str(event.get("message", "")).removeprefix("alarm ").partition(": ")
        if rule in BANDS:
            found[str(event["job"])] = (rule, told)
    return found
