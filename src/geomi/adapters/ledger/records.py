"""Small rows that SQL stores keep alike: requests, robots.txt files, decisions, providers."""

from __future__ import annotations

from geomi.adapters.ledger.codec import decode
from geomi.adapters.ledger.rows import Row, legible
from geomi.model.request_log import RequestPurpose, SentRequest
from geomi.model.robots import RobotsCopy, RobotsKey
from geomi.model.site import Provider, Refusal, Review, SiteRule
from geomi.model.verdict import Outcome


def asked_of(row: Row) -> SentRequest:
    """Read a request, its names spelt out."""
    host, job, owner, ip, purpose, url, started_s, ended_s, status, outcome, *right = row
    for time_s in (started_s, ended_s, right[0], right[1] or 0.0):
        if not isinstance(time_s, float):
            raise ValueError(f"{time_s!r} is no time, and a log with such a row proves nothing")
    return SentRequest(
        host, job, owner, ip or "", RequestPurpose(purpose), url, started_s, ended_s, status,
        Outcome(outcome), *right,
    )  # fmt: skip


def asked_columns(one: SentRequest) -> Row:
    """Write a request, without the names that stand for numbers."""
    return (
        one.purpose.value, one.url, one.started_s, one.ended_s, one.status, one.outcome.value,
        one.floor_s, one.robots_at_s, one.robots_line,
    )  # fmt: skip


def robots_of(key: RobotsKey, row: Row) -> RobotsCopy:
    """Read a robots.txt."""
    status, body, fetched_s, failure, detail, max_age_s, redirects = row
    with legible("robots", key.host):
        return RobotsCopy(
            key=key,
            status=status,
            body=body,
            fetched_s=fetched_s,
            failure=Outcome(failure) if failure else None,
            detail=detail,
            max_age_s=max_age_s,
            redirects=redirects,
        )


def robots_columns(copy: RobotsCopy) -> Row:
    """Write a robots.txt."""
    key = copy.key
    return (
        key.scheme, key.host, key.token, copy.status, copy.body, copy.fetched_s,
        copy.failure.value if copy.failure else None, copy.detail, copy.max_age_s,
        copy.redirects,
    )  # fmt: skip


def refusal_columns(tenant: str, refusal: Refusal) -> Row:
    """Write a refusal."""
    return (
        tenant, refusal.url_hash, refusal.url, refusal.status, refusal.reason,
        refusal.since_s, refusal.until_s,
    )  # fmt: skip


def rule_of(row: Row) -> SiteRule:
    """Read what people decided about a host."""
    host, pattern, review, note, since_s = row
    with legible("site_rules", host):
        return SiteRule(host, pattern, Review(review), note, since_s)


def rule_columns(tenant: str, rule: SiteRule) -> Row:
    """Write what people decided about a host."""
    return (tenant, rule.host, rule.pattern, rule.review.value, rule.note, rule.since_s)


def provider_of(row: Row) -> Provider:
    """Read a provider."""
    key, provider = row
    with legible("providers", key):
        return decode(Provider, provider)
