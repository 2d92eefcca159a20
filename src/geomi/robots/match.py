"""Which line of a robots.txt decides a URL (RFC 9309 §2.2).

Rules kept:
- All groups of the own token count together; only when there is none do those of `*` (ROB-14,
  ROB-15). A group that is there but empty allows everything (C-09).
- The longest matching pattern wins, Allow at equal length, no match allows (ROB-23).
- `/robots.txt` itself is always allowed (RFC 9309 §2.2.2).
- The target is path and query (C-06), brought to compare form on both sides (C-07).

A token's rules are compiled once a file, longest first, so the first match is the answer.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from geomi.robots.parse import ANYONE, RobotsFile, Rule
from geomi.robots.pattern import Pattern, compare_form, compile_pattern

MAX_TOKENS = 16  # compiled per file; one process speaks under one or two names


@dataclass(frozen=True, slots=True)
class Judgement:
    """The answer for one URL; `line` is None when no rule matched.

    Args:
        pattern: the winning pattern as the site wrote it.
        agent: whose group it stands in: the own token, or `*`; empty when the file has neither.
    """

    allowed: bool
    line: int | None = None
    pattern: str = ""
    agent: str = ""


def judge(file: RobotsFile, token: str, target: str) -> Judgement:
    """Say whether `token` may fetch a path and query, and by which line."""
    chosen = _chosen(file, token)
    path = compare_form(target)
    if path.partition("?")[0] == "/robots.txt":
        return Judgement(True, agent=chosen.agent)
    for pattern, rule in chosen.rules:
        # Most rules fail on their first characters; asking here saves them the call.
        if path.startswith(pattern.head) and pattern.matches(path):
            return Judgement(rule.allows, rule.line, rule.pattern, chosen.agent)
    return Judgement(True, agent=chosen.agent)


def crawl_delay_s(file: RobotsFile, token: str) -> float | None:
    """Return the longest delay asked of `token`, or of everyone where the file does not name it."""
    agent = _chosen(file, token).agent
    return max((delay.seconds for delay in file.delays if delay.agent == agent), default=None)


@dataclass(frozen=True, slots=True)
class _Chosen:
    """The compiled rules for one token, in the order in which they win."""

    agent: str
    rules: tuple[tuple[Pattern, Rule], ...]


_COMPILED: WeakKeyDictionary[RobotsFile, dict[str, _Chosen]] = WeakKeyDictionary()


def _chosen(file: RobotsFile, token: str) -> _Chosen:
    by_token = _COMPILED.setdefault(file, {})
    chosen = by_token.get(token)
    if chosen is None:
        if len(by_token) >= MAX_TOKENS:
            by_token.clear()
        chosen = by_token[token] = _choose(file, token.lower())
    return chosen


def _choose(file: RobotsFile, token: str) -> _Chosen:
    for agent in (token, ANYONE):
        groups = [group for group in file.groups if agent in group.agents]
        if groups:
            rules = [pair for group in groups for rule in group.rules for pair in _compiled(rule)]
            rules.sort(key=lambda pair: (-pair[0].size, not pair[1].allows))
            return _Chosen(agent, tuple(rules))
    return _Chosen("", ())


def _compiled(rule: Rule) -> Iterator[tuple[Pattern, Rule]]:
    yield compile_pattern(rule.pattern), rule
    folder, slash, page = rule.pattern.rpartition("/")
    if rule.allows and slash and page.startswith("index.htm"):
        # Who allows the index page of a folder allows the folder, which is the same page; RFC 9309
        # is silent, google/robotstxt does it.
        yield compile_pattern(f"{folder}/$"), rule
