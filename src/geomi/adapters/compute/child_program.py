"""The child's program: `python -m geomi.adapters.compute.child_program`.

Its parent is at descriptor 0. It answers one request at a time until its parent closes the
connection. It catches nothing: an error ends the process, and the parent takes that for the
answer.
"""

from __future__ import annotations

import ctypes
import io
import resource
import signal
import socket
import sys
from pathlib import Path

from geomi.adapters.compute.message import LENGTH, READY, frame, pack_article, read_request
from geomi.extract.page import extract

# What one page may take beyond what the process needs to stand ready. A 10 MB page of dense markup
# was measured at 305 MiB.
EXTRA_MEMORY_BYTES = 512 * 1024 * 1024

_PR_SET_PDEATHSIG = 1


def main() -> None:
    """Answer until the parent hangs up."""
    _die_with_parent()
    _limit_memory()
    with socket.socket(fileno=0) as parent, parent.makefile("rwb") as stream:
        _send(stream, frame(READY))
        while head := _receive(stream):
            question = read_request(head)
            article = extract(
                _receive(stream),
                question.url,
                question.content_type,
                question.rules,
                max_links=question.max_links,
            )
            _send(stream, pack_article(article))


def _die_with_parent() -> None:
    """Ask the kernel to end us with our parent, even in the middle of native code.

    Elsewhere than on Linux the closed connection ends us, once the page at hand is done.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _limit_memory() -> None:
    if sys.platform == "linux":
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        limit = pages * resource.getpagesize() + EXTRA_MEMORY_BYTES
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def _send(stream: io.BufferedRWPair, data: bytes) -> None:
    stream.write(data)
    stream.flush()


def _receive(stream: io.BufferedRWPair) -> bytes:
    """Read one frame; empty when the parent has hung up."""
    length = stream.read(LENGTH.size)
    return stream.read(LENGTH.unpack(length)[0]) if length else b""


if __name__ == "__main__":
    main()
