"""Rows to values and back, in the column order of the `.sql` files.

A row that cannot be read, because somebody or a bad disk has changed it, is named. A name
that is too long for a key is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from geomi.adapters.store.accounting.hosts import HostRow
from geomi.adapters.store.codec import decode, decode_strings, encode
from geomi.errors import StoreError
from geomi.model.entry import Discovered, EntryKind, HostState, Source, Tally, UrlEntry
from geomi.model.page import (
    NO_TEMPLATE,
    Template,
)
from geomi.model.site import Provider
from geomi.model.verdict import Outcome, State

Row = tuple[Any, ...]
_NO_TALLY = Tally()
# An index of PostgreSQL takes 2,704 bytes of a row, and a line of the costs is found by four names.
MAX_NAME_BYTES = 500
_SHOWN_CHARS = 40


@contextmanager
def legible(table: str, row: object) -> Iterator[None]:
    """Name the row that could not be read."""
    try:
        yield
    except (ValueError, TypeError) as error:
        raise StoreError(
            f"row `{row}` of table `{table}` in the store is damaged: {error}",
            hint="restore the store from a backup, or use another data directory",
        ) from error


def refuse_long(what: str, name: str) -> None:
    """Raise where a name is too long for a key."""
    size_bytes = len(name.encode("utf-8", "surrogatepass"))
    if size_bytes > MAX_NAME_BYTES:
        raise StoreError(
            f"the {what} `{name[:_SHOWN_CHARS]}…` has {size_bytes} bytes",
            hint=f"a name may have {MAX_NAME_BYTES}",
        )


def host_row(row: Row) -> HostRow:
    """Read a host."""
    with legible("hosts", row[0]):
        template = decode(Template, row[7]) if row[7] else NO_TEMPLATE
    return HostRow(HostState(*(*row[:7], template)), *row[8:])


def host_columns(row: HostRow) -> Row:
    """Write a host."""
    state = row.state
    template = encode(state.template) if state.template != NO_TEMPLATE else None
    return (
        state.host, state.last_end_s, state.crawl_delay_s, state.backoff_s, state.errors,
        state.latency_s, state.ip, template, row.next_s, row.token, row.owner, row.job, row.leased,
        row.lease_until_s,
    )  # fmt: skip


def entry_of(row: Sequence[Any], job: str, host: str, *, is_known: bool = True) -> UrlEntry:
    """Read an entry."""
    (
        url_hash, url, depth, priority, source, kind, parent, origin, hops, discovered_s,
        state, attempts, due_s, settled_s, outcome, status, detail, nesting, pattern, lastmod_s,
        *tally,
    ) = row  # fmt: skip
    with legible("entries", url):
        return UrlEntry(
            job=job,
            url_hash=url_hash,
            url=url,
            host=host,
            depth=depth,
            priority=priority,
            source=Source(source),
            kind=EntryKind(kind),
            parent=parent,
            origin=origin,
            hops=hops,
            state=State(state),
            attempts=attempts,
            due_s=due_s,
            discovered_s=discovered_s,
            settled_s=settled_s,
            outcome=Outcome(outcome) if outcome else None,
            status=status,
            detail=detail,
            nesting=nesting,
            pattern=pattern or "",
            lastmod_s=lastmod_s,
            tally=Tally(*tally) if tally[0] else _NO_TALLY,
            is_known=is_known,
        )


def ending_of(row: Row) -> tuple[State, Outcome | None, int | None]:
    """Read how some entries ended."""
    with legible("entries", row):
        return State(row[0]), Outcome(row[1]) if row[1] else None, row[2]


def found_columns(queue: int, url: Discovered, found_s: float) -> Row:
    """Write a URL that was just found."""
    return (
        queue, url.url_hash, url.url, url.depth, url.priority, url.source.value, url.kind.value,
        url.parent, url.origin, url.hops, url.nesting, url.pattern or None, url.lastmod_s, found_s,
    )  # fmt: skip


def examples_of(rule: str, examples: str) -> tuple[str, ...]:
    """Read the URLs that a rule kept out."""
    with legible("exclusions", rule):
        return decode_strings(examples)


def provider_of(row: Row) -> Provider:
    """Read a provider."""
    key, provider = row
    with legible("providers", key):
        return decode(Provider, provider)
