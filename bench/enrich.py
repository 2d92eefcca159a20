"""What a page costs from its record to the index: read, understood, cut, indexed, written down.

    python -m bench.enrich [--every N] [--workers N] [--answer-ms MS]

serves pages of WCXB (`../shared/corpus/content`, or `GEOMI_CORPUS`) on loopback, crawls them, and
then measures the enrich loop alone, on SQLite, in this process: CPU milliseconds a page, and the
peak of memory. Nothing is asked of a model.

With `--workers N` it then runs `geomi enrich --once` with one process and with N of them, each on a
copy of the crawl, and prints how many times faster N are. With `--answer-ms` they ask a model on
loopback that takes so long for each answer.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import lzma
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from bench.analyse import CORPUS
from geomi.adapters.telemetry.fan_out import EventFanOut
from geomi.app import crawl, make_plan, open_directory
from geomi.app.index import open_search_index
from geomi.engine.enrich.loop import enrich_all
from geomi.settings.layers import Layer, resolve
from geomi.settings.options import Settings
from tests.support.advising import form_of, quality_told, type_told
from tests.support.models import ModelServer
from tests.support.server import Reply, Site

EVERY = 4  # of 1,192 pages
MIB = 1024

_LAYER = Layer(
    "the bench",
    {"politeness.delay_s": 0.0, "limits.max_pages": 0, "limits.max_depth": 1},
)
_SETTINGS = Settings(allow_private=True, contact="https://bench.test/")


def main() -> None:
    """Crawl, then measure."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--every", type=int, default=EVERY)
    options.add_argument("--workers", type=int, default=1)
    options.add_argument("--answer-ms", type=float, default=0.0)
    asked = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "data"
        asyncio.run(_crawl(root, asked.every))
        copies = [Path(folder) / name for name in ("alone", "together")[: asked.workers]]
        for copy in copies:
            shutil.copytree(root, copy)
        many = asyncio.run(_measure(root))
        if asked.workers > 1:
            alone, together = copies
            with ModelServer(partial(_answered, asked.answer_ms / 1000)) as server:
                endpoint = server.endpoint if asked.answer_ms else ""
                alone_s = _command(alone, 1, many, endpoint)
                together_s = _command(together, asked.workers, many, endpoint)
            print(f"{asked.workers} processes are {alone_s / together_s:.2f} times as fast as one")


async def _crawl(root: Path, every: int) -> None:
    pages = {
        f"/{number}": Reply(body, content_type="text/html; charset=utf-8")
        for number, body in enumerate(_bodies(every))
    }
    links = "".join(f'<a href="{path}">{path}</a> ' for path in pages)
    with Site({"/": _start(links), **pages}) as site:
        plan = make_plan([site.url("/")], resolve([_LAYER]), _LAYER)
        async with open_directory(root, _SETTINGS, lambda _: EventFanOut()) as home:
            await crawl(home, plan)


async def _measure(root: Path) -> int:
    """Measure the loop in this process; return how many pages there are."""
    async with (
        open_directory(root, _SETTINGS, lambda _: EventFanOut()) as home,
        open_search_index(home) as search_index,
    ):
        began_s, began_cpu_s = time.perf_counter(), time.process_time()
        many = await enrich_all(home.world, search_index)
        cpu_s, wall_s = time.process_time() - began_cpu_s, time.perf_counter() - began_s
        counts = await search_index.index.count()
    print(f"{many} pages, {counts.documents} of them indexed in {counts.chunks} chunks")
    print(f"CPU ms/page {1000 * cpu_s / many:.2f}, {many / wall_s:.0f} pages/s")
    print(f"peak RSS {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / MIB:.0f} MiB")
    return many


def _command(root: Path, workers: int, many: int, endpoint: str) -> float:
    """Enrich by the command; return the seconds it took."""
    env = {**os.environ, "GEOMI_MODEL_ENDPOINT": endpoint, "GEOMI_MODEL": endpoint and "bench"}
    before, began_s = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    command = ["enrich", "--once", "--workers", str(workers), "-o", str(root)]
    process = subprocess.Popen(
        [sys.executable, "-m", "geomi", *command], env=env, stderr=subprocess.DEVNULL
    )
    peaks: dict[str, int] = {}
    while process.poll() is None:
        peaks |= dict(_peaks(process.pid))
        time.sleep(0.1)
    assert process.returncode == 0
    wall_s, after = time.perf_counter() - began_s, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(
        f"{workers} processes: {wall_s:.1f} s, {many / wall_s:.0f} pages/s, CPU ms/page "
        f"{1000 * cpu_s / many:.2f}, peak RSS of a process {max(peaks.values()) / MIB:.0f} MiB"
    )
    return wall_s


def _peaks(pid: int) -> Iterator[tuple[str, int]]:
    """Yield the peak of a process and of each that it has started, in KiB."""
    with suppress(OSError):  # one that ends at this moment
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text("ascii").split()
        for one in (str(pid), *children):
            status = Path(f"/proc/{one}/status").read_text("ascii", "replace")
            if found := re.search(r"VmHWM:\s+(\d+)", status):
                yield one, int(found[1])


def _answered(seconds: float, question: dict[str, Any]) -> str:
    time.sleep(seconds)
    return quality_told(8.0) if form_of(question) == "quality" else type_told("article")


def _bodies(every: int) -> Iterator[bytes]:
    with lzma.open(CORPUS / "content" / "wcxb.jsonl.xz", "rt", encoding="utf-8") as lines:
        for line in islice(lines, 0, None, every):
            yield json.loads(line)["html"].encode("utf-8", "replace")


def _start(links: str) -> Reply:
    return Reply(f"<html><body>{links}".encode())


if __name__ == "__main__":
    main()
