"""The real command in a real process."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

GEOMI = [sys.executable, "-m", "geomi"]
# A crawl of a site on loopback: allowed to go there, and never in need of a pause of a second.
LOCAL = ["--allow-private", "-n", "0", "-d", "1000"]


def run(
    *arguments: str,
    timeout_s: float = 120,
    env: dict[str, str] | None = None,
    cwd: Path | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run one command to its end."""
    return subprocess.run(
        [*GEOMI, *arguments],
        capture_output=True,
        text=True,
        timeout=timeout_s,
        env=clean_env() | (env or {}),
        cwd=cwd,
        check=False,
    )


def start(*arguments: str) -> subprocess.Popen[bytes]:
    """Start a command in a process group of its own."""
    return subprocess.Popen(
        [*GEOMI, *arguments],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=clean_env(),
        start_new_session=True,
    )


def kill_at_random(directory: Path, *command: str, kills: int, rng: random.Random) -> int:
    """Kill a command in the second half of its work, again and again; return how often it died.

    How long it takes is measured first, on a copy of the directory. A command that ends before it
    is killed is the last.
    """
    copied = directory.with_name(f"{directory.name}-copy")
    shutil.copytree(directory, copied)
    began_s = time.monotonic()
    assert run(*command, "-o", str(copied)).returncode == 0
    whole_s = time.monotonic() - began_s
    for killed in range(kills):
        process = start(*command, "-o", str(directory))
        try:
            process.wait(rng.uniform(0.5, 0.95) * whole_s)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        else:
            return killed
    return kills


def clean_env() -> dict[str, str]:
    """Return the environment without anything that configures geomi or a proxy."""
    unwanted = (
        "GEOMI_",
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "NO_PROXY",
        "http_proxy",
        "https_proxy",
        "no_proxy",
    )
    return {name: value for name, value in os.environ.items() if not name.startswith(unwanted)}


def records(directory: Path) -> list[dict[str, Any]]:
    """Read the records that a crawl left."""
    lines = (directory / "pages.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]
