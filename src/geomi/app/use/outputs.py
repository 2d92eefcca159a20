"""Write the outputs of a job from its committed pages: at its end, or for `geomi export`.

An output with an order of its own, or with a footer, cannot grow page by page. It is written when
the job is over, from all pages, however often the job was interrupted. Memory does not grow with
the number of pages. `write_knowledge_base` writes a job in the layout of a knowledge base, into a
folder or whatever else takes files by their names.
"""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator, Sequence
from contextlib import closing
from functools import partial
from http import HTTPStatus
from pathlib import Path
from typing import BinaryIO

from geomi.adapters.blob.cdxj import index_lines
from geomi.adapters.machine.disk import whole_file
from geomi.adapters.machine.sorting import SortedLines
from geomi.adapters.outlet.job_folder import OUTPUTS, WHOLE, job_outlets, point_at
from geomi.adapters.outlet.knowledge_base import KnowledgeTree, Place
from geomi.adapters.outlet.llms import LlmsTxt, llms_full_passage
from geomi.adapters.outlet.parquet import ParquetPages
from geomi.app.directory import DataDirectory
from geomi.engine.inspect.export import (
    analysis_of,
    archived_pages,
    records,
    robots_of,
    segment_ends,
)
from geomi.engine.jobs import find
from geomi.engine.visit.identity import UrlIdentity
from geomi.engine.worker.publisher import Publisher
from geomi.errors import ConfigError, StoreError
from geomi.model.job import CrawlJob, JobKind
from geomi.url.parse import Url, url_hash
from geomi.url.parse import parse as parse_url

CHUNK_BYTES = 1024 * 1024
# Sites whose robots.txt is known to be written; a file that is written again is the same file.
REMEMBERED_SITES = 10_000


async def write_whole_outputs(home: DataDirectory, job: CrawlJob, formats: Sequence[str]) -> None:
    """Make those outputs of a finished job that need all of it, unless they are here already."""
    for form, name in WHOLE.items():
        path = home.root / "jobs" / job.id / name
        if form in formats and not _is_newer(path, job.ended_at_s or 0.0):
            path.parent.mkdir(parents=True, exist_ok=True)
            with whole_file(path) as file:
                await write_output(home, job.id, form, file)
            if job.kind is JobKind.CRAWL:  # a recrawl has only some pages of its crawl
                point_at(home.root, job.id, name)


def remove_outputs(home: DataDirectory, job: CrawlJob) -> list[str]:
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


async def rebuild_outputs(home: DataDirectory, job: CrawlJob, formats: Sequence[str]) -> None:
    """Make outputs of a job again that were taken away, of what it has now."""
    outlets = job_outlets(home.root, job.id, formats, is_linked=False)
    publisher = Publisher(home.world, job.id, outlets)
    publisher.end()
    await publisher.run()
    for form, name in WHOLE.items():
        if form in formats:
            with whole_file(home.root / "jobs" / job.id / name) as file:
                await write_output(home, job.id, form, file)


async def write_output(
    home: DataDirectory, job: str, form: str, file: BinaryIO, *, is_public: bool = False
) -> int:
    """Write one output of a job and return what it counts: pages, responses or segments.

    Args:
        is_public: leave out pages that geomi signed in for.
    """
    pages = partial(records, home.world, job, is_public=is_public)
    match form:
        case "warc" | "cdxj" if is_public:
            raise ConfigError(
                f"`{form}` is the archive as it is, with pages that geomi signed in for",
                hint="choose another format, or leave out --public",
            )
        case "jsonl":
            return await _lines(pages(), file)
        case "warc":
            return await _warc(home, job, file)
        case "cdxj":
            return await _index(home, job, file)
        case "llms":
            return await _site_map(home, job, pages(), file)
        case "llms-full":
            return await _full_text(pages(), file)
        case "parquet":
            return await _parquet(pages(), file)
        case _:
            raise ConfigError(f"`{form}` is not one file")


def _is_newer(path: Path, at_s: float) -> bool:
    return path.exists() and path.stat().st_mtime > at_s


async def _lines(read: AsyncIterator[bytes], file: BinaryIO) -> int:
    count = 0
    async for record in read:
        file.write(record + b"\n")
        count += 1
    return count


async def _full_text(read: AsyncIterator[bytes], file: BinaryIO) -> int:
    count = 0
    async for record in read:
        count += file.write(llms_full_passage(record)) > 0
    return count


async def _site_map(
    home: DataDirectory, job: str, read: AsyncIterator[bytes], file: BinaryIO
) -> int:
    seeds = (await find(home.world, job)).seeds
    with LlmsTxt(home.root, seeds[0]) as site_map:
        async for record in read:
            site_map.add(record)
        return site_map.write(file)


async def _parquet(read: AsyncIterator[bytes], file: BinaryIO) -> int:
    count = 0
    with ParquetPages(file) as pages:
        async for record in read:
            pages.add(record)
            count += 1
    return count


async def _index(home: DataDirectory, job: str, file: BinaryIO) -> int:
    count = 0
    with SortedLines(home.root) as lines:
        for segment, end in (await segment_ends(home.world.store.pages, job)).items():
            async with home.archive.whole(segment) as path:
                with closing(index_lines(path, end)) as found:
                    for line in found:
                        lines.add(line)
        for line in lines:
            file.write(line)
            count += 1
    return count


async def _warc(home: DataDirectory, job: str, file: BinaryIO) -> int:
    """Put the committed part of every segment into one file: gzip members may simply follow."""
    ends = await segment_ends(home.world.store.pages, job)
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


async def write_knowledge_base(
    home: DataDirectory, job: CrawlJob, place: Place, *, is_public: bool = False
) -> int:
    """Write the pages of a job with their analysis, and the robots.txt and sitemaps of its sites.

    Return how many pages.
    """
    tree = KnowledgeTree(place, tenant=job.tenant, job=job.id)
    naming = UrlIdentity(job.config)
    sites: set[tuple[str, str]] = set()
    count = 0
    async for page in archived_pages(home.world, job.id, is_public=is_public):
        url = parse_url(page.url)
        key = naming.key(url) if url else page.url
        analysis = await analysis_of(home.world, job, url_hash(key))
        tree.write_page(key, page.record, page.response, analysis)
        count += 1
        if url is not None and (url.scheme, url.authority) not in sites:
            if len(sites) >= REMEMBERED_SITES:
                sites.clear()
            sites.add((url.scheme, url.authority))
            await _write_robots(home, job, url, tree)
    for name in sorted(await home.archive.sitemaps.sizes(job.id)):
        tree.write_sitemap(name, await home.archive.sitemaps.read(job.id, name))
    return count


async def _write_robots(home: DataDirectory, job: CrawlJob, url: Url, tree: KnowledgeTree) -> None:
    """Write a site's robots.txt, where there is one: no file stands for an answer without it."""
    copy = await robots_of(home.world, job, url)
    if copy is not None and copy.failure is None and copy.status == HTTPStatus.OK:
        tree.write_robots(url, copy.body)
