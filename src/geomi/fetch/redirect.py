"""Where a redirect leads (C-33); whether it may be followed is for scope, robots and the gate."""

from __future__ import annotations

from geomi.fetch.respond import REDIRECTS
from geomi.model.page import Fetched
from geomi.url.parse import parse

MAX_LOCATION_CHARS = 8192


def target(fetched: Fetched) -> str | None:
    """Return the absolute http(s) URL an answer redirects to; None where there is none."""
    if fetched.failure is not None or fetched.status not in REDIRECTS:
        return None
    location = fetched.header("location")
    if not location or len(location) > MAX_LOCATION_CHARS:
        return None
    url = parse(_as_utf8(location), fetched.url)
    return None if url is None else url.href


def _as_utf8(location: str) -> str:
    """Headers are read octet by octet; browsers take a raw path in one for UTF-8."""
    if location.isascii():
        return location
    try:
        return location.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return location
