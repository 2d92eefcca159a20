"""The content codings: each turns bytes of the wire into pieces of bounded size.

Rules: a step never makes more than one piece before it gives way to its caller, who counts; broken
input is `BAD_ENCODING` and never another exception; `is_complete` tells whether the coding has seen
its own end, which a cut connection does not reach.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Protocol

import brotli  # type: ignore[import-untyped]  # ships no type information
from isal import isal_zlib

from geomi.adapters.http.failure import FetchFailed
from geomi.model.verdict import Outcome

if sys.version_info >= (3, 14):
    import compression.zstd as zstd
else:
    import backports.zstd as zstd

# Most pages are one piece. brotli grows its buffer before it looks at the limit and may return
# twice as much.
PIECE_BYTES = 256 * 1024
# Every gzip member and every zstd frame copies the input that follows it, so their number is
# bounded. bgzip makes members of 64 KiB: 256 of them are 16 MiB of text.
MAX_MEMBERS = 256
# RFC 9659: a zstd window over HTTP is at most 8 MiB.
MAX_ZSTD_WINDOW_LOG = 23

_GZIP_BITS, _ZLIB_BITS, _RAW_BITS = 31, 15, -15  # zlib's `wbits` for the three wrappings
_GZIP_MAGIC = b"\x1f\x8b"
_ZLIB_HEADER_BYTES = 2
_INFLATE_ERROR: type[Exception] = isal_zlib.error  # type: ignore[assignment]  # its stub says instance


class Coding(Protocol):
    """One coding being undone."""

    name: str

    @property
    def is_complete(self) -> bool:
        """Whether the coded stream has come to its end."""
        ...

    def pieces(self, data: bytes) -> Iterator[bytes]:
        """Decode more input, one bounded piece at a time."""
        ...


class Gzip:
    """RFC 1952: members one after another; what follows the last and is no member is ignored."""

    name = "gzip"

    def __init__(self) -> None:
        self._inflate = isal_zlib.decompressobj(wbits=_GZIP_BITS)
        self._members = 1
        self._magic = b""  # the first byte of a next member, while its second has not come
        self._is_over = False

    @property
    def is_complete(self) -> bool:
        """Whether the last member ended."""
        return self._is_over or self._inflate.eof

    def pieces(self, data: bytes) -> Iterator[bytes]:
        """Decode more input, across members."""
        while data and not self._is_over:
            if self._inflate.eof:
                data = self._next_member(data)
            else:
                yield from _inflated(self._inflate, data, self.name)
                data = self._inflate.unused_data if self._inflate.eof else b""

    def _next_member(self, data: bytes) -> bytes:
        data, self._magic = self._magic + data, b""
        if data == _GZIP_MAGIC[:1]:
            self._magic = data
            return b""
        if not data.startswith(_GZIP_MAGIC):
            self._is_over = True
            return b""
        self._members += 1
        _check_members(self._members, self.name)
        self._inflate = isal_zlib.decompressobj(wbits=_GZIP_BITS)
        return data


class Deflate:
    """`deflate` is zlib (RFC 1950) by the book and raw deflate (RFC 1951) from some servers."""

    name = "deflate"

    def __init__(self) -> None:
        self._inflate: isal_zlib.Decompress | None = None
        self._start = b""

    @property
    def is_complete(self) -> bool:
        """Whether the stream ended."""
        return self._inflate is not None and self._inflate.eof

    def pieces(self, data: bytes) -> Iterator[bytes]:
        """Decode more input, once enough of it is here to tell the two wrappings apart."""
        if self._inflate is None:
            data = self._start = self._start + data
            if len(data) < _ZLIB_HEADER_BYTES:
                return
            bits = _ZLIB_BITS if _has_zlib_header(data) else _RAW_BITS
            self._inflate = isal_zlib.decompressobj(wbits=bits)
        if not self._inflate.eof:
            yield from _inflated(self._inflate, data, self.name)


class Brotli:
    """RFC 7932; bytes after the stream are an error of the stream."""

    name = "br"

    def __init__(self) -> None:
        self._decoder = brotli.Decompressor()

    @property
    def is_complete(self) -> bool:
        """Whether the stream ended."""
        return bool(self._decoder.is_finished())

    def pieces(self, data: bytes) -> Iterator[bytes]:
        """Decode more input."""
        while True:
            try:
                piece: bytes = self._decoder.process(data, output_buffer_limit=PIECE_BYTES)
            except brotli.error as error:
                raise _undecodable(self.name, error) from error
            if piece:
                yield piece
            # `can_accept_more_data` is also true while output waits, so a full piece asks again.
            if self._decoder.can_accept_more_data() and len(piece) < PIECE_BYTES:
                return
            data = b""


class Zstd:
    """RFC 8878: frames one after another, with the window that RFC 9659 allows."""

    name = "zstd"

    def __init__(self) -> None:
        self._decoder = _zstd_decoder()
        self._frames = 0
        self._is_inside = False

    @property
    def is_complete(self) -> bool:
        """Whether no frame is open."""
        return not self._is_inside

    def pieces(self, data: bytes) -> Iterator[bytes]:
        """Decode more input, across frames."""
        while data or not self._decoder.needs_input:
            try:
                piece = self._decoder.decompress(data, PIECE_BYTES)
            except zstd.ZstdError as error:
                raise _undecodable(self.name, error) from error
            self._is_inside, data = not self._decoder.eof, b""
            if self._decoder.eof:
                self._frames += 1
                _check_members(self._frames, self.name)
                data = self._decoder.unused_data
                self._decoder = _zstd_decoder()
            if piece:
                yield piece


CODINGS: dict[str, Callable[[], Coding]] = {
    "gzip": Gzip,
    "x-gzip": Gzip,
    "deflate": Deflate,
    "br": Brotli,
    "zstd": Zstd,
}


def _check_members(members: int, name: str) -> None:
    if members > MAX_MEMBERS:
        raise FetchFailed(
            Outcome.BAD_ENCODING, f"the {name} body has more than {MAX_MEMBERS} members"
        )


def _inflated(inflate: isal_zlib.Decompress, data: bytes, name: str) -> Iterator[bytes]:
    while True:
        try:
            piece = inflate.decompress(data, PIECE_BYTES)
        except _INFLATE_ERROR as error:
            raise _undecodable(name, error) from error
        if piece:
            yield piece
        data = inflate.unconsumed_tail
        if inflate.eof or not (data or len(piece) == PIECE_BYTES):
            return


def _has_zlib_header(data: bytes) -> bool:
    """RFC 1950 §2.2: method 8, and the two bytes are a multiple of 31."""
    method, check = data[0] & 0x0F, int.from_bytes(data[:_ZLIB_HEADER_BYTES], "big") % 31
    return (method, check) == (8, 0)


def _zstd_decoder() -> zstd.ZstdDecompressor:
    return zstd.ZstdDecompressor(
        options={zstd.DecompressionParameter.window_log_max: MAX_ZSTD_WINDOW_LOG}
    )


def _undecodable(name: str, error: Exception) -> FetchFailed:
    return FetchFailed(Outcome.BAD_ENCODING, f"the {name} body does not decode: {error}")
