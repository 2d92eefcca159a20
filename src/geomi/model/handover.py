"""What contracts hand over to a crawl: where it starts, and what is known of the hosts."""

from __future__ import annotations

from dataclasses import dataclass

from geomi.model.seed import Checksum


@dataclass(frozen=True, slots=True)
class HostCopy:
    """What a host has answered when its robots.txt was asked for.

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
class LeftOut:
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
    robots: tuple[HostCopy, ...]
    contracts: int
    left_out: tuple[LeftOut, ...] = ()
    unread: int = 0
