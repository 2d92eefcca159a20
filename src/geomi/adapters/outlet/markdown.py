"""A folder of markdown: one file a page, at `<host>/<slug>-<12 hex of the URL's hash>.md`.

The hash makes the name unique and the slug makes it readable; both are built from characters that
cannot leave the folder, whatever the URL says. A file appears whole or not at all.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import orjson

from geomi.adapters.machine.disk import place_file
from geomi.errors import StoreError
from geomi.url.host import file_name
from geomi.url.parse import display

MAX_SLUG_CHARS = 60
FRONT_MATTER = ("url", "title", "fetched_at", "language")

_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:/*", re.IGNORECASE)
_HOST_ENDS = re.compile(r"[/?#\\]")
_NOT_SLUG = re.compile(r"(?:%[0-9a-f]{2}|[^a-z0-9])+")


class MarkdownTree:
    """Pages as markdown files under one folder."""

    name = "md"

    def __init__(self, root: Path) -> None:
        self._root = root
        self._written = 0

    def open(self, committed: int) -> bool:
        """Continue after this many pages; False if their folder is missing."""
        self._written = committed
        return committed == 0 or self._root.is_dir()

    def write(self, records: Sequence[bytes]) -> int:
        """Write each record's page and return how many were written since the beginning."""
        for record in records:
            self.write_page(record)
        self._written += len(records)
        return self._written

    def close(self) -> None:
        """Do nothing: no file stays open."""

    def write_page(self, record: bytes) -> Path:
        """Write the page of one `pages.jsonl` record; return its file, replaced if it was there."""
        page = _parsed(record)
        path = self._root / _relative_path(str(page.get("url") or ""))
        whole = _front_matter(page) + str(page.get("markdown") or "").rstrip() + "\n"
        place_file(path, whole.encode("utf-8", "replace"))
        return path


def _parsed(record: bytes) -> dict[str, Any]:
    try:
        page = orjson.loads(record)
    except orjson.JSONDecodeError as error:
        raise StoreError(f"a page's record is not JSON: {error}") from error
    if not isinstance(page, dict):
        raise StoreError(f"a page's record is a JSON {type(page).__name__}, not an object")
    return page


def _relative_path(url: str) -> Path:
    host, path = _split(url)
    digest = hashlib.sha256(url.encode("utf-8", "replace")).hexdigest()
    return Path(file_name(host)) / f"{_slug(path)}-{digest[:12]}.md"


def _split(url: str) -> tuple[str, str]:
    """Return host (with its port) and path, for names only: this is no URL parser."""
    scheme = _SCHEME.match(url)
    rest = url[scheme.end() :] if scheme else url
    end = _HOST_ENDS.search(rest)
    at = end.start() if end else len(rest)
    path = rest[at:].partition("?")[0].partition("#")[0]
    return rest[:at].rpartition("@")[2], path


def _slug(path: str) -> str:
    slug = _NOT_SLUG.sub("-", path.lower()).strip("-")[:MAX_SLUG_CHARS].strip("-")
    return slug or "index"


def _front_matter(page: dict[str, Any]) -> str:
    told = page | {"url": display(str(page.get("url") or ""))}  # a person reads it (C-19)
    fields = [f"{name}: {_quoted(told[name])}" for name in FRONT_MATTER if told.get(name)]
    if signals := (page.get("metadata") or {}).get("signals"):
        said = (f"{_quoted(name)}: {_scalar(value)}" for name, value in signals.items())
        fields.append(f"signals: {{{', '.join(said)}}}")
    return "\n".join(("---", *fields, "---", "", ""))


def _scalar(signal: str | int) -> str:
    return _quoted(signal) if isinstance(signal, str) else json.dumps(signal)


def _quoted(value: object) -> str:
    """Quote a value so that YAML reads back the same text, on one line.

    JSON's quoting is YAML's, except that YAML takes some unprintable characters for line breaks or
    refuses them; its escapes for those are never wrong.
    """
    quoted = json.dumps(str(value), ensure_ascii=False)
    return "".join(char if char.isprintable() else f"\\U{ord(char):08x}" for char in quoted)
