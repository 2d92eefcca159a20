"""Each evil answer alone, given to the fetcher: it ends in its outcome, and in time."""

from __future__ import annotations

import time

import pytest

from geomi.fetch.response import respond
from geomi.model.page import Fetched
from geomi.model.verdict import Outcome
from tests.adapters.http.support import fetch
from tests.hostile.evils import EVILS, SLOW, Evil
from tests.support.server import Site

TIMEOUT_S = 1.0
MAX_LATE_S = 1.0
MAX_BYTES = 10 * 1024 * 1024
# Endings that are decided after the fetch, from what it brought.
LATER = {
    Outcome.EMPTY: {Outcome.EMPTY, Outcome.OK},
    Outcome.REDIRECT_EXCLUDED: {Outcome.REDIRECTED},
}
TYPES = ("text/html",)


def ask(evil: Evil) -> Fetched:
    """Fetch an evil, in time."""
    with Site({"/": evil.answer}) as site:
        started_s = time.monotonic()
        fetched = fetch(
            site.url(),
            types=TYPES,
            max_bytes=MAX_BYTES,
            read_timeout_s=TIMEOUT_S,
            total_timeout_s=TIMEOUT_S,
        )
        assert time.monotonic() - started_s < TIMEOUT_S + MAX_LATE_S
    return fetched


@pytest.mark.parametrize("name", [*EVILS, *SLOW])
def test_an_evil_answer_has_a_named_ending(name: str) -> None:
    evil = {**EVILS, **SLOW}[name]
    fetched = ask(evil)
    outcome = respond(fetched)
    assert outcome in LATER.get(evil.outcome, {evil.outcome})
    assert fetched.detail or fetched.failure is None
