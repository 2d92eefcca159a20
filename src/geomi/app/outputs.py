"""Whole outputs of a job, made at once from what is committed: by `geomi export`, and at its end.

An output that has an order of its own, or a footer, cannot grow page by page. It is made when the
job is over, from all its pages, however often it was interrupted before; memory does not grow with
them.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import BinaryIO

from geomi.adapters.blob.cdxj import index_lines
from geomi.adapters.machine.disk import whole_file
from geomi.adapters.machine.sorting import SortedLines
from geomi.adapters.outlet.job_folder import OUTPUTS, WHOLE, job_outlets, point_at
from geomi.adapters.outlet.llms import LlmsTxt, llms_full_passage
from geomi.adapters.outlet.parquet import ParquetPages
from geomi.app.home import Home
from geomi.engine.inspect.export import records, segment_ends
from geomi.engine.jobs import find
from geomi.engine.worker.publisher import Publisher
from geomi.errors import ConfigError, StoreError
from geomi.model.job import CrawlJob

CHUNK_BYTES = 1024 * 1024


async def make_whole(home: Home, job: CrawlJob, formats: Sequence[str]) -> None:
    """Make those outputs of a finished job that need all of it, unless they are here already."""
    for form, name in WHOLE.items():
        path = home.root / "jobs" / job.id / name
        if form in formats and not _is_newer(path, job.ended_at_s or 0.0):
            path.parent.mkdir(parents=True, exist_ok=True)
            with whole_file(path) as file:
                await write_output(home, job.id, form, file)
            if not job.crawl:  # a recrawl has only some pages of its crawl
                point_at(home.root, job.id, name)


def take_away(home: Home, job: CrawlJob) -> list[str]:
    """Remove what was derived of a job, in this directory; return the formats that there were."""
    removed = []
    for form, name in OUTPUTS.items():
        path = home.root / "jobs" / job.id / name
        if path.is_dir():
            shutil.rmtree(path)
        elif path.is_file():
            path.unlink()
        else:
            continue
        removed.append(form)
    return removed


async def put_back(home: Home, job: CrawlJob, formats: Sequence[str]) -> None:
    """Make outputs of a job again that were taken away, of what it has now."""
    outlets = job_outlets(home.root, job.id, formats, is_linked=False)
    publisher = Publisher(home.world, job.id, outlets)
    publisher.end()
    await publisher.run()
    for form, name in WHOLE.items():
        if form in formats:
            with whole_file(home.root / "jobs" / job.id / name) as file:
                await write_output(home, job.id, form, file)


async def write_output(home: Home, job: str, form: str, file: BinaryIO) -> int:
    """Write one output of a job and return what it counts: pages, responses or segments."""
    match form:
        case "jsonl":
            return await _lines(home, job, file)
        case "warc":
            return await _warc(home, job, file)
        case "cdxj":
            return await _index(home, job, file)
        case "llms":
            return await _site_map(home, job, file)
        case "llms-full":
            return await _full_text(home, job, file)
        case "parquet":
            return await _parquet(home, job, file)
        case _:
            raise ConfigError(f"`{form}` is not one file")


def _is_newer(path: Path, at_s: float) -> bool:
    return path.exists() and path.stat().st_mtime > at_s


async def _lines(home: Home, job: str, file: BinaryIO) -> int:
    count = 0
    async for record in records(home.world, job):
        file.write(record + b"\n")
        count += 1
    return count


async def _full_text(home: Home, job: str, file: BinaryIO) -> int:
    count = 0
    async for record in records(home.world, job):
        count += file.write(llms_full_passage(record)) > 0
    return count


async def _site_map(home: Home, job: str, file: BinaryIO) -> int:
    seeds = (await find(home.world, job)).seeds
    with LlmsTxt(home.root, seeds[0]) as site_map:
        async for record in records(home.world, job):
            site_map.add(record)
        return site_map.write(file)


async def _parquet(home: Home, job: str, file: BinaryIO) -> int:
    count = 0
    with ParquetPages(file) as pages:
        async for record in records(home.world, job):
            pages.add(record)
            count += 1
    return count


async def _index(home: Home, job: str, file: BinaryIO) -> int:
    count = 0
    with SortedLines(home.root) as lines:
        for segment, end in (await segment_ends(home.world.pages, job)).items():
            async with home.archive.whole(segment) as path:
                with closing(index_lines(path, end)) as found:
                    for line in found:
                        lines.add(line)
        for line in lines:
            file.write(line)
            count += 1
    return count


async def _warc(home: Home, job: str, file: BinaryIO) -> int:
    """Put the committed part of every segment into one file: gzip members may simply follow."""
    ends = await segment_ends(home.world.pages, job)
    for segment, end in sorted(ends.items()):
        async with home.archive.whole(segment) as path:
            _copy(path, end, file)
    return len(ends)


def _copy(segment: Path, end: int, file: BinaryIO) -> None:
    try:
        with segment.open("rb") as source:
            left = end
            while left and (chunk := source.read(min(left, CHUNK_BYTES))):
                file.write(chunk)
                left -= len(chunk)
    except FileNotFoundError as error:
        raise StoreError(f"`{segment}` is missing", hint="restore it from a backup") from error
    if left:
        raise StoreError(f"`{segment}` is {left:,} bytes shorter than what was committed")
