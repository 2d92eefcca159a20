"""What a page costs from its record to the index: read, understood, cut, indexed, written down.

    python -m bench.enrich [--every N]

serves pages of WCXB (`../shared/corpus/content`, or `GEOMI_CORPUS`) on loopback, crawls them, and
then measures the enrich loop alone, on SQLite, in this process: CPU milliseconds a page, and the
peak of memory. Nothing is asked of a model.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import lzma
import resource
import tempfile
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from bench.analyse import CORPUS
from geomi.adapters.telemetry.fan_out import EventFanOut
from geomi.app import crawl, make_plan, open_directory
from geomi.app.index import open_search_index
from geomi.engine.enrich.loop import enrich_all
from geomi.settings.layers import Layer, resolve
from geomi.settings.options import Settings
from tests.support.server import Reply, Site

EVERY = 4  # of 1,192 pages
MIB = 1024

_LAYER = Layer(
    "the bench",
    {"politeness.delay_s": 0.0, "limits.max_pages": 0, "limits.max_depth": 1},
)


def main() -> None:
    """Crawl, then measure."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--every", type=int, default=EVERY)
    asyncio.run(_measure(options.parse_args().every))


async def _measure(every: int) -> None:
    pages = {
        f"/{number}": Reply(body, content_type="text/html; charset=utf-8")
        for number, body in enumerate(_bodies(every))
    }
    links = "".join(f'<a href="{path}">{path}</a> ' for path in pages)
    settings = Settings(allow_private=True, contact="https://bench.test/")
    with tempfile.TemporaryDirectory() as folder, Site({"/": _start(links), **pages}) as site:
        plan = make_plan([site.url("/")], resolve([_LAYER]), _LAYER)
        async with open_directory(Path(folder), settings, lambda _: EventFanOut()) as home:
            await crawl(home, plan)
            async with open_search_index(home) as search_index:
                began_s, began_cpu_s = time.perf_counter(), time.process_time()
                many = await enrich_all(home.world, search_index)
                cpu_s, wall_s = time.process_time() - began_cpu_s, time.perf_counter() - began_s
                counts = await search_index.index.count()
    print(f"{many} pages, {counts.documents} of them indexed in {counts.chunks} chunks")
    print(f"CPU ms/page {1000 * cpu_s / many:.2f}, {many / wall_s:.0f} pages/s")
    print(f"peak RSS {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / MIB:.0f} MiB")


def _bodies(every: int) -> Iterator[bytes]:
    with lzma.open(CORPUS / "content" / "wcxb.jsonl.xz", "rt", encoding="utf-8") as lines:
        for line in islice(lines, 0, None, every):
            yield json.loads(line)["html"].encode("utf-8", "replace")


def _start(links: str) -> Reply:
    return Reply(f"<html><body>{links}".encode())


if __name__ == "__main__":
    main()
