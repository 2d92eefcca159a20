"""What the runs of one fault came to: one line of the table."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from geomi.engine.audit import invariants
from tests.support.aftermath import Aftermath

HEADS = (
    "fault", "database", "runs", "faults", "lost", "refetched", "leases", "urls", "violations",
)  # fmt: skip
MAX_TOLD = 8  # violations that are shown of each line


@dataclass(frozen=True, slots=True)
class Held:
    """What was lent at some moment: hosts, and URLs of theirs that were not settled."""

    leases: int = 0
    urls: int = 0

    def __add__(self, other: Held) -> Held:
        return Held(self.leases + other.leases, self.urls + other.urls)


NOTHING = Held()


@dataclass
class Row:
    """One fault on one database.

    Args:
        runs: crawls that were looked at in the end; `faults` may have met each several times.
        refetched: requests for pages that had been asked for before.
        held: what was lent when the faults came: as many URLs may be asked for again, no more.
    """

    fault: str
    database: str
    runs: int = 0
    faults: int = 0
    lost: int = 0
    refetched: int = 0
    held: Held = NOTHING
    impolite: int = 0
    wrong: list[str] = field(default_factory=list)

    def add(self, found: Aftermath, held: Held, *, faults: int = 1, about: str = "") -> None:
        """Take one crawl, and what was lent at its faults."""
        self.runs += 1
        self.faults += faults
        self.lost += len(found.lost)
        self.refetched += found.refetched
        self.held += held
        self.impolite += len(found.impolite)
        told = [f"lost: {url}" for url in found.lost] + [*found.impolite, *found.faults]
        told += invariants.asked_again(found.refetched, held.urls)
        self.wrong += [f"{about}: {line}" if about else line for line in told]

    def join(self, other: Row) -> None:
        """Take what another lane came to."""
        for name in ("runs", "faults", "lost", "refetched", "held", "impolite"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.wrong += other.wrong

    @property
    def violations(self) -> int:
        """How much happened that must not."""
        return len(self.wrong)


def rendered(rows: Iterable[Row]) -> str:
    """Return the table, and beneath it what was wrong."""
    rows = list(rows)
    cells = [HEADS, *(_cells(row) for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = ["  ".join(map(str.ljust, line, widths)).rstrip() for line in cells]
    for row in rows:
        lines += [f"✗ {row.fault}, {row.database}: {text}" for text in row.wrong[:MAX_TOLD]]
        if row.violations > MAX_TOLD:
            lines.append(f"  and {row.violations - MAX_TOLD} more")
    return "\n".join(lines)


def _cells(row: Row) -> tuple[str, ...]:
    held = (row.held.leases, row.held.urls)
    numbers = (row.runs, row.faults, row.lost, row.refetched, *held, row.violations)
    return (row.fault, row.database, *map(str, numbers))
