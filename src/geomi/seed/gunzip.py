"""Undo the gzip of a file that comes in pieces, inside limits; nothing raises.

Unlike a content encoding this gzip is the file itself (`sitemap.xml.gz`), so the client leaves it
alone. Members may follow one another; what follows the last one and is no gzip is ignored.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator

MAX_RATIO = 100  # G-10: XML of URLs shrinks ten to thirty times
ALWAYS_INFLATED_BYTES = 1024 * 1024
MAX_MEMBERS = 16


class Gunzip:
    """Inflates one file; `problem` tells why no more comes out of it."""

    MAGIC = b"\x1f\x8b"

    def __init__(self) -> None:
        self.problem = ""
        self._inflater = _new()
        self._members = 1
        self._is_over = False
        self._in_bytes = self._out_bytes = 0

    def pieces(self, packed: bytes, size: int) -> Iterator[bytes]:
        """Yield what a piece of the file holds, in pieces of at most `size` bytes."""
        self._in_bytes += len(packed)
        while packed and not self.problem and not self._is_over:
            try:
                plain = self._inflater.decompress(packed, size)
            except zlib.error as error:
                self.problem = f"its gzip is broken: {error}"
                return
            packed = self._inflater.unconsumed_tail
            self._out_bytes += len(plain)
            if self._out_bytes > max(ALWAYS_INFLATED_BYTES, MAX_RATIO * self._in_bytes):
                self.problem = f"its gzip holds more than {MAX_RATIO} times its size"
            yield plain
            if self._inflater.eof:
                packed = self._next_member()

    def close(self) -> str:
        """Return what was wrong with the file, also that it has no end."""
        is_whole = self._is_over or self._inflater.eof
        return self.problem or ("" if is_whole else "its gzip ends too soon")

    def _next_member(self) -> bytes:
        rest = self._inflater.unused_data
        if not rest.startswith(self.MAGIC):
            self._is_over = bool(rest)
            return b""
        self._members += 1
        if self._members > MAX_MEMBERS:
            self.problem = f"its gzip has more than {MAX_MEMBERS} members"
            return b""
        self._inflater = _new()
        return rest


def _new() -> zlib._Decompress:
    return zlib.decompressobj(zlib.MAX_WBITS | 16)
