"""The table of an entry's states."""

from __future__ import annotations

import pytest

from geomi.frontier.state import TRANSITIONS, check, settle_state
from geomi.model.verdict import Outcome, State

COMPLETED = {Outcome.OK, Outcome.NOT_MODIFIED, Outcome.DUPLICATE}
SKIPPED = {
    Outcome.REDIRECTED,
    Outcome.WRONG_TYPE,
    Outcome.EMPTY,
    Outcome.TOO_LARGE,
    Outcome.REDIRECT_EXCLUDED,
    Outcome.TOO_COMPLEX,
    Outcome.NOINDEX,
    Outcome.PRIVATE,
    Outcome.SOFT_404,
    Outcome.EXCLUDED,
    Outcome.TRAPPED,
}
BLOCKED = {Outcome.ROBOTS, Outcome.ADDRESS_REFUSED, Outcome.LEFT_ALONE}


@pytest.mark.req("FRN-13", "ERR-12")
@pytest.mark.parametrize("outcome", Outcome)
def test_every_outcome_has_one_place_to_go(outcome: Outcome) -> None:
    state = settle_state(outcome, will_retry=False)
    assert (state is State.COMPLETED) is (outcome in COMPLETED)
    assert (state is State.SKIPPED) is (outcome in SKIPPED)
    assert (state is State.BLOCKED) is (outcome in BLOCKED)
    assert (state is State.FAILED) is (outcome not in COMPLETED | SKIPPED | BLOCKED)
    check(State.PENDING, state)


@pytest.mark.parametrize("outcome", sorted(set(Outcome) - COMPLETED))
def test_what_is_retried_stays_pending(outcome: Outcome) -> None:
    assert settle_state(outcome, will_retry=True) is State.PENDING


@pytest.mark.parametrize("outcome", sorted(COMPLETED))
def test_what_is_complete_cannot_be_retried(outcome: Outcome) -> None:
    with pytest.raises(ValueError, match=outcome.value):
        settle_state(outcome, will_retry=True)


@pytest.mark.parametrize("before", State)
@pytest.mark.parametrize("after", State)
def test_only_a_pending_entry_moves_and_a_page_that_came_nearer(
    before: State, after: State
) -> None:
    assert set(TRANSITIONS) == set(State)
    if before is State.PENDING or (before, after) == (State.COMPLETED, State.PENDING):
        check(before, after)
    else:
        with pytest.raises(ValueError, match="cannot go"):
            check(before, after)
