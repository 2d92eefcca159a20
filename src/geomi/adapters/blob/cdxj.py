"""A CDXJ index of WARC segments: one line a response, `key timestamp {json}`, for any web replay.

Rules kept:
- The index is made of the segments themselves, member by member, as far as they are committed;
  whatever the store says, an offset points at a record that is there.
- Keys are SURTs, timestamps have 14 digits, values are strings, and lines are in the order of their
  bytes, as cdxj-indexer writes them and pywb searches them.
- Of a member only its headers are kept; the rest is passed over in pieces.
"""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import orjson
from isal import isal_zlib

from geomi.adapters.blob.warc import WarcMember, header_fields, members
from geomi.adapters.machine.disk import refusal
from geomi.errors import StoreError
from geomi.url.parse import parse
from geomi.url.surt import surt

_END_OF_HEAD = b"\r\n\r\n"


def index_lines(segment: Path, end: int) -> Generator[bytes]:
    """Yield a line for each response of a segment's committed part."""
    try:
        with segment.open("rb") as file:
            for member in members(file, end):
                if line := _line(member, segment.name):
                    yield line
    except OSError as error:
        raise refusal(error, segment) from error
    except isal_zlib.error as error:  # type: ignore[misc]  # its stub names an instance
        raise StoreError(f"`{segment}` is damaged: {error}", hint="restore a backup") from error


def _line(member: WarcMember, name: str) -> bytes:
    """Write one line; empty for a record that is no response."""
    record, _, http = member.head.partition(_END_OF_HEAD)
    fields = header_fields(record)
    url = parse(fields.get("warc-target-uri", ""))
    if fields.get("warc-type") != "response" or url is None:
        return b""
    status_line, _, rest = http.partition(_END_OF_HEAD)[0].partition(b"\r\n")
    said = {
        "url": url.href,
        "mime": header_fields(b"\r\n" + rest).get("content-type", "").partition(";")[0].strip(),
        "status": status_line.partition(b" ")[2][:3].decode("ascii", "replace"),
        "digest": fields.get("warc-payload-digest", ""),
        "length": str(member.length),
        "offset": str(member.offset),
        "filename": name,
    }
    timestamp = "".join(filter(str.isdigit, fields.get("warc-date", "")))[:14]
    told = orjson.dumps({name: value for name, value in said.items() if value})
    return f"{surt(url)} {timestamp} ".encode() + told + b"\n"
