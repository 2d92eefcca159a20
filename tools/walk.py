"""Count what a stranger has to open to follow one use case through geomi.

`python -m tools.walk` crawls one page of a site on loopback, understands it, searches for it and
asks the service for another crawl. For each of these walks it prints how many functions of geomi
were called, in how many modules, and how many lines these modules have: what somebody has to read.

What counts: named functions, in all threads, also those that modules call while they are imported.
Bodies of modules and classes, lambdas and comprehensions do not: they are read with what holds
them. Each walk has a process of its own, so that no cache of one walk shortens the next. Only the
request is counted of a service that has answered one before, because its start is another walk.
"""

from __future__ import annotations

import argparse
import asyncio
import inspect
import io
import json
import os
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from functools import partial
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing import get_context
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

POST = "/api/v1/crawls"
PACKAGE = Path(__file__).resolve().parents[1] / "src" / "geomi"
TEXT = "Silk is a fibre that spiders and moths make. " * 10
PAGE = f'<html lang="en"><title>Silk</title><h1>Silk</h1><p>{TEXT}</p><a href="/next">More</a>'

Visited = Counter[str]  # modules, as paths inside the package, and functions called in each
Message = dict[str, Any]  # of ASGI, whose values are of every type


class Trace:
    """Notes the code that is called while it is on, in every thread that starts after it was made.

    A service's threads outlive its requests, so the trace is laid before them and switched on late.
    """

    def __init__(self) -> None:
        self.is_on = False
        self._called: set[CodeType] = set()
        threading.setprofile(self._note)
        sys.setprofile(self._note)

    def visited(self) -> Visited:
        """Count the named functions called in each module; no class body has `CO_NEWLOCALS`."""
        self.is_on = False  # from here on the walk is our own
        return Counter(
            Path(code.co_filename).relative_to(PACKAGE).as_posix()
            for code in self._called
            if code.co_flags & inspect.CO_NEWLOCALS and not code.co_name.startswith("<")
            if Path(code.co_filename).is_relative_to(PACKAGE)
        )

    def _note(self, frame: FrameType, event: str, _: object) -> None:
        if self.is_on and event == "call":
            self._called.add(frame.f_code)


def main() -> None:
    """Take every walk, and print a table or the modules of one walk."""
    parser = argparse.ArgumentParser(prog="python -m tools.walk", description=__doc__)
    parser.add_argument("--modules", choices=WALKS, help="list the modules of this walk")
    asked = parser.parse_args().modules
    visited = walk_all()
    print("\n".join(_modules(visited[asked]) if asked else _table(visited)))


def walk_all() -> dict[str, Visited]:
    """Take the walks one after the other, on one page and in one new data directory."""
    with tempfile.TemporaryDirectory() as folder, _site(Path(folder)) as url:
        return {name: _alone(name, folder, url) for name in WALKS}


def walk_command(*arguments: str) -> Visited:
    """Run a command, its imports included."""
    trace = Trace()
    trace.is_on = True
    _geomi(*arguments)
    return trace.visited()


def walk_request(url: str) -> Visited:
    """Ask the service for a crawl, twice, and count the second request."""
    key = _geomi("keys", "create").strip()
    return asyncio.run(_post_twice(url, key))


# Each needs what the ones before it have left in the data directory.
WALKS: dict[str, Callable[[str], Visited]] = {
    "crawl": lambda url: walk_command("crawl", url, "-n", "1", "-f", "jsonl"),
    "enrich": lambda _: walk_command("enrich", "--once"),
    "search": lambda _: walk_command("search", "silk"),
    "post": walk_request,
}


def _geomi(*arguments: str) -> str:
    """Run `geomi` in this process and return what it printed."""
    from geomi.cli import main as run

    sys.argv = ["geomi", *arguments]
    said, noted = io.StringIO(), io.StringIO()
    with redirect_stdout(said), redirect_stderr(noted):
        code = run()
    if code:
        raise SystemExit(f"geomi {' '.join(arguments)} ended with {code}: {noted.getvalue()}")
    return said.getvalue()


async def _post_twice(url: str, key: str) -> Visited:
    from geomi.asgi import app

    trace = Trace()
    async with app.router.lifespan_context(app):
        await _post(app, url, key)
        trace.is_on = True
        await _post(app, url, key)
        trace.is_on = False
    return trace.visited()


async def _post(app: Callable[..., Awaitable[None]], url: str, key: str) -> None:
    """Send the request as a server would; there is no HTTP client among the tools."""
    body = json.dumps({"collectionId": "walk", "seedUrls": [url]}).encode()
    head = [(b"authorization", b"Bearer " + key.encode()), (b"content-type", b"application/json")]
    scope = {"type": "http", "method": "POST", "path": POST, "query_string": b"", "headers": head}
    asked, answered = asyncio.Queue[Message](), asyncio.Queue[Message]()
    asked.put_nowait({"type": "http.request", "body": body})
    await app(scope, asked.get, answered.put)
    if (status := answered.get_nowait()["status"]) != HTTPStatus.ACCEPTED:
        raise SystemExit(f"POST {POST} answered {status}: {answered.get_nowait()['body']}")


def _alone(name: str, folder: str, url: str) -> Visited:
    """Take a walk in a new process: a fork would bring what this one has loaded."""
    with ProcessPoolExecutor(1, get_context("spawn")) as process:
        return process.submit(_take, name, folder, url).result()


def _take(name: str, folder: str, url: str) -> Visited:
    """Take a walk, with no settings but those that a site on loopback needs."""
    for variable in [each for each in os.environ if each.startswith("GEOMI_")]:
        del os.environ[variable]
    os.environ["GEOMI_ALLOW_PRIVATE"] = "true"
    os.chdir(folder)
    return WALKS[name](url)


@contextmanager
def _site(folder: Path) -> Iterator[str]:
    """Serve one page on loopback; there is no robots.txt, and its link leads nowhere."""
    (folder / "index.html").write_text(PAGE, "utf-8")
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=folder)) as server:
        threading.Thread(target=server.serve_forever).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/"
        finally:
            server.shutdown()


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: the table is all that is to be seen."""


def _table(visited: dict[str, Visited]) -> Iterator[str]:
    yield f"{'walk':8}{'modules':>10}{'functions':>12}{'lines':>10}"
    for name, modules in visited.items():
        yield f"{name:8}{len(modules):10}{modules.total():12}{sum(map(_lines, modules)):10,}"


def _modules(modules: Visited) -> Iterator[str]:
    for module, functions in sorted(modules.items()):
        yield f"{functions:3} functions {_lines(module):4} lines  {module}"


def _lines(module: str) -> int:
    return len((PACKAGE / module).read_text("utf-8").splitlines())


if __name__ == "__main__":
    main()
