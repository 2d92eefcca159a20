"""What the documents say of how well personal data is found is what the command prints."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "how-to" / "protect-personal-data.md"
COMMAND = ("-m", "bench.private", "--quality")


@pytest.mark.slow
@pytest.mark.req("SAF-02")
def test_the_documented_quality_is_the_measured_one() -> None:
    done = subprocess.run(
        [sys.executable, *COMMAND], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert done.returncode == 0, done.stderr
    kinds = {line.split()[-4] for line in done.stdout.splitlines()[1:]}
    assert kinds == {"email", "phone", "ssn", "credit_card", "rrn", "address", "name"}
    told = PAGE.read_text("utf-8")
    assert f"`python {' '.join(COMMAND)}`" in told
    assert f"```\n{done.stdout}```\n" in told
