"""Whoever works at the machine of a service reaches what all of its tenants have."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from geomi.testing.server import Site
from tests.e2e.served import Command, archived, commands, serve_to
from tests.engine.running import page

ROUTES = {"/": page("home", "/a"), "/a": page("next")}


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Run commands in this process."""
    return commands(monkeypatch, capsys)


def test_a_backup_holds_the_pages_of_every_tenant(tmp_path: Path, command: Command) -> None:
    served, file, restored = tmp_path / "served", tmp_path / "b.tar.gz", tmp_path / "restored"
    with Site(ROUTES) as one, Site(ROUTES, address="127.0.0.2") as two:
        serve_to(served, {"a": one.url("/"), "b": two.url("/")})
    code, out, err = command("backup", "-o", str(served), str(file), "--json")
    assert code == 0, err
    assert json.loads(out)["jobs"] == 2
    code, out, err = command("restore", "-o", str(restored), str(file), "--json")
    assert code == 0, err
    assert json.loads(out)["jobs"] == 2
    for tenant in "ab":
        pages = archived(restored, tenant)
        assert len(pages) == 2
        assert pages == archived(served, tenant)
