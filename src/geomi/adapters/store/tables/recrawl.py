"""How pages changed, as rows: what is read of them, and how many versions are kept."""

from __future__ import annotations

from geomi.adapters.store.rows import Row
from geomi.model.history import PageHistory, RevisitPage

# Versions of a page whose digests are kept (DAT-07): some months of a page that changes daily.
KEPT_VERSIONS = 100


def history_of(row: Row) -> PageHistory:
    """Read a history; a page that was visited once has none."""
    return PageHistory() if row[0] is None else PageHistory(*row)


def standing_of(row: Row) -> RevisitPage:
    """Read a page of a walk."""
    queue, url_hash, url, host, depth, fetched_at_s, due_s, *history = row
    changed = history_of(tuple(history))
    return RevisitPage(url_hash, url, host, depth, fetched_at_s, due_s, changed, (queue, url_hash))
