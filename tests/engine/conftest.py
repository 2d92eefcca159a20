"""What every crawl on loopback shares: it waits for nobody."""

from __future__ import annotations

import pytest

from geomi.engine.worker import loop, settler


@pytest.fixture(autouse=True)
def quick_polls(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a worker look again, and commit, at once: on loopback only these waits take time."""
    monkeypatch.setattr(loop, "SHORTEST_POLL_S", 0.002)
    monkeypatch.setattr(loop, "LONGEST_POLL_S", 0.005)
    monkeypatch.setattr(settler, "LINGER_S", 0.001)
