"""A served geomi in a process of its own: started, asked over HTTP, killed, started again."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

from tests.e2e.command import GEOMI, clean_env

SILENCE_S = 2.0
API = "/api/v1"  # under which the paths are, where nobody says otherwise
LOOK_S = 0.02
LONGEST_START_S = 60.0


class Served:
    """`geomi serve` on a data directory; its port stays the same over all starts.

    Args:
        handles: how many files its processes may open.
        log: what it says goes to this file, where it may be long; otherwise `stop` returns it.
    """

    def __init__(
        self,
        root: Path,
        *flags: str,
        env: dict[str, str] | None = None,
        handles: int | None = None,
        log: Path | None = None,
    ) -> None:
        self.root = root
        self.log = log
        self._limit = ["sh", "-c", f'ulimit -n {handles}; exec "$@"', "sh"] if handles else []
        self.key = ""
        self.url = ""
        self.greeting = ""
        self._flags = flags
        self._env = clean_env() | {"GEOMI_SILENCE_S": str(SILENCE_S)} | (env or {})
        self._port = "0"
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.kill()

    def start(self) -> None:
        """Start it, and wait until it listens."""
        command = [*GEOMI, "serve", "-o", str(self.root), "--port", self._port, "--allow-private"]
        begin = self.log.stat().st_size if self.log and self.log.exists() else 0
        with self.log.open("ab") if self.log else nullcontext(subprocess.PIPE) as output:
            self._process = subprocess.Popen(
                [*self._limit, *command, *self._flags],
                stdout=output,
                stderr=subprocess.STDOUT,
                text=True,
                env=self._env,
                start_new_session=True,
            )
        said: list[str] = []
        for line in self._lines(begin):
            said.append(line)
            if line.startswith("geomi_"):
                self.key = line.strip()
            if found := re.match(r"geomi serves (http://\S+:(\d+)/)", line):
                self.url, self._port = found[1], found[2]
                self.greeting = "".join(said)
                return
        raise AssertionError("".join(said))

    def _lines(self, begin: int) -> Iterator[str]:
        """Read what it says while it starts."""
        assert self._process is not None
        if self.log is None:
            assert self._process.stdout is not None
            for line in self._process.stdout:  # `yield from` would close it in the end
                yield line
            return
        until_s = time.monotonic() + LONGEST_START_S
        with self.log.open(encoding="utf-8") as written:
            written.seek(begin)
            while time.monotonic() < until_s:
                if line := written.readline():
                    yield line
                elif self._process.poll() is not None:
                    return
                else:
                    time.sleep(LOOK_S)

    @property
    def pid(self) -> int:
        """The number of the server's process."""
        assert self._process is not None
        return self._process.pid

    @property
    def is_running(self) -> bool:
        """Whether the server's process lives."""
        return self._process is not None and self._process.poll() is None

    def kill(self) -> None:
        """Kill the server alone, as whatever ends a process without a word; its crew finds out."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def stop(self) -> str:
        """Let it end by itself; return what it said."""
        assert self._process is not None
        os.kill(self._process.pid, signal.SIGTERM)
        said, _ = self._process.communicate(timeout=60)
        said = self.log.read_text(encoding="utf-8") if self.log else said
        assert self._process.returncode == 0, said
        self._process = None
        return said

    def ask(
        self, method: str, path: str, body: object = None, *, key: str = "", prefix: str = API
    ) -> tuple[int, dict[str, Any]]:
        """Ask the API; return the status and the answer's JSON."""
        place = urlsplit(self.url)
        connection = http.client.HTTPConnection(place.hostname or "", place.port, timeout=30)
        headers = {"Authorization": f"Bearer {key or self.key}"}
        try:
            sent = None if body is None else json.dumps(body)
            if sent is not None:
                headers["Content-Type"] = "application/json"
            connection.request(method, f"{prefix}{path}", sent, headers)
            answer = connection.getresponse()
            text = answer.read()
            return answer.status, json.loads(text) if text else {}
        finally:
            connection.close()

    def get(self, path: str, *, key: str = "", prefix: str = API) -> dict[str, Any]:
        """Ask for something that has to be there."""
        status, told = self.ask("GET", path, key=key, prefix=prefix)
        assert status == 200, told
        return told

    def post(self, path: str, body: object, *, key: str = "", prefix: str = API) -> dict[str, Any]:
        """Ask for something to be done."""
        status, told = self.ask("POST", path, body, key=key, prefix=prefix)
        assert 200 <= status < 300, told
        return told

    def every(self, path: str, name: str, *, key: str = "") -> Sequence[dict[str, Any]]:
        """Read a whole list, part by part."""
        found: list[dict[str, Any]] = []
        cursor = ""
        while True:
            told = self.get(f"{path}?limit=100{cursor}", key=key)
            found += told[name]
            if told["nextCursor"] is None:
                return found
            cursor = f"&cursor={told['nextCursor']}"


def until(found: Callable[[], Any], *, longest_s: float = 90.0) -> Any:
    """Wait until something is there, and return it."""
    ends_s = time.monotonic() + longest_s
    while not (answer := found()):
        assert time.monotonic() < ends_s, "it never came"
        time.sleep(0.2)
    return answer
