"""Memory that large bodies leave behind: it goes back to the system as soon as nobody holds them.

glibc asks the system for a large block of its own, but when the first one is freed it takes all
blocks of that size for ordinary and keeps them in its heap from then on, where small things settle
between them. A crawl of hostile pages of 4 MiB grew by 93 MiB; with a threshold that stays where it
is, by 60.
"""

from __future__ import annotations

import ctypes
import sys

LARGE_BLOCK_BYTES = 1024 * 1024

_M_MMAP_THRESHOLD = -3  # of <malloc.h>


def give_back_large_blocks() -> None:
    """Keep the size of a large block where it is; other systems than glibc's need nothing."""
    if sys.platform == "linux":
        mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
        if mallopt is not None:
            mallopt(_M_MMAP_THRESHOLD, LARGE_BLOCK_BYTES)
