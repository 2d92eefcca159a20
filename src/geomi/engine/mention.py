"""A URL that has no entry: which page links to it, and whether it had no room to wait in."""

from __future__ import annotations

from dataclasses import dataclass

import orjson

from geomi.engine.visit.identity import Naming
from geomi.engine.world import World
from geomi.model.job import CrawlJob
from geomi.model.verdict import Room, Verdict
from geomi.url.parse import Url
from geomi.url.parse import parse as parse_url

# How many collected pages are read back to find who links to a URL that has no entry.
PAGES_READ_BACK = 20_000
PAGES_PER_READ = 500

# A change of the job's own limit lets its pages be read once more.
_HINTS = {Room.OF_ALL: "set GEOMI_MAX_QUEUED higher, then --resume --set limits.max_queued=0"}


@dataclass(frozen=True, slots=True)
class Mention:
    """The shallowest collected page that links to a URL."""

    parent: str
    depth: int


async def find_mention(world: World, job: CrawlJob, url: Url, naming: Naming) -> Mention | None:
    """Read collected pages back until the shallowest one that links to this URL is known."""
    wanted = naming.hash(url)
    needle = url.path.encode()
    best: Mention | None = None
    after = seen = 0
    while seen < PAGES_READ_BACK:
        rows = await world.pages.feed(job.id, after=after, limit=PAGES_PER_READ)
        for row in rows:
            line = await world.archive.read(row.record)
            if needle in line and (found := _links_to(line, wanted, naming)) is not None:
                best = found if best is None or found.depth < best.depth else best
        if len(rows) < PAGES_PER_READ:
            break
        after, seen = rows[-1].seq, seen + len(rows)
    return best


async def without_room(world: World, job: CrawlJob, url: Url) -> Verdict | None:
    """Say which limit of what may wait has kept a URL out, or may have; None where none has any."""
    told = await world.census.exclusions(job.id)
    kept_out = [(rule, *told[rule]) for rule in Room if rule in told]
    for rule, count, examples in kept_out:
        if url.href in examples:
            detail = f"too many URLs were waiting for it to wait, too, as for {count:,} links"
            return Verdict(False, rule, detail, _hint(rule))
    for rule, count, _ in kept_out:
        detail = f"it may be among the {count:,} links that found too many URLs waiting"
        return Verdict(False, rule, detail, _hint(rule))
    return None


def _links_to(line: bytes, wanted: bytes, naming: Naming) -> Mention | None:
    record = orjson.loads(line)
    for link in record["links"]:
        target = parse_url(link["url"])
        if target is not None and naming.hash(target) == wanted:
            return Mention(record["final_url"], record["depth"] + 1)
    return None


def _hint(rule: Room) -> str:
    return _HINTS.get(rule, f"--resume --set {rule}=0")
