"""Decide what an answer means: its outcome, where it redirects to, whether its body is wanted.

Rules kept:
- The table of statuses is that of ERR-01 to ERR-11, G-01 and C-33. Only the answer itself is
  judged: `retry` decides whether it is tried again, and extraction decides what is kept.
- A redirect gives only a target (C-33): scope, robots and the egress gate decide whether geomi
  follows it.
- geomi reads a body only if the job accepts its media type (C-35).
- Whether a page needs a browser is decided even if there is no browser (C-34): geomi then uses the
  page as it came, and its record says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from geomi.model.config import Render
from geomi.model.page import Fetched
from geomi.model.verdict import Outcome
from geomi.url.parse import parse

REDIRECTS = frozenset({301, 302, 303, 307, 308})
NOT_MODIFIED = 304
_EXACT = {
    204: Outcome.EMPTY,
    205: Outcome.EMPTY,
    206: Outcome.PROTOCOL_ERROR,  # a part was never asked for
    NOT_MODIFIED: Outcome.NOT_MODIFIED,
    401: Outcome.REFUSED,
    403: Outcome.REFUSED,
    404: Outcome.GONE,
    407: Outcome.REFUSED,
    408: Outcome.TIMEOUT,
    410: Outcome.GONE,
    425: Outcome.TIMEOUT,
    429: Outcome.RATE_LIMITED,
    451: Outcome.REFUSED,
}
# A status of 1xx or 3xx that is left over, or none at all, breaks the protocol.
_BY_CLASS = {2: Outcome.OK, 4: Outcome.CLIENT_ERROR, 5: Outcome.SERVER_ERROR}
# Nothing came back: a name, an address or a port that is not there, or that geomi may not ask.
UNREACHED = frozenset(
    {
        Outcome.ADDRESS_REFUSED, Outcome.DNS_ERROR, Outcome.CONNECT_ERROR, Outcome.TLS_ERROR,
        Outcome.TIMEOUT,
    }
)  # fmt: skip
MAX_LOCATION_CHARS = 8192
MAX_TYPE_CHARS = 200
MAX_LENGTH_DIGITS = 18  # what a database can count


def respond(fetched: Fetched, *, is_conditional: bool = True) -> Outcome:
    """Return the outcome of one request; "not modified" answers only one that was conditional."""
    if fetched.failure is not None:
        return fetched.failure
    status = fetched.status
    if status in REDIRECTS:
        # Without a target it is an answer that says nothing.
        return Outcome.REDIRECTED if fetched.header("location") else Outcome.PROTOCOL_ERROR
    if status == NOT_MODIFIED and not is_conditional:
        return Outcome.PROTOCOL_ERROR
    exact = _EXACT.get(status)
    if exact is not None:
        return exact
    return _BY_CLASS.get(status // 100, Outcome.PROTOCOL_ERROR)


def reason_for_tenants(outcome: Outcome, detail: str) -> str:
    """Say why a request failed to somebody who may not learn what is inside our network.

    A tenant who can tell a refused address from an unknown name, or a closed port from a silent
    one, can draw a map of it.
    """
    if outcome in UNREACHED:
        return "the host cannot be reached, or does not answer in time"
    return f"{outcome}: {detail}"


def redirect_target(fetched: Fetched) -> str | None:
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


def accepts(content_type: str, types: Sequence[str]) -> bool:
    """Return whether a media type is wanted; an empty list wants all, and a missing type passes."""
    media = media_type(content_type)
    if not types or not media:
        return True
    family = media.partition("/")[0] + "/*"
    return any(wanted.lower() in (media, family, "*/*") for wanted in types)


def media_type(content_type: str) -> str:
    """Return the type of a Content-Type header in lower case, without its parameters."""
    return content_type.partition(";")[0].strip().lower()


def told_type(fetched: Fetched) -> str | None:
    """Return what an answer says it is; None where it says nothing, or nothing that is a type."""
    said = media_type(fetched.header("content-type"))
    return said if said and len(said) <= MAX_TYPE_CHARS and said.isprintable() else None


def told_length(fetched: Fetched) -> int | None:
    """Return how long a body is; of one that was not read, what the head of its answer says."""
    if fetched.body:
        return len(fetched.body)
    said = fetched.header("content-length").strip()
    is_length = said.isascii() and said.isdigit() and len(said) <= MAX_LENGTH_DIGITS
    return int(said) if is_length else None


@dataclass(frozen=True, slots=True)
class RenderDecision:
    """The decision about one page.

    Args:
        reason: why a browser would show more, or is asked for all the same; empty if neither.
    """

    is_wanted: bool
    reason: str


def decide_rendering(render: Render, unfinished: str) -> RenderDecision:
    """Decide about a page; `unfinished` says why its static form looks so, if it does."""
    if render is Render.ALWAYS:
        return RenderDecision(True, unfinished or "the job renders every page")
    return RenderDecision(bool(unfinished) and render is Render.AUTO, unfinished)
