"""A frontier's web without pages: hosts of very different sizes, and what one visit of it brings.

Every URL has a number on its host and is made from it, so that ten million of them take no memory
until they are asked for. Sizes follow Zipf's law. Three links of four stay on their host, as in the
web of `bench/crawl.py`, and a tenth of them is new.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate

from geomi.dedup.sketch import SKETCH_BYTES
from geomi.model.entry import Discovered, HostUpdate, Lease, Settlement, Source, UrlEntry
from geomi.model.page import Fingerprint, PageRecord, Ref
from geomi.model.request_log import RequestPurpose, SentRequest
from geomi.model.verdict import Outcome, State
from geomi.url.parse import url_hash

OWNER = "bench"
LINKS = 75  # what is left of about a hundred when those that stand on a page twice are one
NEW_SHARE = 0.1
SAME_HOST_SHARE = 0.75
CHUNK = 16  # URLs of one host that are found together while the frontier is filled
BODY_BYTES = 50_000
DELAY_S = 1.0


@dataclass(slots=True)
class Sites:
    """The hosts and how many URLs of each are known."""

    weights: list[float]
    known: list[int]
    rng: random.Random

    @classmethod
    def of(cls, hosts: int, seed: int = 7) -> Sites:
        """Return hosts whose sizes follow Zipf's law, none of which is known yet."""
        weights = list(accumulate(1 / (rank + 1) for rank in range(hosts)))
        return cls(weights, [0] * hosts, random.Random(seed))

    @property
    def urls(self) -> int:
        """How many URLs are known."""
        return sum(self.known)

    def some_host(self) -> int:
        """Draw a host by its size."""
        return self.rng.choices(range(len(self.known)), cum_weights=self.weights)[0]

    def growth(self, urls: int, batch: int) -> Iterator[list[Discovered]]:
        """Yield new URLs in batches, in chunks as pages bring them, until there are so many."""
        while (left := urls - self.urls) > 0:
            hosts = self.rng.choices(
                range(len(self.known)), cum_weights=self.weights, k=min(batch, left) // CHUNK + 1
            )
            yield [self.new(host) for host in hosts for _ in range(CHUNK)]

    def new(self, host: int) -> Discovered:
        """Return a URL that nobody has met."""
        self.known[host] += 1
        return found(host, self.known[host] - 1)

    def links(self, host: int) -> tuple[Discovered, ...]:
        """Return what one page of a host links to."""
        return tuple(self._link(host) for _ in range(LINKS))

    def _link(self, host: int) -> Discovered:
        rng = self.rng
        if rng.random() >= SAME_HOST_SHARE:
            host = self.some_host()
        if rng.random() < NEW_SHARE or not self.known[host]:
            return self.new(host)
        return found(host, rng.randrange(self.known[host]))

    def visit(self, lease: Lease, entry: UrlEntry, now_s: float) -> Settlement:
        """Return what closing one visit brings: a page, its links, and the request it took."""
        asked = SentRequest(
            host=entry.host, job=entry.job, owner=OWNER, ip="192.0.2.1",
            purpose=RequestPurpose.PAGE, url=entry.url, started_s=now_s,
            ended_s=now_s + 0.1, status=200, outcome=Outcome.OK, floor_s=DELAY_S,
        )  # fmt: skip
        return Settlement(
            entry=entry,
            token=lease.token,
            outcome=Outcome.OK,
            state=State.COMPLETED,
            settled_s=now_s,
            status=200,
            counts=True,
            bytes_received=BODY_BYTES,
            discovered=self.links(number_of(entry.host)),
            page=self._page(entry, now_s),
            asked=(asked,),
        )

    def _page(self, entry: UrlEntry, now_s: float) -> PageRecord:
        rng = self.rng
        return PageRecord(
            url_hash=entry.url_hash,
            url=entry.url,
            final_url=entry.url,
            status=200,
            content_type="text/html; charset=utf-8",
            fetched_at_s=now_s,
            due_s=now_s + 86_400,
            fingerprint=Fingerprint(
                rng.randbytes(32).hex(), rng.randbytes(32).hex(), rng.randbytes(16),
                rng.getrandbits(64), rng.randbytes(SKETCH_BYTES), 600,
            ),
            record=Ref("bench/00000001.warc.gz", rng.getrandbits(30), 9_000),
            response=Ref("bench/00000001.warc.gz", rng.getrandbits(30), 15_000),
            etag=f'"{rng.getrandbits(64):x}"',
            last_modified="Tue, 02 Jan 2024 03:04:05 GMT",
            title="A page about threads, knots and the weather",
            strategy="article",
            confidence=0.9,
        )  # fmt: skip


def found(host: int, number: int) -> Discovered:
    """Return one URL, made from its number."""
    url = f"https://www.site-{host:05}.test/guide/thread-and-knot/part-{number:08}.html"
    return Discovered(
        url_hash=url_hash(url),
        url=url,
        host=f"www.site-{host:05}.test:443",
        depth=3,
        priority=70,
        source=Source.LINK,
        parent=f"https://www.site-{host:05}.test/guide/thread-and-knot/",
    )


def number_of(host: str) -> int:
    """Return the number of a host's name."""
    return int(host.partition("-")[2][:5])


def farewell(lease: Lease, now_s: float) -> HostUpdate:
    """Give a host back after its last visit."""
    return HostUpdate(lease, lease.state, next_s=now_s + DELAY_S)
