"""WARC 1.1 records (ISO 28500:2017), each its own gzip member, so that any one can be read alone.

The rules of this file:
- a `response` holds the body as it was decoded: `Transfer-Encoding` is dropped, `Content-Length` is
  the stored length, and `Content-Encoding` is kept as `X-Geomi-Content-Encoding`, because a reader
  that believed it would decode a second time;
- a `conversion` holds the page's JSON line and refers to the response it was made of;
- no value can start a header of its own: whatever is not printable ASCII is percent-encoded;
- digests are SHA-1 in base32, the convention that CDX indexes and `warcio check` read. It finds
  damage and repeats and is no defence; the page's own record carries SHA-256.
"""

from __future__ import annotations

import hashlib
import re
from base64 import b32encode
from collections.abc import Iterator
from datetime import UTC, datetime
from urllib.parse import quote
from uuid import UUID

from isal import igzip_lib, isal_zlib

from geomi.errors import StoreError
from geomi.model.page import Fetched

# ISA-L's level 1, measured on 30 real pages: a 50 KB response and its 40 KB record take 0.14 ms and
# shrink to 26 % and 18 %. Level 3 gains one point of size for twice the time, zlib's level 6 three
# points for six times.
_LEVEL = 1
_GZIP_BITS = 31  # zlib's `wbits` for its wrapping

_Fields = tuple[tuple[str, str], ...]
_PRINTABLE = "".join(map(chr, range(0x21, 0x7F)))
_PLAIN = re.compile(r"[\x21-\x7e]*")
_ADDRESS = re.compile(r"[0-9A-Fa-f:.]+")
_HEADERS_OF_THE_WIRE = frozenset({b"transfer-encoding", b"content-length"})


def warcinfo(record_id: UUID, *, written_at_s: float, name: str, software: str, job: str) -> bytes:
    """Build the record that opens a segment and says who wrote it."""
    lines = {
        "software": " ".join(software.split()),
        "format": "WARC File Format 1.1",
        "conformsTo": "https://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/",
        "isPartOf": job,
    }
    block = "".join(f"{key}: {value}\r\n" for key, value in lines.items()).encode()
    fields = (("WARC-Filename", name), ("Content-Type", "application/warc-fields"))
    return _member("warcinfo", record_id, written_at_s, fields, block)


def response(record_id: UUID, fetched: Fetched, *, fetched_at_s: float) -> bytes:
    """Build the record of what a server answered."""
    address = (("WARC-IP-Address", fetched.ip),) if _ADDRESS.fullmatch(fetched.ip) else ()
    fields = (
        ("WARC-Target-URI", fetched.url),
        *address,
        ("WARC-Payload-Digest", _digest(fetched.body)),
        ("Content-Type", "application/http;msgtype=response"),
    )
    return _member("response", record_id, fetched_at_s, fields, *_http_block(fetched))


def conversion(
    record_id: UUID, url: str, line: bytes, *, fetched_at_s: float, refers_to: UUID | None
) -> bytes:
    """Build the record of what was made of a page; `refers_to` is its response, if one is kept."""
    source = () if refers_to is None else (("WARC-Refers-To", f"<{refers_to.urn}>"),)
    fields = (
        ("WARC-Target-URI", url),
        *source,
        ("WARC-Block-Digest", _digest(line)),
        ("Content-Type", "application/json"),
    )
    return _member("conversion", record_id, fetched_at_s, fields, line)


def block(member: bytes) -> bytes:
    """Return what one gzip member's record holds, without the record's own headers."""
    try:
        record = igzip_lib.decompress(member, flag=igzip_lib.DECOMP_GZIP)
    except igzip_lib.IsalError as error:  # type: ignore[misc]  # its stub names an instance
        raise StoreError(f"an archived record is damaged: {error}") from error
    head, _, rest = record.partition(b"\r\n\r\n")
    length = head.rpartition(b"\r\nContent-Length: ")[2]  # `_member` writes it last
    if not (head.startswith(b"WARC/1.1\r\n") and length.isdigit()):
        raise StoreError("an archived record is damaged: it does not open as WARC 1.1")
    return rest[: int(length)]


def _member(kind: str, record_id: UUID, date_s: float, fields: _Fields, *content: bytes) -> bytes:
    """Build one record; a part of its content may be a large body, and is never copied."""
    date = datetime.fromtimestamp(date_s, UTC).isoformat(timespec="milliseconds")
    every = (
        ("WARC-Type", kind),
        ("WARC-Record-ID", f"<{record_id.urn}>"),
        ("WARC-Date", date.replace("+00:00", "Z")),
        *fields,
        ("Content-Length", str(sum(map(len, content)))),
    )
    head = "".join(f"{name}: {_one_line(value)}\r\n" for name, value in every)
    gzip = isal_zlib.compressobj(_LEVEL, wbits=_GZIP_BITS)
    parts = (f"WARC/1.1\r\n{head}\r\n".encode("ascii"), *content, b"\r\n\r\n")
    return b"".join((*map(gzip.compress, parts), gzip.flush()))


def _one_line(value: str) -> str:
    if _PLAIN.fullmatch(value):
        return value
    return quote(value, safe=_PRINTABLE, errors="replace")


def _digest(data: bytes) -> str:
    return "sha1:" + b32encode(hashlib.sha1(data, usedforsecurity=False).digest()).decode()


def _http_block(fetched: Fetched) -> tuple[bytes, bytes]:
    lines = _stored_headers(fetched.head or _rebuilt_head(fetched))
    head = b"\r\n".join((*lines, b"Content-Length: %d" % len(fetched.body), b"", b""))
    return head, fetched.body


def _stored_headers(head: bytes) -> Iterator[bytes]:
    """Yield status line and headers as they came, except those that spoke of the wire."""
    kept = True
    for line in filter(bytes.strip, head.splitlines()):
        prefix = b""
        if line[:1] not in b" \t":  # else a folded line: it shares the fate of the line before
            name = line.partition(b":")[0].strip().lower()
            kept = name not in _HEADERS_OF_THE_WIRE
            prefix = b"X-Geomi-" if name == b"content-encoding" else b""
        if kept:
            yield prefix + line


def _rebuilt_head(fetched: Fetched) -> bytes:
    """Write a head for an answer that did not come as HTTP/1.1 bytes: a browser's, a test's."""
    headers = (f"{name}: {' '.join(value.split())}" for name, value in fetched.headers)
    return "\r\n".join((f"HTTP/1.1 {fetched.status}", *headers)).encode("utf-8", "replace")
