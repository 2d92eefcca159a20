"""Verdicts and outcomes: every refusal and every failure is one of these values, with its rule."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answer of a chain of checks about one URL.

    Args:
        rule: stable name of the deciding rule, as `geomi why` prints it: `scope.host`, `exclude`,
            `robots`, `trap.repeating_path`, `depth`.
        detail: the value that decided: the pattern, the line of robots.txt, the limit.
        hint: the smallest change of the configuration that would turn the answer round.
    """

    admitted: bool
    rule: str
    detail: str = ""
    hint: str = ""


class Outcome(StrEnum):
    """How one visit of one URL ended."""

    OK = "ok"
    NOT_MODIFIED = "not_modified"
    DUPLICATE = "duplicate"
    REDIRECTED = "redirected"
    # the site or our own rules said no
    ROBOTS = "robots"
    ADDRESS_REFUSED = "address_refused"
    REFUSED = "refused"  # 401, 403, 407, 451
    GONE = "gone"  # 404, 410
    CLIENT_ERROR = "client_error"  # any other 4xx
    # the site could not answer now
    RATE_LIMITED = "rate_limited"  # 429
    SERVER_ERROR = "server_error"  # 5xx
    DNS_ERROR = "dns_error"
    CONNECT_ERROR = "connect_error"
    TLS_ERROR = "tls_error"
    TIMEOUT = "timeout"
    PROTOCOL_ERROR = "protocol_error"
    # an answer came that we do not keep
    TOO_LARGE = "too_large"
    BAD_ENCODING = "bad_encoding"
    WRONG_TYPE = "wrong_type"
    TOO_COMPLEX = "too_complex"
    POISONED = "poisoned"  # whatever reads it dies of it
    TOO_MANY_REDIRECTS = "too_many_redirects"
    REDIRECT_EXCLUDED = "redirect_excluded"
    EMPTY = "empty"
    SOFT_404 = "soft_404"  # status 200, and the page says that there is nothing
    NOINDEX = "noindex"  # the page itself asks not to be kept (ROB-33); its links count
    PRIVATE = "private"  # it holds personal data, and the job keeps no such page (SAF-01)
    # it was let in, and is not asked for when its turn comes
    EXCLUDED = "excluded"  # by a rule that is stricter now
    TRAPPED = "trapped"  # its pattern brings nothing new any more
    LEFT_ALONE = "left_alone"  # its site refused it before, or a person blocked it (ERR-04)


class State(StrEnum):
    """Where an entry of the frontier stands (FRN-13); `frontier/state.py` holds the transitions.

    `queued` and `processing` of the catalogue are views of a live lease and are never stored.
    """

    PENDING = "pending"
    COMPLETED = "completed"
    FAILED = "failed"
    SKIPPED = "skipped"
    BLOCKED = "blocked"


class WaitingLimit(StrEnum):
    """The limits of what may wait, as rules that keep links out: all of them are settings."""

    OF_ALL = "geomi.max_queued"
    OF_JOB = "limits.max_queued"
    OF_HOST = "limits.max_queued_per_host"
    OF_PATTERN = "limits.max_queued_per_pattern"


@dataclass(frozen=True, slots=True)
class Exclusion:
    """A link that a rule kept out of the frontier; counted per rule, some kept as examples."""

    rule: str
    url: str
    detail: str = ""
