"""The values of a dataset: partitions, URLs, rejects, manifests, messages, and its check.

A dataset has three trees. `raw/` has lists of URLs; geomi writes only checkpoints there. `prod/`
has one contract for each registrable domain of a partition. `rejects/` has the rejected records of
each raw file, and why.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated

from annotated_types import Ge, Le

PROCESSOR = "seed-engine"  # SED-33
MIB = 1024 * 1024
Wait = Annotated[float, Ge(0), Le(3600)]
# Where a record stands: the number of its raw file, and its index there (C-92).
Position = tuple[int, int]
MAX_PROBLEMS = 100  # that are told one by one; the others are counted


@dataclass(frozen=True, slots=True)
class SeedRules:
    """How the seed engine works on its queues (SED-35, C-86), and what it takes from outside."""

    seed_queue: str = "seed"
    domain_queue: str = "domain"
    dead_letter_queue: str = "dlq"
    seed_batch: Annotated[int, Ge(1), Le(100)] = 1  # raw files that a worker has in hand at once
    domain_batch: Annotated[int, Ge(1), Le(100)] = 5
    seed_batch_wait_s: Wait = 0.0  # how long an idle worker waits for a batch to fill
    domain_batch_wait_s: Wait = 0.0
    # What the servers of one domain may take together: waiting for a turn does not count.
    domain_timeout_s: Annotated[float, Ge(1), Le(3600)] = 60.0
    max_retries: Annotated[int, Ge(0), Le(10)] = 3  # of a message, after 1, 2, 4 s and so on
    max_sitemaps: Annotated[int, Ge(0), Le(1000)] = 20  # that are read for one domain
    max_hosts: Annotated[int, Ge(1), Le(1000)] = 20  # of one domain that are looked at
    max_file_bytes: Annotated[int, Ge(1024), Le(1024 * MIB)] = 64 * MIB
    max_records: Annotated[int, Ge(1)] = 200_000  # in one raw file


class ErrorType(StrEnum):
    """Why something could not be processed (ERR-15)."""

    NETWORK = "network_error"
    TIMEOUT = "timeout_error"
    PARSE = "parse_error"
    STORAGE = "storage_error"
    VALIDATION = "validation_error"


@dataclass(frozen=True, slots=True, order=True)
class Partition:
    """One day's finds of one category in one country; `dataset/partition.py` makes checked ones."""

    country: str
    category: str
    date: str


@dataclass(frozen=True, slots=True)
class PartitionFilter:
    """A filter of partitions; None matches all (SED-17, C-51)."""

    country: str | None = None
    category: str | None = None
    date: str | None = None

    def matches(self, partition: Partition) -> bool:
        """Whether a partition is among them."""
        return (
            self.country in (None, partition.country)
            and self.category in (None, partition.category)
            and self.date in (None, partition.date)
        )


@dataclass(frozen=True, slots=True)
class SeedUrl:
    """One URL of a domain, as its record describes it."""

    url: str
    title: str
    path: str


@dataclass(frozen=True, slots=True)
class PlacedUrl:
    """A URL, where its record stands, and what the record calls its domain."""

    at: Position
    domain_id: str
    seed: SeedUrl


@dataclass(frozen=True, slots=True)
class Reject:
    """A record that was not taken.

    Args:
        line: of the raw file, where the record begins; the first is 1.
        index: of the record in the raw file.
    """

    line: int
    index: int
    reason: str
    url: str = ""


@dataclass(frozen=True, slots=True)
class Checksum:
    """The size and digest that a file must have for its manifest to hold."""

    sha256: str
    size: int


@dataclass(frozen=True, slots=True)
class Manifest:
    """The content of a checkpoint (`.success`): the inputs that are done, and their outputs (C-92).

    The same form for a raw file and for a contract. It is written last, so that whatever it answers
    for is there; where a file does not match, nothing counts as done.

    Args:
        inputs: the raw files that are covered, by their keys.
        outputs: the files that it answers for, by their keys; not those that only stand beside.
        counts: records, rejected, duplicates and domains of a raw file; urls of a contract.
        positions: of a contract, where each of its URLs stands, in their order.
        run: the forced orchestration that it was last made for; empty where none was.
        facts: whether robots.txt and a sitemap were found, for whoever counts contracts.
        duration_ms: what the work has taken.
    """

    processed_at: str
    inputs: Mapping[str, Checksum]
    outputs: Mapping[str, Checksum] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)
    positions: tuple[Position, ...] = ()
    run: str = ""
    facts: Mapping[str, bool] = field(default_factory=dict)
    duration_ms: int = 0
    processor: str = PROCESSOR


@dataclass(frozen=True, slots=True)
class SeedMessage:
    """A raw file that is to be processed (SED-21, C-50).

    Args:
        run: the orchestration that forces it; empty where nothing is forced.
        again: whether its domains are sent once more, although its checkpoint answers for it.
    """

    file_path: str
    partition_info: Partition
    force: bool = False
    run: str = ""
    again: bool = False


@dataclass(frozen=True, slots=True)
class DomainMessage:
    """A domain of a partition and those of its URLs that one raw file names (SED-22, C-50).

    Args:
        file_path, file: the raw file they come from, and what it has to be.
        indexes: of the record of each URL in that file.
    """

    domain: str
    domain_id: str
    urls: tuple[SeedUrl, ...]
    partition_info: Partition
    file_path: str
    file: Checksum
    indexes: tuple[int, ...]
    force: bool = False
    run: str = ""


@dataclass(frozen=True, slots=True)
class OrchestrationReport:
    """The result of an orchestration (SED-18)."""

    files_found: int = 0
    sent: int = 0
    skipped: int = 0

    @property
    def unsent(self) -> int:
        """Raw files that could not be sent (SED-20)."""
        return self.files_found - self.sent - self.skipped


@dataclass(frozen=True, slots=True)
class DatasetProblem:
    """Something in a dataset that is not as it should be.

    Args:
        remedy: what to do about it.
    """

    key: str
    what: str
    remedy: str


@dataclass(frozen=True, slots=True)
class DatasetCheck:
    """A dataset's state in numbers, and the first of its problems.

    Args:
        files, processed: raw files, and those of them that have a checkpoint which holds.
        domains: that raw files name, each once for each partition.
        contracts, unfinished: domains in `prod/`, and those of them that do not hold.
        found: problems, those counted in that are not told.
    """

    files: int = 0
    processed: int = 0
    records: int = 0
    rejected: int = 0
    duplicates: int = 0
    domains: int = 0
    contracts: int = 0
    unfinished: int = 0
    urls: int = 0
    found: int = 0
    problems: tuple[DatasetProblem, ...] = ()
