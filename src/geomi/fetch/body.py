"""The gate of a body: whether it is read at all, decided by the media type it comes with (C-35)."""

from __future__ import annotations

from collections.abc import Sequence


def accepts(content_type: str, types: Sequence[str]) -> bool:
    """Say whether a media type is wanted; an empty list wants all, and a missing type passes."""
    media = media_type(content_type)
    if not types or not media:
        return True
    family = media.partition("/")[0] + "/*"
    return any(wanted.lower() in (media, family, "*/*") for wanted in types)


def media_type(content_type: str) -> str:
    """Return the type of a Content-Type header in lower case, without its parameters."""
    return content_type.partition(";")[0].strip().lower()
