"""What an answer means: the table of statuses (ERR-01 to ERR-11, G-01, C-33).

Only the answer itself is judged. Whether it is tried again is `retry`'s, where a redirect leads is
`redirect`'s, and what is kept is decided after extraction.
"""

from __future__ import annotations

from geomi.model.page import Fetched
from geomi.model.verdict import Outcome

REDIRECTS = frozenset({301, 302, 303, 307, 308})
NOT_MODIFIED = 304


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
