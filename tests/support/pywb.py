"""pywb, a replay of web archives, in a virtual environment of its own.

Its dependencies contradict ours, so that `make test` installs it into `pywb` inside the virtual
environment of the tests (`tools/pywb.txt`). It makes the index itself, as its users do.
"""

from __future__ import annotations

import http.client
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from tests.support.s3 import LOOPBACK, free_ports

START_S = 60.0
COLLECTION = "crawl"


@dataclass(frozen=True, slots=True)
class Replay:
    """A collection that is served."""

    port: int

    def get(self, url: str, *, kind: str = "id_") -> tuple[int, str, bytes]:
        """Ask for the newest copy of a page: status, type and body; `id_` is the page as it was."""
        connection = http.client.HTTPConnection(LOOPBACK, self.port, timeout=START_S)
        try:
            connection.request("GET", f"/{COLLECTION}/{kind}/{url}")
            answer = connection.getresponse()
            return answer.status, answer.headers.get_content_type(), answer.read()
        finally:
            connection.close()


def programs() -> Path | None:
    """Return the folder of pywb's programs, if it is installed."""
    folder = Path(sys.prefix, "pywb", "bin")
    return folder if (folder.parent / ".ready").exists() else None


@contextmanager
def replayed(pywb: Path, folder: Path, segments: Sequence[Path]) -> Iterator[Replay]:
    """Let pywb take segments into a collection, index them, and serve them."""
    manager = str(pywb / "wb-manager")
    for command in (["init", COLLECTION], ["add", COLLECTION, *map(str, segments)]):
        subprocess.run([manager, *command], cwd=folder, check=True, capture_output=True)
    (port,) = free_ports(1)
    process = subprocess.Popen(
        [str(pywb / "wayback"), "-b", LOOPBACK, "-p", str(port)],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "NO_PROXY": "*"},
        start_new_session=True,
    )
    try:
        replay = Replay(port)
        _wait_for(replay, process)
        yield replay
    finally:
        process.kill()
        process.wait()


def _wait_for(replay: Replay, process: subprocess.Popen[bytes]) -> None:
    deadline_s = time.monotonic() + START_S
    while time.monotonic() < deadline_s:
        if process.poll() is not None:
            raise RuntimeError(f"pywb ended with {process.returncode}")
        with suppress(OSError):
            replay.get("")
            return
        time.sleep(0.05)
    raise TimeoutError(f"pywb is not ready after {START_S:.0f} s")
