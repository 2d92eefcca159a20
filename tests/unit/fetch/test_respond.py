"""The table of statuses."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geomi.fetch.response import (
    MAX_LENGTH_DIGITS,
    MAX_TYPE_CHARS,
    respond,
    told_length,
    told_type,
)
from geomi.model.page import Fetched
from geomi.model.verdict import Outcome

URL = "https://a.test/"


@pytest.mark.req("ERR-01")
@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (200, Outcome.OK),
        (201, Outcome.OK),
        (203, Outcome.OK),
        (204, Outcome.EMPTY),
        (205, Outcome.EMPTY),
        (206, Outcome.PROTOCOL_ERROR),
        (300, Outcome.PROTOCOL_ERROR),
        (304, Outcome.NOT_MODIFIED),
        (400, Outcome.CLIENT_ERROR),
        (401, Outcome.REFUSED),
        (403, Outcome.REFUSED),
        (404, Outcome.GONE),
        (405, Outcome.CLIENT_ERROR),
        (407, Outcome.REFUSED),
        (408, Outcome.TIMEOUT),
        (410, Outcome.GONE),
        (418, Outcome.CLIENT_ERROR),
        (425, Outcome.TIMEOUT),
        (429, Outcome.RATE_LIMITED),
        (451, Outcome.REFUSED),
        (500, Outcome.SERVER_ERROR),
        (503, Outcome.SERVER_ERROR),
        (599, Outcome.SERVER_ERROR),
        (0, Outcome.PROTOCOL_ERROR),
        (100, Outcome.PROTOCOL_ERROR),
        (600, Outcome.PROTOCOL_ERROR),
    ],
)
def test_status(status: int, expected: Outcome) -> None:
    assert respond(Fetched(URL, status)) is expected


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_needs_a_location_c33(status: int) -> None:
    assert respond(Fetched(URL, status, (("location", "/x"),))) is Outcome.REDIRECTED
    assert respond(Fetched(URL, status)) is Outcome.PROTOCOL_ERROR


def test_not_modified_answers_nobody_who_did_not_ask() -> None:
    assert respond(Fetched(URL, 304), is_conditional=False) is Outcome.PROTOCOL_ERROR
    assert respond(Fetched(URL, 200), is_conditional=False) is Outcome.OK


@given(st.integers(-1, 1000), st.none() | st.sampled_from(Outcome))
def test_a_failure_is_its_own_outcome(status: int, failure: Outcome | None) -> None:
    outcome = respond(Fetched(URL, status, failure=failure))
    assert failure is None or outcome is failure


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("Text/HTML; charset=utf-8", "text/html"),
        ("", None),
        ("; charset=utf-8", None),
        ("text/h\x00tml", None),
        ("x" * MAX_TYPE_CHARS, "x" * MAX_TYPE_CHARS),
        ("x" * (MAX_TYPE_CHARS + 1), None),
    ],
)
def test_what_an_answer_says_it_is(said: str, told: str | None) -> None:
    assert told_type(Fetched(URL, 200, (("content-type", said),))) == told


@pytest.mark.parametrize(
    ("body", "said", "told"),
    [
        (b"four", "9", 4),
        (b"", "9", 9),
        (b"", "", None),
        (b"", "-9", None),
        (b"", "\u0663", None),
        (b"", "9" * MAX_LENGTH_DIGITS, int("9" * MAX_LENGTH_DIGITS)),
        (b"", "9" * (MAX_LENGTH_DIGITS + 1), None),
    ],
)
def test_how_long_an_answer_is(body: bytes, said: str, told: int | None) -> None:
    assert told_length(Fetched(URL, 200, (("content-length", said),), body)) == told
