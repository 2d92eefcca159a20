"""The one table of an entry's states (FRN-13, C-75): every change of a state is a row of it.

An entry is one URL in one job. It begins as `pending`. For each change, `TRANSITIONS` says from
which states it starts and to which it leads. The engine asks this module where an entry goes, the
store checks each visit that it is given, and SQL gets its states from here when it is loaded
(`adapters/store/statements.py`).

Rules kept:
- Every outcome of a visit leads to one state; an entry that will be tried again stays `pending`.
- A settled entry stays settled: a job requests no URL twice (ERR-12). A recrawl is another job.
- A completed page that is found again nearer to the seeds waits once more, and keeps its outcome.
  The depth limit may have cut off its links, so geomi follows them again, from the archive.
- A page whose bytes the archive has lost is asked for again, as if it had never been visited.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from geomi.model.verdict import Outcome, State

NEW = State.PENDING  # how every entry begins


class StateChange(StrEnum):
    """Why the state of an entry changes."""

    SETTLE = "settle"  # a visit has ended it; `SETTLED` says where each outcome leads
    RETRY = "retry"  # a visit failed and is repeated, or the bytes of a kept page are not here yet
    REOPEN = "reopen"  # the links of a kept page are to be followed anew
    REQUEUE = "requeue"  # the archive has lost the bytes of a kept page, perhaps an opened one


@dataclass(frozen=True, slots=True)
class Transition:
    """From which states a change starts, and to which it leads."""

    before: tuple[State, ...]
    after: tuple[State, ...]


_ENDS = (State.COMPLETED, State.FAILED, State.SKIPPED, State.BLOCKED)

TRANSITIONS: dict[StateChange, Transition] = {
    # change                        from                               to
    StateChange.SETTLE: Transition((State.PENDING,), _ENDS),
    StateChange.RETRY: Transition((State.PENDING,), (State.PENDING,)),
    StateChange.REOPEN: Transition((State.COMPLETED,), (State.PENDING,)),
    StateChange.REQUEUE: Transition((State.COMPLETED, State.PENDING), (State.PENDING,)),
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
    Outcome.POISONED: State.FAILED,
    Outcome.TOO_MANY_REDIRECTS: State.FAILED,
}


def settle_state(before: State, outcome: Outcome, *, will_retry: bool) -> State:
    """Return where a visit takes an entry."""
    state = SETTLED[outcome]
    if not will_retry:
        _check(StateChange.SETTLE, before, state)
        return state
    if state is State.COMPLETED:
        raise ValueError(f"a visit that ended `{outcome}` is complete and cannot be retried")
    return change_state(StateChange.RETRY, before)


def change_state(change: StateChange, before: State) -> State:
    """Return where a change takes an entry that leads to one state alone."""
    (state,) = TRANSITIONS[change].after
    _check(change, before, state)
    return state


def check_visit(before: State, outcome: Outcome, after: State) -> None:
    """Raise ValueError where no visit of this outcome takes an entry from one state to another.

    A complete visit may leave its entry pending: its page was kept, and is opened again.
    """
    is_retry = after is State.PENDING
    _check(StateChange.RETRY if is_retry else StateChange.SETTLE, before, after)
    if not is_retry and after is not SETTLED[outcome]:
        raise ValueError(f"a visit that ended `{outcome}` cannot make an entry `{after}`")


def _check(change: StateChange, before: State, after: State) -> None:
    """Raise ValueError for a step the table does not have; only our own mistake can cause one."""
    step = TRANSITIONS[change]
    if before not in step.before or after not in step.after:
        raise ValueError(f"an entry cannot go from `{before}` to `{after}` by `{change}`")
