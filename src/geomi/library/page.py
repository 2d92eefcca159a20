"""`Page`: one collected page for programs, with the fields of a record of `pages.jsonl`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import orjson

from geomi.url.parse import display

Record = bytes
Value = str | float | Sequence[str] | Sequence[Mapping[str, str | int]] | Mapping[str, str | int]


@dataclass(frozen=True, slots=True)
class Link:
    """A link of a page; `internal` ones stay on its host."""

    url: str
    text: str
    rel: str
    internal: bool


@dataclass(frozen=True, slots=True)
class Page:
    """One page; docs/reference/output.md says what each field means."""

    url: str
    url_display: str
    final_url: str
    status: int
    fetched_at: str
    depth: int
    parent: str | None
    source: str
    title: str
    description: str
    language: str
    markdown: str
    links: tuple[Link, ...]
    content_hash: str
    simhash: str
    content_type: str
    bytes: int
    fetch_ms: int
    metadata: Mapping[str, Value]

    @classmethod
    def from_record(cls, record: Record) -> Self:
        """Read one line of `pages.jsonl`."""
        values = orjson.loads(record)
        links = tuple(Link(**link) for link in values["links"])
        # A record of an older geomi does not say how its URL is shown.
        return cls(**values | {"links": links, "url_display": display(values["url"])})

    def to_json(self) -> str:
        """Write the record again, on one line."""
        return orjson.dumps(self).decode()
