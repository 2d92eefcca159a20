"""The one table of an entry's states (FRN-13, C-75): whatever changes a state goes through it.

Rules kept:
- Every outcome of a visit has one place to go; one that will be tried again stays `pending`.
- A settled entry is settled: nothing is asked for twice in one job (ERR-12). A recrawl is another
  job.
- A completed page that is found again nearer to the seeds waits once more, with its outcome: the
  depth limit may have cut its links off, so they are followed anew, from the archive.
"""

from __future__ import annotations

from geomi.model.verdict import Outcome, State

TRANSITIONS: dict[State, frozenset[State]] = {
    State.PENDING: frozenset(State),
    State.COMPLETED: frozenset({State.PENDING}),
    State.FAILED: frozenset(),
    State.SKIPPED: frozenset(),
    State.BLOCKED: frozenset(),
}

SETTLED: dict[Outcome, State] = {
    Outcome.OK: State.COMPLETED,
    Outcome.NOT_MODIFIED: State.COMPLETED,
    Outcome.DUPLICATE: State.COMPLETED,
    Outcome.REDIRECTED: State.SKIPPED,
    Outcome.TOO_LARGE: State.SKIPPED,
    Outcome.WRONG_TYPE: State.SKIPPED,
    Outcome.TOO_COMPLEX: State.SKIPPED,
    Outcome.REDIRECT_EXCLUDED: State.SKIPPED,
    Outcome.EMPTY: State.SKIPPED,
    Outcome.SOFT_404: State.SKIPPED,
    Outcome.NOINDEX: State.SKIPPED,
    Outcome.PRIVATE: State.SKIPPED,
    Outcome.EXCLUDED: State.SKIPPED,
    Outcome.TRAPPED: State.SKIPPED,
    Outcome.ROBOTS: State.BLOCKED,
    Outcome.ADDRESS_REFUSED: State.BLOCKED,
    Outcome.LEFT_ALONE: State.BLOCKED,
    Outcome.REFUSED: State.FAILED,
    Outcome.GONE: State.FAILED,
    Outcome.CLIENT_ERROR: State.FAILED,
    Outcome.RATE_LIMITED: State.FAILED,
    Outcome.SERVER_ERROR: State.FAILED,
    Outcome.DNS_ERROR: State.FAILED,
    Outcome.CONNECT_ERROR: State.FAILED,
    Outcome.TLS_ERROR: State.FAILED,
    Outcome.TIMEOUT: State.FAILED,
    Outcome.PROTOCOL_ERROR: State.FAILED,
    Outcome.BAD_ENCODING: State.FAILED,
    Outcome.TOO_MANY_REDIRECTS: State.FAILED,
}


def settle_state(outcome: Outcome, *, will_retry: bool) -> State:
    """Return where an entry goes after a visit."""
    state = SETTLED[outcome]
    if not will_retry:
        return state
    if state is State.COMPLETED:
        raise ValueError(f"a visit that ended `{outcome}` is complete and cannot be retried")
    return State.PENDING


def check(before: State, after: State) -> None:
    """Raise ValueError for a step the table does not have; only our own mistake can cause one."""
    if after not in TRANSITIONS[before]:
        raise ValueError(f"an entry cannot go from `{before}` to `{after}`")
