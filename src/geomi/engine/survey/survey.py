"""Find what a crawl would find, without crawling: robots.txt, sitemaps, /llms.txt, seed pages.

Every request is sent in its host's turn and stands in the request log. The pages themselves are
not kept. A URL is judged by the rules of a crawl, so `geomi map` lists exactly what `geomi crawl`
would put into its frontier.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from geomi.model.entry import Source
from geomi.model.verdict import Outcome


@dataclass(frozen=True, slots=True)
class Listed:
    """A URL that a crawl would take, or that robots.txt keeps it from (`robots` says why)."""

    url: str
    source: Source
    pattern: str = ""
    lastmod_s: float | None = None
    robots: str = ""


@dataclass(frozen=True, slots=True)
class ListRead:
    """A sitemap or a listing that was asked for; one that is not there is no problem of ours."""

    url: str
    urls: int
    problem: str = ""
    is_missing: bool = False


@dataclass(frozen=True, slots=True)
class Sample:
    """One page that was fetched to learn what pages of this site cost."""

    url: str
    wire_bytes: int
    fetch_ms: int
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class HostTerms:
    """How gently a host has to be asked."""

    host: str
    delay_s: float
    robots: str


@dataclass(slots=True)
class Survey:
    """What was found; filled while it goes on."""

    listed: dict[bytes, Listed] = field(default_factory=dict)
    excluded: dict[str, tuple[int, tuple[str, ...]]] = field(default_factory=dict)
    lists: list[ListRead] = field(default_factory=list)
    samples: list[Sample] = field(default_factory=list)
    hosts: list[HostTerms] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    is_cut: bool = False

    @property
    def allowed(self) -> list[Listed]:
        """What a crawl would fetch."""
        return [one for one in self.listed.values() if not one.robots]

    @property
    def disallowed(self) -> Mapping[str, list[Listed]]:
        """What robots.txt forbids, by the line that does."""
        found: dict[str, list[Listed]] = {}
        for one in self.listed.values():
            if one.robots:
                found.setdefault(one.robots, []).append(one)
        return found
