"""Name content by its SHA-256: in full on the wire and for people, 16 bytes in keys."""

from __future__ import annotations

import hashlib


def sha256_hex(data: bytes | str) -> str:
    """Return the full digest in hex; text is hashed as UTF-8."""
    return hashlib.sha256(_octets(data)).hexdigest()


def first16(data: bytes | str) -> bytes:
    """Return the first 16 bytes of the digest, the form used in keys."""
    return hashlib.sha256(_octets(data)).digest()[:16]


def _octets(data: bytes | str) -> bytes:
    # A lone surrogate can come out of a broken page; hashing it must not fail.
    return data if isinstance(data, bytes) else data.encode("utf-8", "surrogatepass")
