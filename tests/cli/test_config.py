"""What opens doors is never printed."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from geomi import __version__
from geomi.cli.prepare.config import _shown
from geomi.cli.program import main


@pytest.mark.parametrize(
    ("key", "value", "shown"),
    [
        ("limits.max_pages", 5, 5),
        (
            "http.headers",
            (("X-Api-Key", "word"), ("AUTHORIZATION", "word"), ("X-Team", "blue")),
            ["X-Api-Key: ***", "AUTHORIZATION: ***", "X-Team: blue"],
        ),
        ("geomi.http_proxy", "http://user:word@p.test:1", "http://***@p.test:1"),
        ("geomi.http_proxy", "http://p.test:1", "http://p.test:1"),
        ("geomi.no_proxy", "a.test,b.test", "a.test,b.test"),
    ],
)
def test_secrets_are_hidden(key: str, value: object, shown: object) -> None:
    assert _shown(key, value) == shown


@pytest.mark.parametrize(
    ("flags", "name"),
    [
        ((), f"geomi/{__version__} (+https://example.org/us)"),
        (("--profile", "scanner"), "WebKillerAI"),
        (("--set", "http.user_agent=my-bot/1"), "my-bot/1"),
    ],
)
def test_the_name_is_told_as_it_would_be_sent(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    flags: tuple[str, ...],
    name: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GEOMI_CONTACT", "https://example.org/us")
    monkeypatch.setattr(sys, "argv", ["geomi", "config", "show", "--json", *flags])
    assert main() == 0
    assert json.loads(capsys.readouterr().out)["http.user_agent"].startswith(name)
