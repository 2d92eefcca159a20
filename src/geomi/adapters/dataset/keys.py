"""Which keys a dataset takes, to be read and to be written."""

from __future__ import annotations

import re

from geomi.dataset.partition import PROD, RAW, REJECTS, SUCCESS, read_raw_key
from geomi.errors import SeedError, StoreError
from geomi.model.dataset.seed import ErrorType

MAX_KEY_BYTES = 1024  # what S3 allows
MAX_PART_BYTES = 255  # what file systems allow
MAX_SHOWN_CHARS = 200

_CONTROL = re.compile(r"[\x00-\x1f\x7f\\]")


def checked_key(key: str) -> str:
    """Return a key that names a file within a dataset; any other is refused."""
    if not _is_within(key):
        raise StoreError(f"`{ascii(key[:MAX_SHOWN_CHARS])[1:-1]}` is not a key of a dataset")
    return key


def checked_prefix(prefix: str) -> str:
    """Return a prefix that keys may begin with; any other is refused."""
    if prefix and not _is_within(prefix.removesuffix("/")):
        raise StoreError(f"`{ascii(prefix[:MAX_SHOWN_CHARS])[1:-1]}` is not a prefix of a dataset")
    return prefix


def writable_key(key: str) -> str:
    """Return a key that may be written to; raw data are not (SED-03)."""
    if checked_key(key).startswith((PROD, REJECTS)):
        return key
    if key.startswith(RAW) and key.endswith(SUCCESS) and read_raw_key(key.removesuffix(SUCCESS)):
        return key
    raise StoreError(
        f"`{key}` is read-only in a dataset",
        hint="the seed engine writes to prod/, rejects/ and the .success files of raw files",
    )


def too_large(key: str, size: int, max_bytes: int) -> SeedError:
    """Return the error for a file above a size limit."""
    return SeedError(
        f"`{key}` has {size} bytes; the limit is {max_bytes}", kind=ErrorType.VALIDATION
    )


def _is_within(key: str) -> bool:
    parts = key.split("/")
    try:
        sizes = [len(part.encode()) for part in parts]
    except UnicodeEncodeError:
        return False
    return (
        all(0 < size <= MAX_PART_BYTES for size in sizes)
        and sum(sizes) + len(parts) - 1 <= MAX_KEY_BYTES
        and not any(part in (".", "..") for part in parts)
        and not _CONTROL.search(key)
    )
