"""WARC 1.1 records (ISO 28500:2017), each in its own gzip member, so that each can be read alone.

Rules kept:
- A `response` holds the decoded body: `Transfer-Encoding` is dropped, `Content-Length` is the
  stored length. `Content-Encoding` is kept as `X-Geomi-Content-Encoding`, because a reader would
  decode a second time.
- A `request` holds what was sent for the response, and follows it directly. Values of headers
  that may be secrets were taken out before.
- A `conversion` holds the page's JSON line and refers to the response it was made of. Its URI is
  one of its own (`urn:geomi:record:` and the page's URL): a replay that makes its own index would
  show the JSON line in place of the page, because both have the same time.
- No value can start a header of its own: whatever is not printable ASCII is percent-encoded.
- Digests are SHA-1 in base32, as CDX indexes and `warcio check` read them. They find damage and
  repeats and are no defence; the page's own record carries SHA-256.
- An erased record is overwritten by blank members of the same length, so that all others stay where
  they are. A blank member is a `metadata` record without content; zeros in its gzip header's extra
  field (RFC 1952 §2.3.1.1) fill the length, and every reader passes over them. With a response
  goes the request that follows it, which names the URL.
"""

from __future__ import annotations

import hashlib
import os
import re
import struct
import zlib
from base64 import b32encode
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO
from urllib.parse import quote
from uuid import UUID, uuid4

from isal import igzip_lib, isal_zlib

from geomi.adapters.machine.disk import refusal
from geomi.errors import BytesMissing, StoreError
from geomi.model.page import Fetched, Ref

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
MAX_FIELD_BYTES = 0xFFFF  # RFC 1952: of all fields together, the name and length of ours among them
FIELD_NAME = b"GM"
_EXTRA = 4  # the flag that says there are fields
RECORD_URI = "urn:geomi:record:"
CHUNK_BYTES = 64 * 1024
# The gate lets 64 KiB of headers in; the record's own take less than a URL's longest form.
MAX_HEAD_BYTES = 256 * 1024
_END_OF_HEAD = b"\r\n\r\n"


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


def request(
    record_id: UUID, fetched: Fetched, *, fetched_at_s: float, concurrent_to: UUID
) -> bytes:
    """Build the record of what was sent for a response."""
    fields = (
        ("WARC-Target-URI", fetched.url),
        ("WARC-Concurrent-To", f"<{concurrent_to.urn}>"),
        ("Content-Type", "application/http;msgtype=request"),
    )
    return _member("request", record_id, fetched_at_s, fields, fetched.sent)


def conversion(
    record_id: UUID, url: str, line: bytes, *, fetched_at_s: float, refers_to: UUID | None
) -> bytes:
    """Build the record made from a page; `refers_to` is its response, if one is stored."""
    source = () if refers_to is None else (("WARC-Refers-To", f"<{refers_to.urn}>"),)
    fields = (
        ("WARC-Target-URI", RECORD_URI + url),
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
    head, _, rest = record.partition(_END_OF_HEAD)
    length = head.rpartition(b"\r\nContent-Length: ")[2]  # `_member` writes it last
    if not (head.startswith(b"WARC/1.1\r\n") and length.isdigit()):
        raise StoreError("an archived record is damaged: it does not open as WARC 1.1")
    return rest[: int(length)]


@dataclass(frozen=True, slots=True)
class WarcMember:
    """One record of a segment: where it lies, and how it begins."""

    offset: int
    length: int
    head: bytes


def members(file: BinaryIO, end: int, *, start: int = 0) -> Iterator[WarcMember]:
    """Yield the records between two places of a segment; a large one is passed over in pieces."""
    file.seek(start)
    offset = start
    waiting = b""
    while offset < end:
        gzip = isal_zlib.decompressobj(wbits=_GZIP_BITS)
        head, read = bytearray(), 0
        while not gzip.eof:
            chunk = waiting or file.read(CHUNK_BYTES)
            if not chunk:
                raise StoreError(f"`{file.name}` ends inside the record at {offset}")
            waiting = b""
            read += len(chunk)
            part = gzip.decompress(chunk)
            head += part[: MAX_HEAD_BYTES - len(head)]
        waiting = gzip.unused_data
        yield WarcMember(offset, read - len(waiting), bytes(head))
        offset += read - len(waiting)


def header_fields(block: bytes) -> dict[str, str]:
    """Read the headers of a block behind its first line; the first of a name counts."""
    found: dict[str, str] = {}
    for line in block.split(b"\r\n")[1:]:
        name, _, value = line.partition(b":")
        found.setdefault(name.decode("latin-1").lower(), value.decode("latin-1").strip())
    return found


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


def blank_file(path: Path, places: Sequence[Ref], *, erased_at_s: float) -> None:
    """Write over records of a segment, or of a copy of one, until the disk itself has it."""
    try:
        with path.open("r+b") as file:
            for place in places:
                request_length = _request_length(file, place.offset + place.length)
                file.seek(place.offset)
                for length in (place.length, request_length):  # apart, so that both can be repeated
                    file.write(blank_members(length, erased_at_s=erased_at_s))
            file.flush()
            os.fsync(file.fileno())
    except FileNotFoundError as error:
        raise BytesMissing(f"`{path}` is missing", hint="restore it from a backup") from error
    except OSError as error:
        raise refusal(error, path) from error


def _request_length(file: BinaryIO, start: int) -> int:
    """Return how long the request is that begins there; 0 for anything else, or the end."""
    try:
        found = next(members(file, start + 1, start=start))
    except (StoreError, isal_zlib.error):  # type: ignore[misc]  # its stub names an instance
        return 0  # nothing more that was committed
    fields = header_fields(found.head.partition(_END_OF_HEAD)[0])
    return found.length if fields.get("warc-type") == "request" else 0


def blank_members(length: int, *, erased_at_s: float) -> bytes:
    """Build members of a length that hold nothing."""
    parts, left = list[bytes](), length
    while left:
        empty = _blank_member(0, erased_at_s)
        most = len(empty) + MAX_FIELD_BYTES - len(FIELD_NAME) - 2
        if left < len(empty):
            raise StoreError(f"a record of {length} bytes is too short for erasing it in place")
        # What is left for the last one has to hold a whole member, too.
        size = left if left <= most else min(most, left - 2 * len(empty))
        parts.append(_blank_member(size - len(empty), erased_at_s))
        left -= len(parts[-1])
    return b"".join(parts)


def _blank_member(padding: int, at_s: float) -> bytes:
    date = datetime.fromtimestamp(at_s, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    record = (
        f"WARC/1.1\r\nWARC-Type: metadata\r\nWARC-Record-ID: <{uuid4().urn}>\r\n"
        f"WARC-Date: {date}\r\nContent-Length: 0\r\n\r\n\r\n\r\n"
    ).encode("ascii")
    field = FIELD_NAME + struct.pack("<H", padding) + bytes(padding)
    head = struct.pack("<BBBBIBBH", 0x1F, 0x8B, 8, _EXTRA, 0, 0, 255, len(field))
    # Stored as it is, so that a member's length does not depend on its id.
    stored = struct.pack("<BHH", 1, len(record), 0xFFFF ^ len(record)) + record
    return head + field + stored + struct.pack("<II", zlib.crc32(record), len(record))
