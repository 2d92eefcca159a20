"""Processes that crawl, forked from one that has imported everything: a start costs 10 ms then.

`python -m tests.chaos.process` reads one order a line: a JSON object with the arguments of the
command, its environment and where its words go. It answers with the process's number, and after
another line that asks for it, with the way that process ended, or nothing while it goes on. Each
is a session of its own and runs the `geomi` command from its first line on, above the fault layer
where its environment asks for one; or it lives one life of the seed engine, where the order
describes one.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from tests.chaos.layer import read_plan
from tests.chaos.laying import lay
from tests.e2e.command import clean_env

LOOK_S = 0.005
# What a command imports only when it is needed, each time anew.
LATE = (
    "psycopg",
    "obstore",
    "geomi.adapters.store.postgres",
    "geomi.adapters.blob.s3",
    "tests.chaos.seed_life",
)


@dataclass(slots=True)
class Crawl:
    """A process that was started; its words are in `told`."""

    nursery: Nursery
    pid: int
    told: Path
    code: int | None = None

    @property
    def is_over(self) -> bool:
        """Whether it has ended; `code` says how then."""
        if self.code is None:
            answer = self.nursery.order({"wait": self.pid}).strip()
            self.code = int(answer) if answer else None
        return self.code is not None

    def wait(self, longest_s: float) -> int | None:
        """Return its exit code, or a signal's number below zero; None where it goes on."""
        deadline_s = time.monotonic() + longest_s
        while not self.is_over and time.monotonic() < deadline_s:
            time.sleep(LOOK_S)
        return self.code

    def workers(self) -> list[int]:
        """Return its worker processes that are alive."""
        return children(self.pid)

    def words(self) -> str:
        """Return what it said."""
        return self.told.read_text("utf-8")


class Nursery:
    """The process that crawls are forked from."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", __name__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=clean_env(),
        )

    def start(self, arguments: list[str], env: dict[str, str], told: Path) -> Crawl:
        """Start `geomi` with arguments."""
        return self.begin({"arguments": arguments, "env": env, "told": str(told)})

    def begin(self, order: dict[str, Any]) -> Crawl:
        """Start a process as an order describes it."""
        return Crawl(self, int(self.order(order)), Path(order["told"]))

    def order(self, order: dict[str, Any]) -> str:
        """Send one order and return the answer."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        return self._process.stdout.readline()

    def close(self) -> None:
        """End it; processes that it started go on."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()


def children(pid: int) -> list[int]:
    """Return the children of a process, of whichever thread."""
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            found += map(int, task.read_text().split())
        except OSError:
            continue  # it has just ended
    return found


def _be(order: dict[str, Any]) -> NoReturn:
    """Be the process of an order."""
    code = 1
    try:
        os.setsid()
        words = os.open(order["told"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        nothing = os.open(os.devnull, os.O_RDONLY)
        for old, new in ((nothing, 0), (words, 1), (words, 2)):
            os.dup2(old, new)
        os.environ.update(order["env"])
        if (plan := read_plan()) is not None:
            lay(plan)
        if "life" in order:
            from tests.chaos.seed_life import live

            code = live(order["life"])
        else:
            from geomi.cli import main

            sys.argv = ["geomi", *order["arguments"]]
            code = main()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _serve() -> None:
    from geomi.cli.program import make_program  # this process alone needs it

    make_program()  # loads every command, so that no process has to
    for name in LATE:
        if importlib.util.find_spec(name.partition(".")[0]):
            importlib.import_module(name)
    for line in sys.stdin:
        order = json.loads(line)
        if "wait" in order:
            pid, status = os.waitpid(order["wait"], os.WNOHANG)
            print(os.waitstatus_to_exitcode(status) if pid else "", flush=True)
            continue
        pid = os.fork()
        if pid == 0:
            _be(order)
        print(pid, flush=True)


if __name__ == "__main__":
    _serve()
