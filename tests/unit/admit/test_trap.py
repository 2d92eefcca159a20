"""Traps that one URL shows, and the pages that only look like one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geomi.admit.trap import MAX_PARAMETERS, MAX_PATH_SEGMENTS, detect, judge_length
from geomi.url.parse import parse

YEAR = 2026


def rule(tail: str) -> str:
    """Return the name of the trap at `https://a.test` + tail; empty if there is none."""
    url = parse("https://a.test" + tail)
    assert url is not None
    verdict = detect(url, now_year=YEAR)
    return verdict.rule if verdict else ""


@pytest.mark.parametrize(
    ("tail", "expected"),
    [
        ("/foo/bar/foo/bar/foo/bar", "trap.repeating_path"),
        ("/x/foo/bar/foo/bar/foo/bar/y.html", "trap.repeating_path"),
        ("/a/a/a", "trap.repeating_path"),
        ("/a//a///a/", "trap.repeating_path"),
        ("/foo/bar" * 40, "trap.repeating_path"),
        ("/p?" + "&".join(f"f{n}=1" for n in range(MAX_PARAMETERS + 1)), "trap.many_parameters"),
        ("/" + "/".join(f"s{n}" for n in range(MAX_PATH_SEGMENTS + 1)), "trap.deep_path"),
        ("/calendar/2099/05", "trap.calendar"),
        ("/events/1066/10/14", "trap.calendar"),
        ("/2029/01/01", "trap.calendar"),
        ("/2099-01-01", "trap.calendar"),
        ("/list?date=2099-1", "trap.calendar"),
    ],
)
@pytest.mark.req("TRP-05", "TRP-06")
def test_traps(tail: str, expected: str) -> None:
    """Loops, explosions and endless calendars are named."""
    assert rule(tail) == expected


@pytest.mark.parametrize(
    "tail",
    ["/?sid=xxx", "/?session=xxx", "/?a=1&PHPSESSID=0f", "/x;jsessionid=0A?b=1",
     "/x;JSESSIONID=1/y", "/(S(abc123))/x", "/?SessionID=9"],
)  # fmt: skip
@pytest.mark.req("TRP-03")
def test_sessions(tail: str) -> None:
    """A session in a URL makes one page endless."""
    assert rule(tail) == "trap.session"


@pytest.mark.parametrize(
    "tail",
    [
        "/",
        "/docs/api/v1/users",
        "/en/docs/en/intro",
        "/api/reference/api/reference",
        "/a/b/a/c/a/d",
        "/guide/1/2/1/2",
        "/docs/session",
        "/docs/sessions/sid",
        "/?sid=",
        "/?session_type=web&residence=1",
        "/matrix;v=1;lang=en/x",
        "/wiki/Foo_(bar)/(Sub)",
        "/rfc/2119/6",
        "/rfc/7231/6/3",
        "/issues/9999/12",
        "/2024/01/01/post.html",
        "/1995/06/archive",
        "/calendar/2026/12",
        "/events/2028/05/01",
        "/library/calendar.html",
        "/v/2099",
        "/en-US/docs/Web/JavaScript/Reference/Global_Objects/Array/map",
        "/javase/8/docs/api/java/util/concurrent/atomic/package-summary.html",
        "/p?" + "&".join(f"f{n}=1" for n in range(MAX_PARAMETERS)),
        "/" + "/".join(f"s{n}" for n in range(MAX_PATH_SEGMENTS)),
    ],
)
def test_decoys(tail: str) -> None:
    """Ordinary pages pass."""
    assert rule(tail) == ""


@pytest.mark.req("URL-19", "TRP-06")
def test_length() -> None:
    """A URL at the limit passes, one character more does not."""
    url = parse("https://a.test/" + "x" * 100)
    assert url is not None
    length = len(url.href)
    assert judge_length(url, length) is None
    verdict = judge_length(url, length - 1)
    assert verdict is not None
    assert (verdict.rule, verdict.hint) == ("url_length", f"--set limits.max_url_chars={length}")


@given(st.text(alphabet="ab/?&=;()S1920-.", max_size=60))
def test_never_raises(tail: str) -> None:
    """Any URL gets an answer, and a refusal says why and what to do."""
    url = parse("https://a.test/" + tail)
    assert url is not None
    verdict = detect(url, now_year=YEAR)
    assert verdict is None or (not verdict.admitted and verdict.detail and verdict.hint)
