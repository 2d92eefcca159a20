"""`geomi jobs show` says of a job what it always said, wherever the job keeps it."""

from __future__ import annotations

import asyncio
import json
import sys
from contextlib import closing
from pathlib import Path

import pytest

from geomi.adapters.store.store import open_sqlite
from geomi.app import DATABASE, TENANT
from geomi.cli.program import main
from tests.contracts.suites.former_jobs import FORMER_JOBS


@pytest.mark.parametrize("number", range(len(FORMER_JOBS)))
def test_what_a_job_is_is_shown_beside_its_settings(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    number: int,
) -> None:
    said, job = FORMER_JOBS[number]
    with closing(open_sqlite(tmp_path / DATABASE, tenant=TENANT)) as store:
        asyncio.run(store.jobs.create(job))
    monkeypatch.chdir(tmp_path)
    asked = ["geomi", "jobs", "show", job.id, "-o", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", [*asked, "--json"])
    assert main() == 0
    assert json.loads(capsys.readouterr().out)["origins"] == dict(said)
    monkeypatch.setattr(sys, "argv", asked)
    assert main() == 0
    lines = capsys.readouterr().out.splitlines()
    assert all(
        any(line.startswith(name) and line.endswith(f"set by {origin}") for line in lines)
        for name, origin in said
    )
