"""When a sitemap says that a page changed last: its text as a time.

sitemaps.org asks for W3C dates (`2024-05-06`, `2024-05-06T07:08:09+09:00`), feeds for RFC 822 ones
(`Mon, 06 May 2024 07:08:09 GMT`). A date without a zone is taken as UTC. Text that is neither, and
a time that has not come yet, tell nothing.
"""

from __future__ import annotations

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

MAX_CHARS = 64


def lastmod_s(text: str, *, wall_s: float) -> float | None:
    """Return the time a text means, in seconds of the wall clock; None where it means none."""
    if not text or len(text) > MAX_CHARS:
        return None
    for parse in (_w3c, parsedate_to_datetime):
        try:
            at = parse(text)
            changed_s = at.replace(tzinfo=at.tzinfo or UTC).timestamp()
        except (ValueError, OverflowError):
            continue
        return changed_s if 0 < changed_s <= wall_s else None
    return None


def _w3c(text: str) -> datetime:
    """Read a W3C date; `2024` and `2024-05` are its first day."""
    return datetime.fromisoformat(text + _FIRST_DAYS.get(len(text), ""))


_FIRST_DAYS = {len("2024"): "-01-01", len("2024-05"): "-01"}
