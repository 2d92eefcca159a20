"""How long a name may be that stands in a key."""

from __future__ import annotations

from geomi.errors import StoreError

# An index of PostgreSQL takes 2,704 bytes of a row, and a line of the costs is found by four names.
MAX_NAME_BYTES = 500

_SHOWN_CHARS = 40


def refuse_long(what: str, name: str) -> None:
    """Raise where a name is too long for a key."""
    size_bytes = len(name.encode("utf-8", "surrogatepass"))
    if size_bytes > MAX_NAME_BYTES:
        raise StoreError(
            f"the {what} `{name[:_SHOWN_CHARS]}…` has {size_bytes} bytes",
            hint=f"a name may have {MAX_NAME_BYTES}",
        )
