"""Traps that one URL shows, and the pages that only look like one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geomi.admit.trap import (
    BUDGETS,
    MAX_PARAMETERS,
    MAX_PATH_SEGMENTS,
    STILL_GROWING,
    detect,
    judge_length,
    judge_tally,
)
from geomi.model.entry import Tally
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
    [
        "/",
        "/docs/api/v1/users",
        "/en/docs/en/intro",
        "/api/reference/api/reference",
        "/a/b/a/c/a/d",
        "/guide/1/2/1/2",
        "/docs/session",
        "/docs/sessions/sid",
        "/?sid=0a1b2c3d4e5f",
        "/x;jsessionid=0A",
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


def test_a_refusal_can_be_overruled() -> None:
    """The hint is the command that overrules the detector on this site (TRP-07)."""
    url = parse("https://a.test/x/x/x")
    assert url is not None
    verdict = detect(url, now_year=YEAR)
    assert verdict is not None
    assert verdict.hint == "geomi traps allow a.test trap.repeating_path"


def refusal(
    pattern: str, visited: int, stale_links: int, stale_text: int, *, depth: int = 0
) -> str:
    """Return the rule that ends a pattern, for a URL that was found inside of it."""
    tally = Tally(visited, stale_links, stale_text)
    verdict = judge_tally(pattern, tally, host="a.test", depth=depth, is_inside=True)
    return verdict.rule if verdict else ""


@pytest.mark.parametrize(
    "kind", [kind for kind, budget in BUDGETS.items() if budget.cap != budget.visits]
)
@pytest.mark.req("TRP-02", "TRP-04", "TRP-05")
def test_a_pattern_ends_when_its_budget_and_its_news_are_over(kind: str) -> None:
    """All three thresholds have to be reached; one less of any goes on."""
    budget = BUDGETS[kind]
    pattern, visits, stale = f"{kind}:/x", budget.visits, budget.stale
    assert refusal(pattern, visits, stale, stale) == f"trap.{kind}"
    assert refusal(pattern, visits - 1, stale, stale) == ""
    assert refusal(pattern, visits, stale, stale - 1) == ""
    assert (refusal(pattern, visits, stale - 1, stale) == "") is budget.stale_links


@pytest.mark.parametrize("kind", BUDGETS)
@pytest.mark.req("TRP-02")
def test_what_no_longer_grows_has_an_end(kind: str) -> None:
    """All that is left of it was linked from elsewhere, whatever its pages say."""
    many = 10_000
    for stale_growth, is_caught in ((STILL_GROWING - 1, True), (STILL_GROWING, False)):
        tally = Tally(many, many, many, b"", stale_growth)
        verdict = judge_tally(f"{kind}:/x?*", tally, host="a.test", depth=many, is_inside=True)
        assert (verdict is not None) is is_caught


@pytest.mark.parametrize("kind", [kind for kind, budget in BUDGETS.items() if budget.cap])
def test_a_space_that_never_repeats_ends_too(kind: str) -> None:
    """Deep inside the space, where nothing leads out of it any more."""
    budget = BUDGETS[kind]
    assert budget.cap is not None
    pattern, cap, deep = f"{kind}:/x?*", budget.cap, budget.cap_depth
    assert refusal(pattern, cap, budget.stale, 0, depth=deep) == f"trap.{kind}"
    assert refusal(pattern, cap - 1, budget.stale, 0, depth=deep) == ""
    assert refusal(pattern, cap, budget.stale - 1, 0, depth=deep) == ""
    assert refusal(pattern, cap, budget.stale, 0, depth=deep - 1) == ""
    tally = Tally(cap, budget.stale, 0)
    assert judge_tally(pattern, tally, host="a.test", depth=deep, is_inside=False) is None


def test_one_parameter_may_name_a_whole_site() -> None:
    """Only parameters that are put together freely end while they still bring news."""
    told = Tally(10_000, 10_000, 0)
    for pattern, rule in (("parameters:/x?page", ""), ("parameters:/x?*", "trap.parameters")):
        verdict = judge_tally(pattern, told, host="a.test", depth=99, is_inside=True)
        assert (verdict.rule if verdict else "") == rule


def test_budgets_keep_the_promise() -> None:
    """No counted space takes 200 fetches, with the ten that a worker may hold; numbers may."""
    held = 10
    for kind, budget in BUDGETS.items():
        if kind != "numbers":
            assert max(budget.visits, budget.cap or 0) + held <= 200
            assert budget.stale + held <= 200


def test_a_tally_is_told() -> None:
    """The verdict names the detector, the template, the numbers and the way round it."""
    verdict = judge_tally("calendar:/events/{date}", Tally(53, 51, 50), host="a.test")
    assert verdict is not None
    assert verdict.detail == (
        "53 of /events/{date} were visited and the last 50 brought nothing new"
    )
    assert verdict.hint == "geomi traps allow a.test 'calendar:/events/{date}'"
    assert judge_tally("unheard:/of", Tally(10**6, 10**6, 10**6), host="a.test") is None


@given(st.text(alphabet="ab/?&=;()S1920-.", max_size=60))
def test_never_raises(tail: str) -> None:
    """Any URL gets an answer, and a refusal says why and what to do."""
    url = parse("https://a.test/" + tail)
    assert url is not None
    verdict = detect(url, now_year=YEAR)
    assert verdict is None or (not verdict.admitted and verdict.detail and verdict.hint)
