"""A whole crawl of sites on loopback, and what it left: the report, the records, the entries."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeVar

from geomi.app import TENANT, DataDirectory, Plan, crawl, make_plan, open_directory, worker_for
from geomi.engine import jobs
from geomi.engine.visit.rules import job_rules
from geomi.engine.worker.loop import Worker
from geomi.engine.worker.supervisor import CrawlReport, Supervisor
from geomi.model.config import CrawlConfig
from geomi.model.entry import UrlEntry
from geomi.model.event import Event, Warned
from geomi.model.job import Commission, CrawlJob
from geomi.model.verdict import State
from geomi.settings.layers import flags_layer, resolve, resolve_under_profile, settings_layer
from geomi.settings.options import Settings
from tests.support.server import Reply, Seen, Site
from tests.support.waiting import waits
from tests.support.webs import WORDS

LOCAL = Settings(allow_private=True, contact="https://crawler.test/about")
# Loopback is our own: no rest between requests, and no limit unless a test is about it.
QUICK: dict[str, object] = {"delay": 0.0, "depth": 50, "max_pages": 0}

T = TypeVar("T")


@dataclass
class Ear:
    """Keeps every event."""

    events: list[Event] = field(default_factory=list)

    def emit(self, event: Event) -> None:
        """Take one event."""
        self.events.append(event)

    def of(self, kind: type[T]) -> list[T]:
        """Return the events of one kind."""
        return [event for event in self.events if isinstance(event, kind)]

    @property
    def warnings(self) -> list[str]:
        """What a person was told."""
        return [event.message for event in self.of(Warned)]


@dataclass(frozen=True)
class Crawled:
    """What one crawl left behind."""

    report: CrawlReport
    ear: Ear
    records: list[dict[str, Any]]
    entries: dict[str, UrlEntry]
    exclusions: Mapping[str, tuple[int, tuple[str, ...]]]

    def record(self, url: str) -> dict[str, Any]:
        """Return the one record of a URL as it was asked for."""
        (found,) = [record for record in self.records if record["url"] == url]
        return found

    @property
    def urls(self) -> list[str]:
        """The URLs of the records, in the order of commits."""
        return [record["url"] for record in self.records]

    def states(self, site: Site) -> dict[str, State]:
        """Return the state of each entry of a site by its path."""
        return {
            url.removeprefix(site.url("")): entry.state
            for url, entry in self.entries.items()
            if url.startswith(site.url("/"))
        }


@asynccontextmanager
async def home_in(root: Path, ear: Ear, settings: Settings = LOCAL) -> AsyncIterator[DataDirectory]:
    """Open a data directory."""
    async with open_directory(root, settings, lambda _: ear) as home:
        yield home


def plan(
    seeds: Sequence[str],
    *,
    resume: bool = False,
    assignments: Sequence[str] = (),
    **options: Any,
) -> Plan:
    """Plan a quick crawl, changed by options of the command line."""
    flags = flags_layer({**QUICK, **options}, assignments)
    return make_plan(seeds, resolve([flags, settings_layer(LOCAL)]), flags, resume=resume)


def profile_config(name: str) -> CrawlConfig:
    """Return the configuration of a profile, as it is."""
    return resolve_under_profile([flags_layer({"profile": name})]).config


async def start_in(home: DataDirectory, planned: Plan) -> CrawlJob:
    """Start a job that nobody works on yet."""
    rules = job_rules(home.world, planned.resolved.config, [url.href for url in planned.seeds])
    return await jobs.start(home.world, planned.seeds, rules, Commission(TENANT))


def worker_in(home: DataDirectory, job: CrawlJob, *, workers: int = 1) -> Worker:
    """Make one of a job's workers."""
    return worker_for(home, job, job_rules(home.world, job.config, job.seeds), workers=workers)


async def crawl_in(
    home: DataDirectory,
    ear: Ear,
    plan: Plan,
    on_start: Callable[[Supervisor], None] = lambda _: None,
) -> Crawled:
    """Crawl in an open directory and read back what came of it."""
    report = await crawl(home, plan, on_start=on_start)
    census, job = home.world.store.census, report.job.id
    entries = await census.entries(job, state=None, after=b"", limit=100_000)
    return Crawled(
        report,
        ear,
        read_records(home.root),
        {entry.url: entry for entry in entries},
        await census.exclusions(job),
    )


async def crawl_seeds(
    root: Path,
    *seeds: str,
    resume: bool = False,
    assignments: Sequence[str] = (),
    settings: Settings = LOCAL,
    **options: Any,
) -> Crawled:
    """Crawl from some URLs to the end."""
    ear = Ear()
    async with home_in(root, ear, settings) as home:
        planned = plan(seeds, resume=resume, assignments=assignments, **options)
        return await crawl_in(home, ear, planned)


crawl_site = waits(crawl_seeds)  # for a test that waits for nothing else


def read_records(root: Path) -> list[dict[str, Any]]:
    """Read the records of the newest job, if it wrote any."""
    path = root / "pages.jsonl"
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def page(name: str, *links: str, head: str = "", text: str = "") -> Reply:
    """Make a page with a text of its own and some links; `head` goes into its head."""
    words = text or " ".join(f"{word} {name}" for word in WORDS)
    anchors = "".join(
        link if link.startswith("<") else f'<a href="{link}">x</a> ' for link in links
    )
    return Reply(
        f"<!doctype html><html lang=en><head><title>{name}</title>{head}</head>"
        f"<body><main><h1>{name}</h1><p>{words}</p>{anchors}</main></body></html>".encode()
    )


def robots(*lines: str) -> Reply:
    """Make a robots.txt."""
    return Reply("\n".join(lines).encode(), content_type="text/plain")


def to(location: str, status: int = 302) -> Reply:
    """Make a redirect."""
    return Reply(status=status, headers=(("Location", location),))


def gaps(times_s: Iterable[float]) -> list[float]:
    """Return the waits between some moments."""
    return [later_s - sooner_s for sooner_s, later_s in pairwise(times_s)]


def paths(log: Iterable[Seen]) -> list[str]:
    """Return what was asked for, in order, robots.txt aside."""
    return [seen.target for seen in log if seen.path != "/robots.txt"]
