"""A robots.txt as the catalogue's rule object (ROB-32), for whoever wants its rules as data.

Rules kept:
- One item an agent, the groups that name it merged (ROB-15), in the order in which agents appear.
- Sitemaps belong to no agent (RFC 9309 §2.2.4), so they stand with `*`, which is added for them.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import NotRequired, TypedDict

from geomi.model.robots import RobotsCopy
from geomi.robots.parse import ANYONE, Group, RobotsFile

# Thousands of agents can head one group of thousands of rules, which would be written out for each;
# real files stay below 5,000 together.
MAX_RULES = 50_000


class AgentRules(TypedDict):
    """What one agent is told."""

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


def _add(told: AgentRules, group: Group) -> None:
    told["allow"] += [rule.pattern for rule in group.rules if rule.allows]
    told["disallow"] += [rule.pattern for rule in group.rules if not rule.allows]
