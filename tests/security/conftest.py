"""What the suite shares: a canary, a wire that is listened to, a resolver that knows its lines."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from geomi.engine.host import session
from geomi.engine.worker import loop, settler
from tests.security.ground import Ground
from tests.security.network import canary, resolving, wired
from tests.security.spellings import ANSWERS


@pytest.fixture(autouse=True)
def quick_polls(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a worker look again, and commit, at once: on loopback only these waits take time."""
    monkeypatch.setattr(loop, "SHORTEST_POLL_S", 0.002)
    monkeypatch.setattr(loop, "LONGEST_POLL_S", 0.005)
    monkeypatch.setattr(settler, "LINGER_S", 0.001)
    monkeypatch.setattr(session, "GUEST_LOOK_S", 0.05)


@pytest.fixture
def ground(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Ground]:
    """Return where an attack takes place."""
    answers = {name: addresses for name, (addresses, _) in ANSWERS.items()}
    with canary() as sites, wired(monkeypatch) as wire, resolving(monkeypatch, answers):
        yield Ground(tmp_path, sites, wire)
