"""Make ULIDs: names of 26 characters that sort by the millisecond they were made in.

48 bits of time, then 80 random bits, in Crockford's base 32. Within one millisecond the order is
random: whoever needs a strict order must keep a sequence.
"""

from __future__ import annotations

import random

LENGTH = 26
_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_MAX_MS = (1 << 48) - 1


def new_ulid(now_s: float, rng: random.Random) -> str:
    """Make one name from the time of day and a source of randomness."""
    time_ms = min(max(int(now_s * 1000), 0), _MAX_MS)
    value = time_ms << 80 | rng.getrandbits(80)
    return "".join(_ALPHABET[value >> shift & 31] for shift in range(5 * (LENGTH - 1), -1, -5))
