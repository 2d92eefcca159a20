"""A web that is only arithmetic: any page of it is made from its number, and none is kept.

Hosts have Zipf sizes, as real ones do: a few hold a tenth of all pages, most hold a handful. Each
page links within its host and to others. An answer takes as long as a real one would, in virtual
time.
"""

from __future__ import annotations

import asyncio
import random
from bisect import bisect_right
from collections import defaultdict
from dataclasses import dataclass, field
from itertools import accumulate
from zlib import crc32

from geomi.model.page import Fetched, Request
from geomi.ports.runtime import Clock
from geomi.ports.web import Resolution

LINKS = 50
OUTSIDE_SHARE = 0.2  # of the links
ZIPF = 0.8
MEDIAN_ANSWER_S = 0.3
ANSWER_SIGMA = 0.6  # of the logarithm: one answer in a hundred takes four times as long
WORDS = (
    "silk thread orb web spider anchor frame spiral hub radius dew morning garden stone window "
    "light patience knot loom weaver bridge line tension wind branch leaf night moth careful slow "
    "river field harbour lantern market orchard paper quarry saddle timber valley willow yarn"
).split()


class SimulatedWeb:
    """Pages by their number: which host has them, what they are called, what they link to."""

    def __init__(self, *, urls: int, hosts: int) -> None:
        weights = [1 / rank**ZIPF for rank in range(1, hosts + 1)]
        scale = urls / sum(weights)
        sizes = [max(1, round(weight * scale)) for weight in weights]
        self._starts = [0, *accumulate(sizes)]
        self.hosts = hosts
        self.urls = self._starts[-1]

    def url(self, page: int) -> str:
        """Return a page's URL; the first page of a host is its root."""
        host = self.host_of(page)
        local = page - self._starts[host]
        return f"http://{host_name(host)}/{_slug(local)}"

    def host_of(self, page: int) -> int:
        """Return which host has a page."""
        return bisect_right(self._starts, page) - 1

    def front(self, host: int) -> str:
        """Return a host's first page."""
        return self.url(self._starts[host])

    def page(self, url: str) -> bytes | None:
        """Write the page of a URL; None where there is none."""
        name, _, slug = url.removeprefix("http://").partition("/")
        host, local = _host_number(name), _local(slug)
        if host is None or local is None:
            return None
        first, after = self._starts[host], self._starts[host + 1]
        if first + local >= after:
            return None
        rng = random.Random(crc32(url.encode()))
        inside = [rng.randrange(first, after) for _ in range(round(LINKS * (1 - OUTSIDE_SHARE)))]
        outside = [rng.randrange(self.urls) for _ in range(LINKS - len(inside))]
        items = "".join(f'<li><a href="{self.url(page)}">x</a></li>' for page in inside + outside)
        text = " ".join(rng.choices(WORDS, k=60))
        return f"<title>{slug}</title><main><p>{text}</p><ul>{items}</ul></main>".encode()


@dataclass(slots=True)
class Visits:
    """What one host saw: how often, when last, and its shortest rest between two requests."""

    count: int = 0
    ended_s: float = 0.0
    shortest_rest_s: float = float("inf")
    at_once: int = 0


@dataclass(slots=True)
class SimulatedNet:
    """Fetcher and resolver of the simulated web, and the only witness of what was asked."""

    web: SimulatedWeb
    clock: Clock
    rng: random.Random
    seen: defaultdict[str, Visits] = field(default_factory=lambda: defaultdict(Visits))
    overlaps: int = 0

    async def fetch(self, request: Request) -> Fetched:
        """Answer as a server would, after as long as one takes."""
        started_s = self.clock.now_s()
        host = request.url.split("/", 3)[2]
        visits = self.seen[host]
        self.overlaps += visits.at_once > 0
        if visits.count:
            visits.shortest_rest_s = min(visits.shortest_rest_s, started_s - visits.ended_s)
        visits.count += 1
        visits.at_once += 1
        await asyncio.sleep(self.rng.lognormvariate(0, ANSWER_SIGMA) * MEDIAN_ANSWER_S)
        visits.at_once -= 1
        visits.ended_s = self.clock.now_s()
        body = self.web.page(request.url)
        return Fetched(
            request.url,
            status=404 if body is None else 200,
            headers=(("content-type", "text/html; charset=utf-8"),),
            body=body or b"",
            wire_bytes=len(body or b"") + 200,
            started_s=started_s,
            ended_s=visits.ended_s,
        )

    async def resolve(self, host: str, port: int) -> Resolution:
        """Give each host an address of its own."""
        number = _host_number(host) or 0
        return Resolution((f"11.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}",))

    async def aclose(self) -> None:
        """Close nothing."""


def host_name(host: int) -> str:
    """Return the name of a host by its number."""
    return f"h{host}.example.com"


def _host_number(name: str) -> int | None:
    digits = name.partition(".")[0][1:]
    return int(digits) if digits.isdigit() else None


def _slug(local: int) -> str:
    """Write a number in words, so that no URL looks like one of an endless series."""
    words = []
    while local:
        local, word = divmod(local - 1, len(WORDS))
        words.append(WORDS[word])
    return "-".join(words)


def _local(slug: str) -> int | None:
    local = 0
    try:
        for word in reversed(slug.split("-") if slug else ()):
            local = local * len(WORDS) + WORDS.index(word) + 1
    except ValueError:
        return None
    return local
