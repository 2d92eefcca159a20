"""Describe a robots.txt for `geomi robots`: notes for its owner, and its rules as data.

Rules kept:
- A line that was read leniently is listed with its reading; other readers may be stricter (RFC 9309
  §2.2 leaves it to each).
- A line without effect is listed, too: it is not understood, belongs to no group, or has a value
  that can match nothing.
- The catalogue's rule object (ROB-32) has one item an agent, in the order in which agents appear;
  the groups that name an agent are merged (ROB-15).
- Sitemaps belong to no agent (RFC 9309 §2.2.4), so they stand with `*`, which is added for them.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import islice
from typing import NotRequired, TypedDict

from geomi.model.config import RobotsRules
from geomi.model.robots import RobotsCopy
from geomi.robots.parse import (
    ALLOW,
    ANYONE,
    BLANK,
    DELAY,
    DELAYS,
    DISALLOW,
    LICENSE,
    NO_PATTERN,
    NOTHING,
    SIGNAL,
    SITEMAP,
    USAGE,
    USER_AGENT,
    Record,
    RobotsFile,
    RobotsGroup,
    cut,
    records,
)
from geomi.robots.signals import read_usage

MAX_NOTES = 100  # of one file; whoever published a page of prose needs no more
MAX_QUOTED_CHARS = 80
_SPELLING = {
    USER_AGENT: "User-agent",
    ALLOW: "Allow",
    DISALLOW: "Disallow",
    DELAYS: "Crawl-delay",
    SITEMAP: "Sitemap",
    SIGNAL: "Content-Signal",
    USAGE: "Content-Usage",
    LICENSE: "License",
}
_IN_GROUP = frozenset({ALLOW, DISALLOW, DELAYS})
# Thousands of agents can head one group of thousands of rules, which would be written out for each;
# real files stay below 5,000 together.
MAX_RULES = 50_000


def notes(body: bytes, dialect: RobotsRules) -> tuple[str, ...]:
    """Return the lines that were read leniently, and those without effect."""
    kept = cut(body, dialect.max_bytes)
    told = list(islice(_notes(kept, dialect), MAX_NOTES + 1))
    if len(told) > MAX_NOTES:
        told[MAX_NOTES:] = ["there are more lines like these"]
    if len(kept) < len(body):
        told.append(f"only the first {dialect.max_bytes:,} bytes are read")
    return tuple(told)


def _notes(kept: bytes, dialect: RobotsRules) -> Iterator[str]:
    has_agents = False
    for record in records(kept):
        if record.key == BLANK:
            has_agents = has_agents and not dialect.blank_line_ends_group
        elif record.key == NOTHING:
            yield f"line {record.line} is not understood: {_quoted(record.name)}"
        else:
            yield from _lenient(record)
            has_agents = has_agents or (record.key == USER_AGENT and record.value != "")
            if record.key in _IN_GROUP and not has_agents:
                yield f"line {record.line} stands below no User-agent line and means nothing"
            elif meaningless := _meaningless(record):
                yield f"line {record.line}: {meaningless}"


def _lenient(record: Record) -> Iterator[str]:
    meant = _SPELLING[record.key]
    if not record.has_colon:
        written = _quoted(f"{record.name} {record.value}")
        yield f"line {record.line}: {written} is read as {_quoted(f'{meant}: {record.value}')}"
    elif record.name.lower() != meant.lower():
        yield f"line {record.line}: {_quoted(record.name)} is read as {meant}"


def _meaningless(record: Record) -> str:
    """Say why a value is passed over or can match nothing; an empty rule is a way to allow all."""
    value = record.value
    if record.key == USER_AGENT:
        return "" if value else "it names no agent"
    if record.key == DELAYS:
        return "" if DELAY.fullmatch(value) else f"{_quoted(value)} is no number of seconds"
    if record.key in (SIGNAL, USAGE):
        return "" if read_usage(value)[1] else f"{_quoted(value)} says nothing about any use"
    if record.key in (SITEMAP, LICENSE) or not value:
        return ""
    if NO_PATTERN.search(value):
        return f"{_quoted(value)} is no path, so the rule is not read"
    if not value.startswith(("/", "*")):
        return f"{_quoted(value)} begins with neither / nor *, so it matches nothing"
    return ""


def _quoted(text: str) -> str:
    return f'"{text[:MAX_QUOTED_CHARS]}"'


class AgentRules(TypedDict):
    """The rules of one agent."""

    userAgent: str
    allow: list[str]
    disallow: list[str]
    crawlDelay: NotRequired[float]
    sitemap: NotRequired[list[str]]


class RuleObject(TypedDict):
    """A host's rules, when they were fetched, and for how many seconds they hold."""

    domain: str
    fetchedAt: str
    ttl: int
    rules: list[AgentRules]


def rule_object(copy: RobotsCopy, file: RobotsFile, *, expires_s: float) -> RuleObject:
    """Turn a copy and what was parsed of it into the stored rule object."""
    agents: dict[str, AgentRules] = {}
    count = 0
    for group in file.groups:
        for agent in dict.fromkeys(group.agents):
            count += len(group.rules)
            if count <= MAX_RULES:
                _add(agents.setdefault(agent, _empty(agent)), group)
    for delay in file.delays:
        if (told := agents.get(delay.agent)) is not None:
            told["crawlDelay"] = max(told.get("crawlDelay", 0.0), delay.seconds)
    if file.sitemaps:
        agents.setdefault(ANYONE, _empty(ANYONE))["sitemap"] = list(file.sitemaps)
    return {
        "domain": copy.key.host.rpartition(":")[0],
        "fetchedAt": datetime.fromtimestamp(copy.fetched_s, UTC).isoformat(timespec="seconds"),
        "ttl": round(expires_s - copy.fetched_s),
        "rules": list(agents.values()),
    }


def _empty(agent: str) -> AgentRules:
    return {"userAgent": agent, "allow": [], "disallow": []}


def _add(told: AgentRules, group: RobotsGroup) -> None:
    told["allow"] += [rule.pattern for rule in group.rules if rule.allows]
    told["disallow"] += [rule.pattern for rule in group.rules if not rule.allows]
