"""What must hold once a crawl is over, whatever happened to it on the way.

What the servers saw and what the crawl left are held against each other: no page is lost, no host
was asked too early or twice at once, counters equal a recount and the log, every page's bytes can
be read, and every output has each page once. What must hold is decided in
`geomi.engine.audit.invariants`; here is only what servers alone know. Whoever writes a store, an
archive or a supervisor can let it die as often as they like and then ask here.
"""

from __future__ import annotations

import asyncio
import math
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import orjson

from geomi.app import DataDirectory
from geomi.engine.audit import invariants
from geomi.engine.audit.audit import audit
from geomi.engine.audit.invariants import Recount
from geomi.errors import GeomiError
from geomi.model.entry import UrlEntry
from geomi.model.job import CrawlJob, JobState
from geomi.model.page import CaptureRow
from geomi.model.request_log import SentRequest
from geomi.model.verdict import Outcome, State
from tests.support.server import Seen, Site

ROBOTS = "/robots.txt"
PAGE = 1000
MAX_TOLD = 5  # of each kind of violation; all are counted


@dataclass(frozen=True, slots=True)
class Wanted:
    """The pages that a crawl had to bring: URL and body, the delay it was told, its outputs."""

    pages: Mapping[str, bytes]
    delay_s: float
    has_markdown: bool = True


@dataclass(frozen=True, slots=True)
class Aftermath:
    """What was found.

    Args:
        refetched: requests for a page that was asked for before.
        robots: requests for a robots.txt beyond the first of each host.
        impolite: gaps that were too short, requests at once, breaches in the log.
        faults: everything else that must not be, in words.
    """

    lost: tuple[str, ...]
    refetched: int
    robots: int
    unlogged: int
    impolite: tuple[str, ...]
    faults: tuple[str, ...]

    @property
    def violations(self) -> int:
        """How much of it must not be."""
        return len(self.lost) + len(self.impolite) + len(self.faults)


async def look_back(home: DataDirectory, sites: Sequence[Site], wanted: Wanted) -> Aftermath:
    """Hold the newest job of a data directory against what its sites saw."""
    world = home.world
    jobs = await world.store.jobs.list(limit=1)
    if not jobs:
        return Aftermath(tuple(wanted.pages), 0, 0, 0, (), ("there is no job",))
    (job,) = jobs
    entries = await world.store.census.entries(job.id, state=None, after=b"", limit=1_000_000)
    rows = [row async for row in _captures(home, job)]
    asked = [one for host in await world.store.requests.hosts() for one in await _asked(home, host)]
    done = {entry.url for entry in entries if entry.state is State.COMPLETED}
    seen = Counter(site.url(one.target) for site in sites for one in site.log)
    logged = Counter(one.url for one in asked if not _is_cut_off(one))
    found = await audit(world)
    breaches = (f"audit: {breach}" for host in found.hosts for breach in host.breaches)
    impolite = [*(line for site in sites for line in _hurried(site, wanted.delay_s)), *breaches]
    faults = [
        *invariants.miscounted(job.stats, _recount(entries, rows, len(asked))),
        *await _misjudged(home, job),
        *_mislogged(seen, logged),
        *[line async for line in _unreadable(home, rows, wanted.pages)],
        *await _missing_in_segments(home, job, wanted.pages),
        *_misprinted(home.root, wanted),
    ]
    pages = {url: many for url, many in seen.items() if not url.endswith(ROBOTS)}
    return Aftermath(
        lost=tuple(invariants.lost(wanted.pages, done)),
        refetched=sum(pages.values()) - len(pages),
        robots=seen.total() - sum(pages.values()) - sum(ROBOTS in url for url in seen),
        unlogged=(seen - logged).total(),
        impolite=tuple(impolite),
        faults=tuple(faults),
    )


async def _captures(home: DataDirectory, job: CrawlJob) -> AsyncIterator[CaptureRow]:
    after = 0
    while rows := await home.world.store.pages.feed(job.id, after=after, limit=PAGE):
        for row in rows:
            yield row
        after = rows[-1].seq


async def _asked(home: DataDirectory, host: str) -> list[SentRequest]:
    return await home.world.store.requests.of_host(host, after_s=-math.inf, limit=1_000_000)


def _is_cut_off(asked: SentRequest) -> bool:
    """Whether a request may never have reached its server."""
    return asked.status == 0


def _hurried(site: Site, delay_s: float) -> Iterator[str]:
    """Name requests of one host that came before the one before had rested, or even ended.

    One whose sender was dead when it was read had come before, nobody knows when.
    """
    log = sorted((one for one in site.log if not one.is_late), key=lambda one: one.started_s)
    for earlier, later in pairwise(log):
        gap_s = later.started_s - _end_s(earlier)
        if invariants.too_close(gap_s, delay_s):
            yield (
                f"{site.address}: {later.target} came {gap_s:.4f} s after {earlier.target},"
                f" {delay_s} s were owed"
            )


def _end_s(seen: Seen) -> float:
    return seen.started_s if seen.ended_s is None else seen.ended_s


def _recount(entries: Sequence[UrlEntry], rows: Sequence[CaptureRow], logged: int) -> Recount:
    """Count a job anew from its entries, its captures and the log; every page counts here."""
    states = Counter(entry.state for entry in entries)
    return Recount(
        by_state=states,
        duplicates=sum(entry.outcome is Outcome.DUPLICATE for entry in entries),
        captures=len(rows),
        urls=len({row.url for row in rows}),
        logged=logged,
        settled=states[State.COMPLETED] + states[State.FAILED],
        poisoned=sum(entry.outcome is Outcome.POISONED for entry in entries),
    )


async def _misjudged(home: DataDirectory, job: CrawlJob) -> list[str]:
    """See whether the job is over, and knows it."""
    outlook = await home.world.store.census.outlook(job.id, now_s=home.world.clock.now_s())
    told = []
    if job.state is not JobState.COMPLETED:
        told.append(f"the job is {job.state}, not completed: {job.error or job.stop}")
    if outlook.pending or outlook.leased:
        told.append(f"{outlook.pending} entries wait, {outlook.leased} are lent")
    if sum(outlook.by_state.values()) != job.stats.discovered:
        told.append(f"states add up to {sum(outlook.by_state.values())}")
    return told


def _mislogged(seen: Counter[str], logged: Counter[str]) -> Iterator[str]:
    """Hold the log and what servers saw against each other."""
    for url, many in (logged - seen).items():
        yield f"{url} is {many} times more in the log than the server saw it"


async def _unreadable(
    home: DataDirectory, rows: Sequence[CaptureRow], pages: Mapping[str, bytes]
) -> AsyncIterator[str]:
    """Read every record back, as geomi itself does."""
    for row in rows:
        if row.url not in pages:
            yield f"{row.url} was kept, which is no page of the site"
        try:
            record = orjson.loads(await home.archive.read(row.record))
        except GeomiError as error:
            yield f"the record of {row.url}: {error.message}"
            continue
        for told in invariants.misread([row.url], [record["url"]]):
            yield told


async def _missing_in_segments(
    home: DataDirectory, job: CrawlJob, pages: Mapping[str, bytes]
) -> list[str]:
    """Read all segments with another program, digests checked; every page has to be there."""
    bodies: dict[str, bytes] = {}
    told: list[str] = []
    for segment, end in (await home.store.segments.job_ends(job.id)).items():
        async with home.archive.whole(segment) as path:
            size_bytes = path.stat().st_size
            if size_bytes < end:
                told.append(f"{segment} is {size_bytes} bytes long, {end} are committed")
            try:
                bodies |= await asyncio.to_thread(_bodies, path)
            except Exception as error:
                told.append(f"{segment}: {error}")
    wrong = [url for url, body in pages.items() if bodies.get(url) != body]
    return told + [f"the archive has not the bytes of {url}" for url in wrong[:MAX_TOLD]]


def _bodies(segment: Path) -> dict[str, bytes]:
    from warcio.archiveiterator import ArchiveIterator  # for tests alone

    bodies = {}
    with segment.open("rb") as file:
        for record in ArchiveIterator(file, check_digests="raise"):
            content = record.content_stream().read()
            if record.rec_type == "response":
                bodies[record.rec_headers.get_header("WARC-Target-URI")] = content
    return bodies


def _misprinted(root: Path, wanted: Wanted) -> Iterator[str]:
    """Look for pages that an output lacks, or has twice."""
    lines = (root / "pages.jsonl").read_bytes().splitlines()
    printed = Counter(str(orjson.loads(line)["url"]) for line in lines)
    for url in (wanted.pages.keys() ^ printed.keys()) | {u for u in printed if printed[u] > 1}:
        yield f"pages.jsonl has {url} {printed[url]} times"
    if not wanted.has_markdown:
        return
    files = Counter(path.suffix for path in (root / "md").rglob("*.*") if path.is_file())
    if files != {".md": len(wanted.pages)}:
        yield f"of {len(wanted.pages)} pages in markdown there are {dict(files)}"
