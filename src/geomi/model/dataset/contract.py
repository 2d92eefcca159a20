"""Contracts, which say how to fetch a domain (seed 002 §3.2), and their handover to a crawl.

The names are those of `domain_metadata.json`. Times are ISO 8601 in UTC; sizes are bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from geomi.model.dataset.seed import Checksum, Partition, SeedUrl


@dataclass(frozen=True, slots=True)
class RobotsFacts:
    """What a host's robots.txt is (SED-10); its text is a file of its own (C-55).

    Args:
        allows_crawling: whether our own agent may fetch `/` (C-53).
        sitemap_urls: those that the file names, as absolute URLs (SED-28).
        fetched_at: when it was asked for; None where it was not.
        max_age_s: how long its server lets it be kept; None where it does not say.
        error: why there is none.
    """

    exists: bool
    size: int = 0
    last_modified: str | None = None
    allows_crawling: bool = False
    sitemap_urls: tuple[str, ...] = ()
    fetched_at: str | None = None
    error: str = ""
    max_age_s: int | None = None


@dataclass(frozen=True, slots=True)
class SitemapFacts:
    """What a host's sitemap is (SED-11, C-54, C-56): the first that was found (C-58).

    Args:
        url_count: pages that it lists; of an index those of its sitemaps that were read, None where
            none was.
        last_updated: the newest change that it tells of, or else `last_modified`.
        sitemap_count, sitemaps_read: of an index, how many it lists and how many were read.
        url: where it was found.
        error: why there is none, or what is wrong with the one there is.
    """

    exists: bool
    size: int = 0
    last_modified: str | None = None
    url_count: int | None = None
    last_updated: str | None = None
    sitemap_count: int | None = None
    sitemaps_read: int | None = None
    url: str = ""
    fetched_at: str | None = None
    error: str = ""


@dataclass(frozen=True, slots=True)
class ServerInfo:
    """What a server's answers show of it (SED-12); None where none came, or none says so.

    Args:
        response_time_avg_ms: mean over the answers that came.
    """

    server: str | None = None
    content_encoding: str | None = None
    supports_https: bool = False
    response_time_avg_ms: int | None = None


@dataclass(frozen=True, slots=True)
class HostFacts:
    """The technical facts of one host, in the order they are collected in (SED-45)."""

    robots_txt: RobotsFacts
    sitemap_xml: SitemapFacts
    server_info: ServerInfo


@dataclass(frozen=True, slots=True)
class Contract:
    """One domain of one partition: its URLs, and how they are fetched.

    Args:
        facts: of the registrable domain itself.
        hosts: of every other host among the URLs (C-57), by name, or by `name:port`.
    """

    domain: str
    domain_id: str
    partition: Partition
    urls: tuple[SeedUrl, ...]
    facts: HostFacts
    processed_at: str
    processing_duration_ms: int
    hosts: Mapping[str, HostFacts] = field(default_factory=dict)

    @property
    def every_host(self) -> dict[str, HostFacts]:
        """The facts of all its hosts, those of the domain first."""
        return {self.domain: self.facts, **self.hosts}


@dataclass(frozen=True, slots=True)
class HostRobots:
    """The answer of a host to the request for its robots.txt.

    Args:
        host: name:port, as it was asked.
        key, checksum: where the copy lies in the dataset; None where the host has no such file.
        max_age_s: how long its server lets it be kept; None where it does not say.
    """

    scheme: str
    host: str
    status: int
    fetched_s: float
    key: str = ""
    checksum: Checksum | None = None
    max_age_s: float | None = None


@dataclass(frozen=True, slots=True)
class SkippedDomain:
    """A domain, or some of its URLs, that no crawl is started from."""

    domain: str
    reason: str


@dataclass(frozen=True, slots=True)
class Handover:
    """The contracts of some partitions, as a crawl needs them.

    Args:
        source: the dataset, and which of its partitions.
        contracts: how many were taken, whole or in part.
        unread: contracts that were not even looked at: those before them are enough.
    """

    source: str
    seeds: tuple[str, ...]
    sitemaps: tuple[str, ...]
    robots: tuple[HostRobots, ...]
    contracts: int
    left_out: tuple[SkippedDomain, ...] = ()
    unread: int = 0
