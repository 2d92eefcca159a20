"""The hooks of pre-commit run what `make check` runs, no more and no fewer."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
HOOKS = ".pre-commit-config.yaml"


def test_hooks_run_what_make_check_runs() -> None:
    """A commit that the hooks let through passes `make check`."""
    assert [hook["entry"] for hook in _hooks()] == _commands_of("check")


def test_hooks_look_at_everything() -> None:
    """A hook that saw the changed files alone would miss what they break elsewhere."""
    looks = {(hook["language"], hook["pass_filenames"], hook["always_run"]) for hook in _hooks()}
    assert looks == {("system", False, True)}


def _hooks() -> list[dict[str, object]]:
    (repo,) = yaml.safe_load((ROOT / HOOKS).read_text("utf-8"))["repos"]
    assert repo["repo"] == "local"
    return list(repo["hooks"])


def _commands_of(target: str) -> list[str]:
    """Ask make what it would run, as if the environment were there."""
    asked = ("--no-print-directory", "--dry-run", "--old-file=.venv/.dev", "VENV=.venv", target)
    told = subprocess.run(
        ["make", *asked],
        cwd=ROOT,
        # What the make hands down that runs these tests is not for this one.
        env={name: value for name, value in os.environ.items() if not name.startswith("MAKE")},
        capture_output=True,
        text=True,
        check=True,
    )
    return told.stdout.splitlines()
