"""A body's bytes as they come in, decoded with a cap on every step.

Rules: at most two content codings; the caps are looked at after every bounded piece, so a bomb of
any coding costs its cap and one piece, never its full size; output above `max_bytes`, or more than
a hundred times its input beyond the first MiB (G-10), ends the fetch. What lies between two codings
has the same caps: 66 bytes of brotli can hold 40 MiB of deflate blocks that are all empty. With
`truncate` the first `max_bytes` of the output are kept instead. A body that turns out to be large
is held until there is room for it; of a coded one only what came is kept meanwhile, because a
decoder's window may be larger than all that it has given out.
"""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO

from geomi.adapters.http.coding import CODINGS, Coding
from geomi.adapters.http.failure import FetchFailed
from geomi.model.page import Sink
from geomi.model.verdict import Outcome

# Two codings happen, where a proxy compresses what was compressed already; three never do.
MAX_CODINGS = 2
# G-10. Ordinary pages stay under 20; a page that repeats one line may pass 100, so the ratio is not
# looked at before this much output.
MAX_RATIO = 100
RATIO_FLOOR_BYTES = 1024 * 1024
# What chunk sizes, trailers and a coding's own framing may add to a body on its way to us.
MARGIN_BYTES = 64 * 1024

# `none` and `utf-8` are not codings, but servers send them with bodies that are not coded at all.
_PLAIN = frozenset({"", "identity", "none", "utf-8"})


class Body:
    """The decoded body of one response, growing inside its caps.

    Args:
        sink: takes the pieces in place of this body, which then stays empty and is never held.
        free_bytes: how large it grows before it is held until `proceed`; None: as large as it may.
    """

    __slots__ = (
        "_between_bytes", "_came", "_codings", "_content_encoding", "_free_bytes", "_max_bytes",
        "_out", "_sink", "_size_bytes", "_truncate", "_write", "coded_bytes", "is_cut", "is_held",
    )  # fmt: skip

    def __init__(
        self,
        content_encoding: str,
        max_bytes: int,
        *,
        truncate: bool = False,
        sink: Sink | None = None,
        free_bytes: int | None = None,
    ) -> None:
        self._content_encoding = content_encoding
        self._max_bytes = max_bytes
        self._truncate = truncate
        self._sink = sink
        self._free_bytes = max_bytes if sink or free_bytes is None else min(free_bytes, max_bytes)
        self._start()
        may_be_held = self._free_bytes < max_bytes
        self._came: list[bytes] | None = [] if self._codings and may_be_held else None
        self.coded_bytes = 0
        self.is_cut = False  # `max_bytes` are here and the rest is of no use
        self.is_held = False

    @property
    def is_coded(self) -> bool:
        """Whether the length on the wire differs from the length of the body."""
        return bool(self._codings)

    def feed(self, data: bytes) -> None:
        """Take the next bytes of the wire; raise `FetchFailed` once a cap is passed."""
        if self.is_cut:
            return
        self.coded_bytes += len(data)
        if not self._codings:
            self._keep(data)  # also of a body that is held: it is no more than the rest of a packet
            return
        if self._came is not None:
            self._came.append(data)
        if not self.is_held:
            self._decode(data)

    def proceed(self) -> None:
        """Continue a held body; raise `FetchFailed` like `feed`."""
        self._free_bytes, self.is_held = self._max_bytes, False
        came, self._came = self._came, None
        for data in came or ():
            if not self.is_cut:
                self._decode(data)

    def finish(self) -> bytes:
        """Return the whole body; raise `FetchFailed` when its coding ended too early."""
        if self.coded_bytes and not self.is_cut:
            for coding in self._codings:
                if not coding.is_complete:
                    raise FetchFailed(
                        Outcome.BAD_ENCODING, f"the {coding.name} body ended before its last block"
                    )
        return self._out.getvalue()

    def _start(self) -> None:
        self._codings = _codings(self._content_encoding) if self._content_encoding else ()
        self._out = BytesIO()  # gives its bytes away without a copy of them
        self._write = self._sink or self._out.write
        self._size_bytes = self._between_bytes = 0

    def _decode(self, data: bytes) -> None:
        for piece in self._decoded(data):
            if not self._keep(piece):
                return

    def _decoded(self, data: bytes) -> Iterator[bytes]:
        outer, *inner = self._codings
        for piece in outer.pieces(data):
            if not inner:
                yield piece
                continue
            self._between_bytes += len(piece)
            if self._between_bytes > self._max_bytes + MARGIN_BYTES:
                raise self._too_large()
            self._check_ratio(self._between_bytes)
            yield from inner[0].pieces(piece)

    def _keep(self, piece: bytes) -> bool:
        """Add one piece; False when the body wants no more, or no more for now."""
        room_bytes = self._max_bytes - self._size_bytes
        if len(piece) > room_bytes:
            if not self._truncate:
                raise self._too_large()
            piece = piece[:room_bytes]
            self.is_cut = True
        self._size_bytes += len(piece)
        if not self.is_cut:
            self._check_ratio(self._size_bytes)
        self._write(piece)
        if self._size_bytes > self._free_bytes and not self.is_cut:
            self._hold()
        return not (self.is_cut or self.is_held)

    def _hold(self) -> None:
        self.is_held = True
        if self._codings:
            self._start()

    def _check_ratio(self, size_bytes: int) -> None:
        if size_bytes > RATIO_FLOOR_BYTES and size_bytes > MAX_RATIO * self.coded_bytes:
            raise FetchFailed(
                Outcome.TOO_LARGE,
                f"{self.coded_bytes} bytes decode to more than {MAX_RATIO} times as much",
            )

    def _too_large(self) -> FetchFailed:
        return FetchFailed(Outcome.TOO_LARGE, f"the body is larger than {self._max_bytes} bytes")


def _codings(content_encoding: str) -> tuple[Coding, ...]:
    """Return what undoes a Content-Encoding, the coding applied last first (RFC 9110 §8.4)."""
    names = [name.strip().lower() for name in content_encoding.split(",")]
    names = [name for name in names if name not in _PLAIN]
    if len(names) > MAX_CODINGS:
        raise FetchFailed(
            Outcome.BAD_ENCODING, f"{len(names)} content codings; the limit is {MAX_CODINGS}"
        )
    for name in names:
        if name not in CODINGS:
            raise FetchFailed(
                Outcome.BAD_ENCODING, f"the content coding `{name[:40]}` is not known"
            )
    return tuple(CODINGS[name]() for name in reversed(names))
