"""A served geomi that is used and killed all the time stays as large as it was."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.e2e.soak import (
    HANDLE_SLACK,
    LOG_BYTES_PER_MINUTE,
    MEMORY_SLACK_MIB,
    TENANTS,
    Sample,
    grown,
    soaking,
)

SHORT_S, LONG_S = 14.0, 1800.0
FLAT = [Sample(n * 1.0, 100.0, 100.0, 3, 40, 1000, 0) for n in range(60)]


@pytest.mark.parametrize(
    "seconds",
    [
        pytest.param(SHORT_S, marks=pytest.mark.slow, id="short"),
        pytest.param(LONG_S, marks=pytest.mark.prove, id="30 minutes"),
    ],
)
def test_nothing_grows_under_load_and_kills(tmp_path: Path, seconds: float) -> None:
    with soaking(tmp_path, seed=1) as soak:
        soak.run(seconds)
        soak.end()
        completed = soak.completed()
        assert grown(soak.samples) == [], (tmp_path / "log").read_text()[-4000:]
    assert completed.keys() == set(TENANTS) and all(completed.values())
    assert soak.kills > 0


def test_what_stays_the_same_has_not_grown() -> None:
    assert grown(FLAT) == []


@pytest.mark.parametrize(
    ("name", "by"),
    [
        ("server_mib", 100.0 * 0.1 + MEMORY_SLACK_MIB + 0.1),
        ("largest_worker_mib", 100.0 * 0.1 + MEMORY_SLACK_MIB + 0.1),
        ("processes", 1),
        ("handles", HANDLE_SLACK + 1),
        ("log_bytes", 2 * LOG_BYTES_PER_MINUTE),
    ],
)
def test_what_grows_is_told(name: str, by: float) -> None:
    late = [replace(one, **{name: getattr(one, name) + by}) for one in FLAT[45:]]
    assert len(grown([*FLAT[:45], *late])) == 1
