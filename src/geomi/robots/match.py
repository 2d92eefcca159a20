"""Which line of a robots.txt decides a URL (RFC 9309 §2.2).

Rules kept:
- All groups of the own token count together; only when there is none do those of `*` (ROB-14,
  ROB-15). A group that is there but empty allows everything, unless the file's dialect falls back
  to `*` then, as seed 001 §13 does (C-09).
- The longest matching pattern wins, Allow at equal length, no match allows (ROB-23).
- `/robots.txt` itself is always allowed (RFC 9309 §2.2.2).
- Of the lines about the use of content, those with the longest matching path speak of a URL, and
  together (draft-ietf-aipref-attach §3); a line without a path is the shortest.
- The target is path and query, or the path alone (C-06), in the form that the dialect compares
  (C-07).

A token's rules are compiled once a file, longest first, so the first match is the answer.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from geomi.model.config import Compare, RobotsRules
from geomi.robots.parse import ANYONE, Group, RobotsFile, Rule
from geomi.robots.pattern import Form, Pattern, compile_pattern, form_of
from geomi.robots.usage import Said, combined

MAX_TOKENS = 16  # compiled per file; one process speaks under one or two names

Compiled = tuple[tuple[Pattern, Rule], ...]


@dataclass(frozen=True, slots=True)
class Judgement:
    """The answer for one URL; `line` is None when no rule matched.

    Args:
        pattern: the winning pattern as the site wrote it.
        agent: whose group it stands in: the own token, or `*`; empty when the file has neither.
        size: the winning pattern's length in octets, by which it won.
    """

    allowed: bool
    line: int | None = None
    pattern: str = ""
    agent: str = ""
    size: int = 0


def judge(file: RobotsFile, token: str, target: str) -> Judgement:
    """Say whether `token` may fetch a path and query, and by which line."""
    chosen = _chosen(file, token)
    path = _compared(file, chosen, target)
    if not _is_robots(path):
        for pattern, rule in chosen.rules if path.startswith(chosen.heads) else chosen.anywhere:
            # Most rules fail on their first characters; asking here saves them the call.
            if path.startswith(pattern.head) and pattern.matches(path):
                return Judgement(rule.allows, rule.line, rule.pattern, chosen.agent, pattern.size)
    return Judgement(True, agent=chosen.agent)


def matching(file: RobotsFile, token: str, target: str) -> tuple[Rule, ...]:
    """List every rule that covers a path and query, the one that decides first."""
    chosen = _chosen(file, token)
    path = _compared(file, chosen, target)
    if _is_robots(path):
        return ()
    found = (rule for pattern, rule in chosen.rules if pattern.matches(path))
    return tuple(dict.fromkeys(found))


def crawl_delay_s(file: RobotsFile, token: str) -> float | None:
    """Return the longest delay asked of `token`, or of everyone where the file does not name it."""
    agent = _chosen(file, token).agent
    return max((delay.seconds for delay in file.delays if delay.agent == agent), default=None)


def usage(file: RobotsFile, token: str, target: str) -> Said:
    """Return what the file says to `token` about the use of a path and query."""
    if not file.usages:
        return ()
    chosen = _chosen(file, token)
    path = _compared(file, chosen, target)
    covering = [(pattern.size, said) for pattern, said in chosen.usages if pattern.matches(path)]
    longest = max((size for size, _ in covering), default=0)
    return combined(pair for size, said in covering if size == longest for pair in said)


@dataclass(frozen=True, slots=True)
class _Chosen:
    """The compiled rules for one token, in the order in which they win.

    Args:
        anywhere: those that say nothing of how a path begins; all others begin like a head. Most
            paths begin like none, and one look at the heads spares them nearly every rule.
    """

    agent: str
    form: Form
    rules: Compiled = ()
    heads: tuple[str, ...] = ()
    anywhere: Compiled = ()
    usages: tuple[tuple[Pattern, Said], ...] = ()


_NO_HEAD = ("", "/")
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
        falls_back = agent != ANYONE and file.dialect.empty_group_falls_back
        if any(group.rules for group in groups) or (groups and not falls_back):
            return _compile(agent, groups, file)
    return _compile("", [], file)


def _compile(agent: str, groups: list[Group], file: RobotsFile) -> _Chosen:
    dialect = file.dialect
    rules = [pair for group in groups for rule in group.rules for pair in _compiled(rule, dialect)]
    rules.sort(key=lambda pair: (-pair[0].size, not pair[1].allows))
    return _Chosen(
        agent,
        form_of(dialect.compare),
        tuple(rules),
        heads=tuple({pattern.head: None for pattern, _ in rules if pattern.head not in _NO_HEAD}),
        anywhere=tuple(pair for pair in rules if pair[0].head in _NO_HEAD),
        usages=tuple(
            (compile_pattern(line.path, dialect.compare), line.said)
            for line in file.usages
            if not line.agents or (agent or ANYONE) in line.agents
        ),
    )


def _compiled(rule: Rule, dialect: RobotsRules) -> Iterator[tuple[Pattern, Rule]]:
    yield compile_pattern(rule.pattern, dialect.compare), rule
    folder, slash, page = rule.pattern.rpartition("/")
    if rule.allows and slash and page.startswith("index.htm") and dialect.compare is Compare.RFC:
        # Who allows the index page of a folder allows the folder, which is the same page; RFC 9309
        # is silent, google/robotstxt does it. Seed 001 knows nothing of the kind.
        yield compile_pattern(f"{folder}/$", dialect.compare), rule


def _compared(file: RobotsFile, chosen: _Chosen, target: str) -> str:
    return chosen.form(target if file.dialect.match_query else target.partition("?")[0])


def _is_robots(path: str) -> bool:
    return path.partition("?")[0] == "/robots.txt"
