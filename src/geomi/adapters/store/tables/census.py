"""How many entries of a job one answer shows, and where the next answer begins."""

from __future__ import annotations

from collections.abc import Sequence

from geomi.adapters.store.rows import Row, entry_of
from geomi.errors import StoreError
from geomi.model.entry import MAX_ENTRIES, EntryFilter, EntryPage
from geomi.model.history import PageCursor

MAX_PREFIX_CHARS = 2000
END: PageCursor = (2**63 - 1, b"")  # after every entry


def check_prefix(which: EntryFilter) -> None:
    """Refuse to look for what no URL can begin with."""
    if len(which.prefix) > MAX_PREFIX_CHARS:
        raise StoreError(
            f"a beginning of URLs has {len(which.prefix)} characters",
            hint=f"give at most {MAX_PREFIX_CHARS}",
        )


def entries_shown(limit: int) -> int:
    """Return how many rows are in one answer."""
    return max(0, min(limit, MAX_ENTRIES))


def view_values(which: EntryFilter, after: PageCursor, last: PageCursor) -> dict[str, object]:
    """Return what a statement has to know to look between two places."""
    return {
        "queue": after[0],
        "after": after[1],
        "last_queue": last[0],
        "last": last[1],
        "state": which.state and which.state.value,
        "outcome": which.outcome and which.outcome.value,
        "prefix": which.prefix,
    }


def entry_page(job: str, rows: Sequence[Row], edge: PageCursor | None, many: int) -> EntryPage:
    """Return entries, and where to go on: after the last of them, or after the last looked at."""
    entries = tuple(entry_of(row, job, host) for _, host, *row in rows)
    if entries and len(entries) == many:
        return EntryPage(entries, (rows[-1][0], entries[-1].url_hash))
    return EntryPage(entries, edge)
