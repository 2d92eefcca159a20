"""A dataset and the web its raw files speak of: real names, https by an authority of our own.

Time is turned by hand, so that what a contract says of times can be compared to the second, and
nobody waits for a server that never answers.
"""

from __future__ import annotations

import asyncio
import json
import re
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import trustme

from geomi.adapters.dataset.directory import DirectoryDataset
from geomi.adapters.http import EgressRules, parse_override
from geomi.dataset.message import domain_message
from geomi.dataset.partition import metadata_path, raw_path, result_path, success_path
from geomi.dataset.raw_file import read_raw
from geomi.engine.seeds.checkpoints import checksum_of
from geomi.engine.seeds.context import SeedContext
from geomi.engine.seeds.domains import collect_domain
from geomi.model.config import CrawlConfig
from geomi.model.dataset.queue import Loan, TaskResult
from geomi.model.dataset.seed import DomainMessage, Partition, SeedRules
from geomi.model.request_log import SentRequest
from geomi.url.host import registrable_domain
from geomi.url.parse import parse
from tests.support.clock import HandClock
from tests.support.crawl import profile_config
from tests.support.server import Route, Site
from tests.support.timed_crawl import TICK_S, Asked, Hand, hand_in

BEGIN_S = 1_769_614_200.0  # 2026-01-28T15:30:00Z
SG_NEWS = Partition("sg", "news", "2026-01-28")
SOON = 10**9

T = TypeVar("T")


def seed_config(**rules: object) -> CrawlConfig:
    """Return the seed engine's own settings, with no rest between requests on loopback."""
    config = profile_config("seed-engine")
    return replace(
        config,
        politeness=replace(config.politeness, delay_s=0.0, per_ip=100),
        seeds=replace(config.seeds, **rules),  # type: ignore[arg-type]
    )


def record(url: str, title: str = "A page", **changes: str) -> dict[str, str]:
    """Make one record of a raw file (SED-07)."""
    parsed = parse(url)
    assert parsed is not None
    domain = registrable_domain(parsed.host)
    return {
        "url": url,
        "title": title,
        "domain": parsed.host,
        "registrable_domain": domain,
        "domain_id": f"gov:sg:{domain}",
        "source_type": "gov",
        "content_type": "text/html",
        "language": "en",
        "country": "sg",
        "discovered_at": "2026-01-28T10:00:00Z",
        "discovery_method": "google_search",
    } | changes


@dataclass
class InHand:
    """A task that nobody takes away; `on_keep` happens before each write."""

    loan: Loan
    on_keep: Callable[[], None] = lambda: None
    alone: bool = False
    kept: int = 0

    async def keep(self) -> None:
        """Make sure that it is still ours."""
        self.kept += 1
        self.on_keep()


@dataclass
class Ground:
    """One dataset, its web, and the hand of the clock."""

    root: Path
    hand: Hand
    seeding: SeedContext
    sites: Mapping[str, Site]

    @property
    def clock(self) -> HandClock:
        """The hand."""
        return self.hand.clock

    def raw(self, number: int, *records: Mapping[str, str]) -> list[DomainMessage]:
        """Write a raw file, and return the messages that come of it."""
        path = raw_path(SG_NEWS, number)
        data = json.dumps(records, indent=2).encode()
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_bytes(data)
        file = read_raw(data, SG_NEWS, max_records=1000)
        assert not file.rejects, file.rejects
        sum_ = checksum_of(data)
        return [
            DomainMessage(one.domain, one.domain_id, one.urls, SG_NEWS, path, sum_, one.indexes)
            for one in file.groups
        ]

    async def collect(
        self, *messages: DomainMessage, on_keep: Callable[[], None] = lambda: None
    ) -> TaskResult:
        """Let a collector work on the messages of one domain."""
        rules: SeedRules = self.seeding.config.seeds
        sent = tuple(domain_message(rules, one) for one in messages)
        loan = Loan(rules.domain_queue, sent[0].task, 1, SOON, sent)
        return await self.turned(collect_domain(self.seeding, InHand(loan, on_keep)))

    async def turned(self, work: Awaitable[T]) -> T:
        """Wait for something while the hand turns whenever nobody is asked."""
        task = asyncio.ensure_future(work)
        while not task.done():
            await asyncio.sleep(TICK_S)
            wake_s, now_s = self.clock.next_wake_s, self.clock.now_s()
            if wake_s is not None and wake_s > now_s and not self.hand.fetcher.in_flight:
                self.clock.advance(wake_s - now_s)
        return await task

    def contract(self, domain: str) -> Any:
        """Read what stands for a domain."""
        return json.loads((self.root / metadata_path(SG_NEWS, domain)).read_text("utf-8"))

    def manifest(self, domain: str) -> Any:
        """Read the checkpoint of a domain."""
        path = self.root / success_path(metadata_path(SG_NEWS, domain))
        return json.loads(path.read_text("utf-8"))

    def file(self, domain: str, name: str) -> Path:
        """Name a file of a contract."""
        return self.root / result_path(SG_NEWS, domain) / name

    def tree(self) -> dict[str, bytes]:
        """Read all that was written."""
        prod = self.root / "prod"
        files = sorted(path for path in prod.rglob("*") if path.is_file())
        return {str(path.relative_to(self.root)): path.read_bytes() for path in files}

    @property
    def requests(self) -> list[Asked]:
        """Every request for a robots.txt or a sitemap, in order: front pages are left out."""
        return [one for one in self.hand.fetcher.asked if one.path != "/"]

    @property
    def asked(self) -> list[str]:
        """The URLs of these requests."""
        return [one.url for one in self.requests]

    async def log(self) -> list[SentRequest]:
        """Read the log of requests."""
        requests = self.hand.world.store.requests
        return [
            row
            for host in await requests.hosts()
            for row in await requests.of_host(host, after_s=0.0, limit=1000)
        ]


@asynccontextmanager
async def ground(
    root: Path,
    authority: trustme.CA,
    web: Mapping[str, Mapping[str, Route] | None],
    config: CrawlConfig | None = None,
    begin_s: float = BEGIN_S,
    server_authority: trustme.CA | None = None,
) -> AsyncIterator[Ground]:
    """Serve some origins on loopback, and open an empty dataset.

    Args:
        web: routes by origin, `https://mom.gov.sg`; None where nobody listens.
        server_authority: who vouches for the servers, where it is not whom we trust.
    """
    async with AsyncExitStack() as stack:
        sites: dict[str, Site] = {}
        overrides = []
        for origin, routes in web.items():
            url = parse(origin)
            assert url is not None
            if routes is None:
                port = stack.enter_context(_closed()).getsockname()[1]
            else:
                tls = (
                    server_context(server_authority or authority, url.host)
                    if url.scheme == "https"
                    else None
                )
                sites[origin] = stack.enter_context(Site(routes, tls=tls))
                port = sites[origin].port
            overrides.append(parse_override(f"{url.host}:{url.port}:127.0.0.1:{port}"))
        ca_file, data = root / "ca.pem", root / "dataset"
        authority.cert_pem.write_to_path(str(ca_file))
        data.mkdir()
        rules = EgressRules(overrides=tuple(overrides), ca_file=ca_file)
        hand = await stack.enter_async_context(hand_in(root / "home", rules, HandClock(begin_s)))
        seeding = SeedContext(
            hand.world, config or seed_config(), hand.store.queues, DirectoryDataset(data)
        )
        yield Ground(data, hand, seeding, sites)


def server_context(authority: trustme.CA, *names: str) -> ssl.SSLContext:
    """Make the context of a server that the authority vouches for."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(*names).configure_cert(context)
    return context


def _closed() -> socket.socket:
    """Take a port on which nobody listens."""
    taken = socket.socket()
    taken.bind(("127.0.0.1", 0))
    return taken


def normalised(tree: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return files without what differs between two runs: times, and checksums of these."""
    return {
        path: _TIMES.sub(rb"\1:0", data) if "domain_metadata" in path else data
        for path, data in tree.items()
    }


_TIMES = re.compile(
    rb'("(?:processed_at|fetched_at|processing_duration_ms|duration_ms|response_time_avg_ms|'
    rb'prod/[^"]*/domain_metadata.json)"): ?(?:"[^"]*"|\d+|\{[^}]*\})'
)


def forced(messages: Sequence[DomainMessage], run: str) -> list[DomainMessage]:
    """Return messages as a forced orchestration sends them."""
    return [replace(one, force=True, run=run) for one in messages]
