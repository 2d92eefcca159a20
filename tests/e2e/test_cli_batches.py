"""A job that works in batches pauses between them, and fails if too much of one fails."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.e2e.command import LOCAL, run
from tests.support.server import Reply, Site

QUICK = ["--delay", "0", "--set", "http.max_retries=0"]
TOLERANT = ["--set", "limits.tolerated_failures=20"]
PAUSE_S = 1.5


def routes(*, broken: int, missing: int, fine: int) -> dict[str, Reply]:
    """Return a start page with links to pages that the server fails with, lacks, or has."""
    pages = {f"/broken/{n}": Reply(b"<p>An error</p>", status=500) for n in range(broken)}
    pages |= {f"/missing/{n}": Reply(b"<p>Not here</p>", status=404) for n in range(missing)}
    pages |= {f"/fine/{n}": Reply(f"<p>The page {n}.</p>".encode()) for n in range(fine)}
    links = "".join(f'<a href="{path}">{path}</a>' for path in pages)
    return {"/": Reply(f"<p>A list of pages.</p>{links}".encode()), **pages}


@pytest.mark.slow
@pytest.mark.req("JOB-10")
def test_more_failures_than_tolerated_fail_the_job(tmp_path: Path) -> None:
    folder = ["-o", str(tmp_path)]
    with Site(routes(broken=3, missing=2, fine=5)) as site:
        done = run("crawl", site.url("/"), *folder, *LOCAL, *QUICK, *TOLERANT)
    assert done.returncode == 5, done.stderr
    assert "3 of 10 URLs of batch 2 failed; the job tolerates 20 %" in done.stderr
    job = json.loads(run("status", *folder, "--json").stdout)["job"]
    assert (job["state"], job["stop"], job["stats"]["collected"]) == ("failed", "failed", 6)
    assert "3 of 10 URLs of batch 2 failed" in job["error"]


@pytest.mark.slow
@pytest.mark.req("JOB-10")
def test_as_many_failures_as_tolerated_and_any_number_of_4xx_do_not(tmp_path: Path) -> None:
    folder = ["-o", str(tmp_path)]
    with Site(routes(broken=2, missing=6, fine=2)) as site:
        start = ["crawl", site.url("/"), *folder, *LOCAL, *QUICK]
        done = run(*start, *TOLERANT, "--workers", "2")
    assert done.returncode == 0, done.stderr
    job = json.loads(run("status", *folder, "--json").stdout)["job"]
    assert (job["state"], job["stats"]["failed"]) == ("completed", 8)


@pytest.mark.slow
@pytest.mark.req("POL-09")
def test_a_job_pauses_between_its_batches(tmp_path: Path) -> None:
    with Site(routes(broken=0, missing=0, fine=3)) as site:
        pause = ["--set", f"politeness.batch_pause_s={PAUSE_S}"]
        done = run("crawl", site.url("/"), "-o", str(tmp_path), *LOCAL, *QUICK, *pause)
        assert done.returncode == 0, done.stderr
        started = {seen.path: seen.started_s for seen in site.log}
        ended_s = next(seen.ended_s for seen in site.log if seen.path == "/")
    assert ended_s is not None
    second = sorted(started[f"/fine/{n}"] for n in range(3))
    assert second[0] - ended_s >= PAUSE_S
    assert second[-1] - second[0] < PAUSE_S  # within a batch there is no pause


@pytest.mark.req("JOB-10", "POL-09")
def test_the_knowledge_base_has_the_pause_and_the_share_of_its_seed() -> None:
    shown = run("config", "show", "--profile", "knowledge-base", "--json")
    settings = json.loads(shown.stdout)
    assert settings["politeness.batch_pause_s"] == 5
    assert settings["limits.tolerated_failures"] == 20
