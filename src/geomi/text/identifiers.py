"""Make identifiers: digests that name content, and ULIDs that sort by time.

Rules kept:
- Content is named by its SHA-256, in hex.
- A ULID has 26 characters of Crockford's base 32: 48 bits of milliseconds, then 80 random bits.
  Within one millisecond the order is random; a strict order needs a sequence.
- The time and the source of randomness are arguments.
"""

from __future__ import annotations

import hashlib
import random

ULID_CHARS = 26
ULID_TIME_CHARS = 10  # the first of them are its time
_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_MAX_MS = (1 << 48) - 1


def sha256_hex(data: bytes | str) -> str:
    """Return the full digest in hex; text is hashed as UTF-8."""
    # A lone surrogate can come out of a broken page; hashing it must not fail.
    octets = data if isinstance(data, bytes) else data.encode("utf-8", "surrogatepass")
    return hashlib.sha256(octets).hexdigest()


def new_ulid(now_s: float, rng: random.Random) -> str:
    """Make one name from the time of day and a source of randomness."""
    time_ms = min(max(int(now_s * 1000), 0), _MAX_MS)
    value = time_ms << 80 | rng.getrandbits(80)
    return "".join(_ALPHABET[value >> shift & 31] for shift in range(5 * (ULID_CHARS - 1), -1, -5))
