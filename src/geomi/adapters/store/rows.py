"""Rows to values and back, in the column order of the `.sql` files, and JSON in one column.

A row that cannot be read, because somebody or a bad disk has changed it, is named. A name
that is too long for a key is refused.

A configuration, a provider or a template is JSON. Stores outlive versions: a key that this version
does not know is ignored, a missing one gets its default. A value of another kind than its field
asks for is damage, and a ValueError or a TypeError.
"""

from __future__ import annotations

import dataclasses
import json
import types
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from functools import cache, lru_cache
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from geomi.adapters.store.accounting.hosts import HostRow
from geomi.errors import StoreError
from geomi.frontier.region import RegionMap
from geomi.model.config import Regions
from geomi.model.entry import Discovered, EntryKind, HostState, Source, Tally, UrlEntry
from geomi.model.index.document import DocumentState, StatusCount
from geomi.model.page import NO_TEMPLATE, Template
from geomi.model.site import Provider
from geomi.model.verdict import Outcome, State

D = TypeVar("D")
Row = tuple[Any, ...]
Reviver = Callable[[Any], Any]
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


def entry_of(
    row: Sequence[Any], job: str, host: str, *, is_known: bool = True, deaths: int = 0
) -> UrlEntry:
    """Read an entry."""
    (
        url_hash, url, depth, priority, source, kind, parent, origin, hops, discovered_s,
        state, attempts, due_s, settled_s, outcome, status, detail, media_type, body_bytes,
        nesting, pattern, lastmod_s, *tally,
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
            media_type=media_type,
            body_bytes=body_bytes,
            nesting=nesting,
            pattern=pattern or "",
            lastmod_s=lastmod_s,
            tally=Tally(*tally) if tally[0] else _NO_TALLY,
            is_known=is_known,
            deaths=deaths,
        )


def ending_of(row: Row) -> tuple[State, Outcome | None, int | None]:
    """Read how some entries ended."""
    with legible("entries", row):
        return State(row[0]), Outcome(row[1]) if row[1] else None, row[2]


def status_count_of(row: Row) -> StatusCount:
    """Read how many entries are in a state, and what became of their documents."""
    state, is_page, document, entries, chunks = row
    with legible("entries", row):
        known = DocumentState(document) if document else None
        return StatusCount(State(state), bool(is_page), known, entries, int(chunks))


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


def encode(value: object) -> str:
    """Write a dataclass or a tuple as JSON."""
    return json.dumps(value, default=_fields, ensure_ascii=False, separators=(",", ":"))


def decode(kind: type[D], text: str) -> D:
    """Read a dataclass that `encode` wrote."""
    hint: Any = kind
    value: D = reviver(hint)(json.loads(text))
    return value


@lru_cache(maxsize=1000)
def read_regions(text: str) -> RegionMap:
    """Read which regions serve a job's hosts; each claim asks for the same again."""
    return RegionMap(decode(Regions, text))


def decode_strings(text: str) -> tuple[str, ...]:
    """Read an array of strings."""
    strings: tuple[str, ...] = reviver(tuple[str, ...])(json.loads(text))
    return strings


@cache
def reviver(hint: Any) -> Reviver:
    """Return what gives a JSON value the type its field asks for.

    Types are taken apart once and not for every value: hosts are read with each claim.
    """
    origin = get_origin(hint)
    if origin is tuple:
        return _tuple_reviver(get_args(hint))
    if origin in (types.UnionType, Union):
        (inner,) = (arg for arg in get_args(hint) if arg is not type(None))
        revive = reviver(inner)
        return lambda value: None if value is None else revive(value)
    if dataclasses.is_dataclass(hint):
        return _fields_reviver(hint)
    if isinstance(hint, type) and issubclass(hint, StrEnum | float):
        return hint
    return lambda value: _expect(hint, value)


def _fields(value: Any) -> dict[str, Any]:
    """Return the fields of a dataclass; its tuples and words need no copy."""
    return {name: getattr(value, name) for name in _names(value.__class__)}


@cache
def _names(kind: Any) -> tuple[str, ...]:
    return tuple(field.name for field in dataclasses.fields(kind))


def _tuple_reviver(hints: tuple[Any, ...]) -> Reviver:
    parts = [reviver(hint) for hint in hints if hint is not Ellipsis]
    if hints[-1] is Ellipsis:
        (part,) = parts
        return lambda value: tuple(map(part, _expect(list, value)))
    return lambda value: tuple(
        part(item) for part, item in zip(parts, _expect(list, value), strict=True)
    )


def _fields_reviver(kind: Any) -> Reviver:
    known = {name: reviver(hint) for name, hint in get_type_hints(kind).items()}
    return lambda value: kind(
        **{name: known[name](part) for name, part in _expect(dict, value).items() if name in known}
    )


def _expect(kind: type, value: Any) -> Any:
    if not isinstance(value, kind):
        raise ValueError(f"{value!r} is not a {kind.__name__}")
    return value
