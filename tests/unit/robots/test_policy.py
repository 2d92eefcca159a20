"""What a robots.txt, or the lack of one, means and for how long."""

from __future__ import annotations

from dataclasses import replace

import pytest

from geomi.model.config import OnUnreachable, RobotsRules
from geomi.model.robots import RobotsCopy, RobotsKey
from geomi.model.verdict import Outcome
from geomi.robots.policy import (
    CAUTIOUS_DELAY_S,
    MIN_TTL_S,
    PolicyKind,
    choose,
    decide,
    is_answer,
    is_fresh,
    max_age_s,
)

KEY = RobotsKey("https", "a.test:443", "geomi")
RULES = RobotsRules()
DAY_S, FAIL_S = 86_400.0, RULES.fail_ttl_s


def copy(status: int = 200, failure: Outcome | None = None, body: bytes = b"") -> RobotsCopy:
    return RobotsCopy(KEY, status, body, fetched_s=1000.0, failure=failure)


@pytest.mark.req("ROB-06", "ROB-12", "STO-06")
@pytest.mark.parametrize(
    ("status", "kind", "lasts_s"),
    [
        (200, PolicyKind.RULES, DAY_S),
        (204, PolicyKind.RULES, DAY_S),
        (301, PolicyKind.ALLOW_ALL, FAIL_S),
        (400, PolicyKind.ALLOW_ALL, FAIL_S),
        (401, PolicyKind.ALLOW_ALL, FAIL_S),
        (403, PolicyKind.ALLOW_ALL, FAIL_S),
        (404, PolicyKind.ALLOW_ALL, FAIL_S),
        (410, PolicyKind.ALLOW_ALL, FAIL_S),
        (429, PolicyKind.DISALLOW_ALL, FAIL_S),
        (499, PolicyKind.ALLOW_ALL, FAIL_S),
        (500, PolicyKind.DISALLOW_ALL, FAIL_S),
        (503, PolicyKind.DISALLOW_ALL, FAIL_S),
        (0, PolicyKind.DISALLOW_ALL, FAIL_S),
    ],
)
def test_status(status: int, kind: PolicyKind, lasts_s: float) -> None:
    policy = decide(copy(status), RULES, now_s=1000.0)
    assert (policy.kind, policy.expires_s) == (kind, 1000.0 + lasts_s)
    assert policy.is_temporary is (kind is PolicyKind.DISALLOW_ALL)
    assert str(status) in policy.reason or kind is PolicyKind.RULES


@pytest.mark.parametrize(
    ("failure", "kind"),
    [
        (Outcome.TIMEOUT, PolicyKind.DISALLOW_ALL),
        (Outcome.DNS_ERROR, PolicyKind.DISALLOW_ALL),
        (Outcome.CONNECT_ERROR, PolicyKind.DISALLOW_ALL),
        (Outcome.TLS_ERROR, PolicyKind.DISALLOW_ALL),
        (Outcome.ADDRESS_REFUSED, PolicyKind.DISALLOW_ALL),
        (Outcome.TOO_MANY_REDIRECTS, PolicyKind.ALLOW_ALL),
        (Outcome.REDIRECT_EXCLUDED, PolicyKind.ALLOW_ALL),
        (Outcome.TOO_LARGE, PolicyKind.DISALLOW_ALL),
    ],
)
def test_failure(failure: Outcome, kind: PolicyKind) -> None:
    policy = decide(copy(200, failure), RULES, now_s=1000.0)
    assert policy.kind is kind
    assert failure.value in policy.reason


def test_what_was_read_of_a_huge_file_is_obeyed_c11() -> None:
    huge = copy(200, Outcome.TOO_LARGE, b"User-agent: *\nDisallow: /")
    assert decide(huge, RULES, now_s=1000.0).kind is PolicyKind.RULES


@pytest.mark.req("ROB-13")
@pytest.mark.parametrize(
    ("rule", "kind", "extra_s"),
    [
        (OnUnreachable.DISALLOW, PolicyKind.DISALLOW_ALL, 0.0),
        (OnUnreachable.RECORD, PolicyKind.DISALLOW_ALL, 0.0),
        (OnUnreachable.ALLOW, PolicyKind.ALLOW_ALL, 0.0),
        (OnUnreachable.ALLOW_WITH_DELAY, PolicyKind.ALLOW_ALL, CAUTIOUS_DELAY_S),
    ],
)
def test_out_of_reach_is_the_jobs_choice(
    rule: OnUnreachable, kind: PolicyKind, extra_s: float
) -> None:
    policy = decide(copy(503), replace(RULES, on_unreachable=rule), now_s=1000.0)
    assert (policy.kind, policy.extra_delay_s) == (kind, extra_s)
    assert policy.is_temporary is (rule is not OnUnreachable.RECORD)
    assert CAUTIOUS_DELAY_S == 2.0


@pytest.mark.parametrize("is_allowed", [False, True])
def test_too_many_requests_is_the_jobs_choice_c02(is_allowed: bool) -> None:
    rules = replace(RULES, allow_on_429=is_allowed)
    kind = PolicyKind.ALLOW_ALL if is_allowed else PolicyKind.DISALLOW_ALL
    assert decide(copy(429), rules, now_s=1000.0).kind is kind
    assert is_answer(copy(429), rules) is is_allowed
    assert choose(RULED, copy(429), rules, now_s=2000.0).body == (b"" if is_allowed else RULED.body)


@pytest.mark.parametrize(
    ("status", "failure", "expected"),
    [(200, None, True), (404, None, True), (503, None, False), (0, Outcome.TIMEOUT, False)],
)
def test_what_is_an_answer(status: int, failure: Outcome | None, expected: bool) -> None:
    assert is_answer(copy(status, failure), RULES) is expected


def test_only_a_job_that_says_so_ignores_the_file() -> None:
    assert RULES.respect
    policy = decide(copy(503), replace(RULES, respect=False), now_s=1000.0)
    assert (policy.kind, policy.is_temporary) == (PolicyKind.ALLOW_ALL, False)


@pytest.mark.parametrize(
    ("age_s", "lasts_s"),
    [(None, DAY_S), (DAY_S * 9, DAY_S), (3600.0, 3600.0), (0.0, MIN_TTL_S)],
)
def test_max_age_shortens_and_never_lengthens(age_s: float | None, lasts_s: float) -> None:
    known = replace(copy(), max_age_s=age_s)
    assert is_fresh(known, RULES, now_s=1000.0 + lasts_s - 1)
    assert not is_fresh(known, RULES, now_s=1000.0 + lasts_s)


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("", None),
        ("public", None),
        ("max-age=60", 60.0),
        ('Max-Age="60", public', 60.0),
        ("public, max-age=60, no-cache", 0.0),
        ("no-store", 0.0),
        ("max-age=-1", None),
        ("max-age=soon", None),
        ("s-maxage=5", None),
        ("max-age=" + "9" * 500, 999_999_999_999.0),
    ],
)
def test_max_age_header(header: str, expected: float | None) -> None:
    assert max_age_s(header) == expected


RULED = copy(200, body=b"User-agent: *\nDisallow: /x")


@pytest.mark.parametrize("failed", [copy(503), copy(429), copy(0, Outcome.TIMEOUT)])
def test_rules_outlive_a_failed_refetch_c01(failed: RobotsCopy) -> None:
    later_s = 1000.0 + 2 * DAY_S
    kept = choose(RULED, replace(failed, fetched_s=later_s), RULES, now_s=later_s)
    assert kept.body == RULED.body
    policy = decide(kept, RULES, now_s=later_s)
    assert policy.kind is PolicyKind.RULES
    assert policy.expires_s == later_s + FAIL_S
    assert "older copy" in policy.reason


@pytest.mark.parametrize(
    ("previous", "latest"),
    [
        (None, copy(503)),
        (RULED, copy(404)),
        (RULED, copy(200, body=b"new")),
        (copy(404), copy(503)),
        (copy(503), copy(503)),
    ],
)
def test_otherwise_the_latest_copy_counts(previous: RobotsCopy | None, latest: RobotsCopy) -> None:
    assert choose(previous, latest, RULES, now_s=2000.0) is latest


def test_every_outcome_has_a_meaning() -> None:
    for outcome in Outcome:
        decide(copy(0, outcome), RULES, now_s=0.0)
    detailed = replace(copy(0, Outcome.TIMEOUT), detail="no answer in 10 s")
    assert "no answer in 10 s" in decide(detailed, RULES, now_s=0.0).reason
