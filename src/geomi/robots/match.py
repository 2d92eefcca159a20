"""Find the line of a robots.txt that decides about a URL (RFC 9309 §2.2), in linear time.

Rules kept:
- All groups of our own token count together. If there is none, the groups of `*` count (ROB-14,
  ROB-15). An empty group of our own allows everything, unless the dialect falls back to `*` then,
  as seed 001 §13 does (C-09).
- The longest matching pattern wins, Allow at equal length, no match allows (ROB-23).
- `/robots.txt` itself is always allowed (RFC 9309 §2.2.2).
- Of the lines about the use of content, those with the longest matching path hold for a URL, all of
  them together (draft-ietf-aipref-attach §3); a line without a path is the shortest.
- The target is path and query, or the path alone (C-06). Both sides are brought to one form (C-07).
  The RFC's form (§2.2.2): octets outside ASCII and characters that no URL may hold are
  percent-encoded, escapes of unreserved characters are undone, hex digits are upper case; slashes
  and letter case stay. The raw form (seed 001 §5) undoes no escape, and a run of slashes is one.
- `*` stands for any run of characters, `$` at the end for the end; `%2A` and `%24` mean the
  characters themselves (RFC 9309 §2.2.3).
- No regular expression is built from a pattern: stars split it into pieces that are looked for from
  left to right, never going back, so a hostile pattern gains nothing.

A token's rules are compiled once a file, longest first, so the first match is the answer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from geomi.model.config import Compare, RobotsRules
from geomi.robots.parse import ANYONE, PathRule, RobotsFile, RobotsGroup
from geomi.robots.signals import Said, combined

Form = Callable[[str], str]
# Already in compare form: visible ASCII without `%` and without what a URL may not hold.
_PLAIN = re.compile(r"[!#-$&-;=?-\[\]_a-z~]*")
_ESCAPE_OR_ODD = re.compile(rb"%[0-9A-Fa-f]{2}|[^!#-;=?-\[\]_a-z~]")
_SLASHES = re.compile("/{2,}")
# With more pieces than this, it pays to look first for the last place of the last one: most fail
# there, or soon after it was passed, and are spared the walk over all their pieces.
_FEW = 3
# Unreserved characters (RFC 3986 §2.3), and the two that a pattern can only write as an escape.
_UNESCAPED = frozenset(
    b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~" + b"*$"
)
MAX_TOKENS = 16  # compiled per file; one process speaks under one or two names
_NO_HEAD = ("", "/")
_COMPILED: WeakKeyDictionary[RobotsFile, dict[str, _Chosen]] = WeakKeyDictionary()


@dataclass(frozen=True, slots=True)
class PathPattern:
    """A compiled pattern.

    Args:
        head: what the path must begin with, and be when the pattern `is_exact`.
        middle: what must follow somewhere, in this order.
        tail: what it must end with after all that; empty when the pattern does not end in `$`.
        size: its length in octets, which decides between rules (RFC 9309 §2.2.2).
    """

    head: str
    middle: tuple[str, ...]
    tail: str
    is_exact: bool
    size: int

    def matches(self, target: str) -> bool:
        """Return whether the pattern covers a path and query in compare form."""
        if self.is_exact:
            return target == self.head
        if not (target.startswith(self.head) and target.endswith(self.tail)):
            return False
        last = target.rfind(self.middle[-1]) if len(self.middle) > _FEW else len(target)
        at, find = len(self.head), target.find
        for piece in self.middle:
            at = find(piece, at)
            if not 0 <= at <= last:
                return False
            at += len(piece)
        return len(target) - at >= len(self.tail)


Compiled = tuple[tuple[PathPattern, PathRule], ...]


def compile_pattern(text: str, compare: Compare = Compare.RFC) -> PathPattern:
    """Compile the value of an `Allow` or `Disallow` line."""
    is_anchored = text.endswith("$")
    pieces = list(map(form_of(compare), text.removesuffix("$").split("*")))
    size = sum(map(len, pieces)) + len(pieces) - 1 + is_anchored
    is_exact = is_anchored and len(pieces) == 1
    tail = pieces.pop() if is_anchored and not is_exact else ""
    return PathPattern(pieces[0], tuple(filter(None, pieces[1:])), tail, is_exact, size)


def form_of(compare: Compare) -> Form:
    """Return what brings a path and query, or a piece of a pattern, to its compare form."""
    return _rfc_form if compare is Compare.RFC else _raw_form


def _rfc_form(text: str) -> str:
    if _PLAIN.fullmatch(text):
        return text
    octets = text.encode("utf-8", "surrogatepass")
    return _ESCAPE_OR_ODD.sub(_canonical, octets).decode("ascii")


def _raw_form(text: str) -> str:
    if not _PLAIN.fullmatch(text):
        octets = text.encode("utf-8", "surrogatepass")
        text = _ESCAPE_OR_ODD.sub(_escaped, octets).decode("ascii")
    return _SLASHES.sub("/", text)


def _canonical(found: re.Match[bytes]) -> bytes:
    octets = _escaped(found)
    value = int(octets[1:], 16)
    return bytes((value,)) if value in _UNESCAPED else octets


def _escaped(found: re.Match[bytes]) -> bytes:
    octets = found.group()
    return octets.upper() if len(octets) > 1 else b"%%%02X" % octets[0]


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
    """Return whether `token` may fetch a path and query, and by which line."""
    chosen = _chosen(file, token)
    path = _compared(file, chosen, target)
    if not _is_robots(path):
        for pattern, rule in chosen.rules if path.startswith(chosen.heads) else chosen.anywhere:
            # Most rules fail on their first characters; asking here saves them the call.
            if path.startswith(pattern.head) and pattern.matches(path):
                return Judgement(rule.allows, rule.line, rule.pattern, chosen.agent, pattern.size)
    return Judgement(True, agent=chosen.agent)


def matching(file: RobotsFile, token: str, target: str) -> tuple[PathRule, ...]:
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
    usages: tuple[tuple[PathPattern, Said], ...] = ()


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


def _compile(agent: str, groups: list[RobotsGroup], file: RobotsFile) -> _Chosen:
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


def _compiled(rule: PathRule, dialect: RobotsRules) -> Iterator[tuple[PathPattern, PathRule]]:
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
