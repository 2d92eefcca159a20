"""The table of an entry's states."""

from __future__ import annotations

import pytest

from geomi.frontier.state import (
    NEW,
    SETTLED,
    TRANSITIONS,
    StateChange,
    change_state,
    check_visit,
    settle_state,
)
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
    state = settle_state(NEW, outcome, will_retry=False)
    assert (state is State.COMPLETED) is (outcome in COMPLETED)
    assert (state is State.SKIPPED) is (outcome in SKIPPED)
    assert (state is State.BLOCKED) is (outcome in BLOCKED)
    assert (state is State.FAILED) is (outcome not in COMPLETED | SKIPPED | BLOCKED)
    check_visit(State.PENDING, outcome, state)


@pytest.mark.parametrize("outcome", sorted(set(Outcome) - COMPLETED))
def test_what_is_retried_stays_pending(outcome: Outcome) -> None:
    assert settle_state(NEW, outcome, will_retry=True) is State.PENDING


@pytest.mark.parametrize("outcome", sorted(COMPLETED))
def test_what_is_complete_cannot_be_retried(outcome: Outcome) -> None:
    with pytest.raises(ValueError, match=outcome.value):
        settle_state(NEW, outcome, will_retry=True)


@pytest.mark.parametrize("before", State)
@pytest.mark.parametrize("after", State)
def test_only_a_pending_entry_moves_and_a_page_that_came_nearer(
    before: State, after: State
) -> None:
    may_go = any(before in row.before and after in row.after for row in TRANSITIONS.values())
    assert may_go is (
        before is State.PENDING or (before, after) == (State.COMPLETED, State.PENDING)
    )


def test_the_table_has_each_change_and_each_state() -> None:
    assert set(TRANSITIONS) == set(StateChange)
    assert set(SETTLED) == set(Outcome)
    assert set(TRANSITIONS[StateChange.SETTLE].after) == set(SETTLED.values())
    assert {NEW}.union(*(row.after for row in TRANSITIONS.values())) == set(State)


def test_one_statement_can_write_settled_visits_and_retries() -> None:
    """The `close` of a store guards both with the states from which an entry is settled."""
    assert TRANSITIONS[StateChange.SETTLE].before == TRANSITIONS[StateChange.RETRY].before


@pytest.mark.parametrize("before", sorted(set(State) - {State.PENDING}))
@pytest.mark.parametrize("will_retry", [False, True])
def test_an_entry_that_has_ended_is_not_settled_again(before: State, will_retry: bool) -> None:
    with pytest.raises(ValueError, match=f"cannot go from `{before}`"):
        settle_state(before, Outcome.TIMEOUT, will_retry=will_retry)


@pytest.mark.parametrize("before", State)
@pytest.mark.parametrize("change", sorted(set(StateChange) - {StateChange.SETTLE}))
def test_a_change_starts_from_its_own_states_alone(change: StateChange, before: State) -> None:
    if before in TRANSITIONS[change].before:
        assert change_state(change, before) is State.PENDING
    else:
        with pytest.raises(
            ValueError, match=f"cannot go from `{before}` to `pending` by `{change}`"
        ):
            change_state(change, before)


@pytest.mark.parametrize("before", State)
@pytest.mark.parametrize("outcome", Outcome)
@pytest.mark.parametrize("after", State)
def test_a_visit_leads_where_its_outcome_does(
    before: State, outcome: Outcome, after: State
) -> None:
    if before is State.PENDING and after in {State.PENDING, SETTLED[outcome]}:
        check_visit(before, outcome, after)
    else:
        with pytest.raises(ValueError, match="cannot"):
            check_visit(before, outcome, after)
