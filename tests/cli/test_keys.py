"""Keys on the command line: printed once, listed without what opens with them, revoked."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from geomi.adapters.store.store import open_sqlite
from geomi.app import DATABASE, TENANT
from geomi.cli.program import main

Command = Callable[..., tuple[int, str, str]]


@pytest.fixture
def command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Command:
    """Run commands in this process, in a folder with a new data directory."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "geomi-data").mkdir()
    open_sqlite(tmp_path / "geomi-data" / DATABASE, tenant=TENANT).close()
    monkeypatch.delenv("GEOMI_CONFIG", raising=False)

    def run(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["geomi", "keys", *arguments])
        code = main()
        shown = capsys.readouterr()
        return code, shown.out, shown.err

    return run


@pytest.mark.req("SEC-09")
def test_a_key_is_made_for_a_tenant_and_shown_once(command: Command) -> None:
    code, out, err = command("create", "--tenant", "acme", "--scope", "read", "--label", "wiki")
    assert code == 0 and out.startswith("geomi_") and "shows it only now" in err
    name, secret = out.strip().removeprefix("geomi_").split("_", 1)
    code, out, _ = command("list", "--json")
    (key,) = json.loads(out)
    assert (key["id"], key["tenant"], key["role"]) == (name, "acme", "tenant")
    assert key["scopes"] == ["read"] and key["label"] == "wiki" and "digest" not in key
    assert secret not in out
    assert command("list", "--tenant", "other", "--json")[1].strip() == "[]"
    shown = command("list")[1]
    assert name in shown and "used never" in shown


def test_an_administrators_key_has_every_scope(command: Command) -> None:
    made = json.loads(command("create", "--admin", "--days", "1", "--json")[1])
    assert made["role"] == "admin" and made["scopes"] == ["read", "write", "admin"]
    assert made["expires_at_s"] == pytest.approx(made["created_at_s"] + 86_400, abs=60)
    assert made["text"].startswith(f"geomi_{made['id']}_")


def test_a_key_is_replaced_and_revoked(command: Command) -> None:
    first = json.loads(command("create", "--json")[1])
    second = json.loads(command("rotate", first["id"], "--json")[1])
    assert second["scopes"] == first["scopes"] and second["id"] != first["id"]
    listed = {key["id"]: key for key in json.loads(command("list", "--json")[1])}
    assert listed[first["id"]]["revoked_at_s"] and not listed[second["id"]]["revoked_at_s"]
    assert command("rotate", first["id"])[0] == 2
    assert (
        command("revoke", second["id"])[2] == f"key {second['id']} of tenant default is revoked\n"
    )
    assert "revoked" in command("list")[1]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("revoke", "0" * 12), "there is no key"),
        (("rotate", "../keys"), "there is no key"),
        (("create", "--tenant", "local"), "tenant of the command line"),
        (("create", "--tenant", "No Name"), "cannot be a tenant's name"),
        (("create", "--label", "x" * 101), "more than 100 characters"),
    ],
)
def test_what_is_wrong_is_told(command: Command, arguments: tuple[str, ...], told: str) -> None:
    command("create", "--tenant", "acme")
    code, _, err = command(*arguments)
    assert code == 2 and told in err


def test_a_key_makes_no_data_directory(command: Command, tmp_path: Path) -> None:
    code, out, err = command("create", "-o", "elsewhere")
    assert (code, out) == (command("list", "-o", "elsewhere")[0], "")
    assert "has no geomi data" in err and "-o DIR" in err
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.req("SEC-09")
def test_a_whole_key_names_itself_and_is_not_said_again(command: Command) -> None:
    text = command("create")[1].strip()
    name, secret = text.removeprefix("geomi_").split("_", 1)
    assert command("revoke", text) == (0, "", f"key {name} of tenant default is revoked\n")
    alone = "x" + secret.replace("_", "-")  # a beginning that is no option's
    for given in (f"geomi_{'0' * 12}_{secret}", f"{name}_{secret}", alone, text):
        code, out, err = command("rotate", given)
        assert code == 2 and secret not in out + err and alone not in out + err
