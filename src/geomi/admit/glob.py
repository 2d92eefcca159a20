"""Match a URL with the patterns of a configuration: all of a list at once, in bounded time.

A pattern that starts with `/` is matched with the path, any other with the URL up to its query
(C-25). A pattern with `?` is also matched with the query included (C-78). `re:` introduces an RE2
expression, which is searched in the path, then in path and query. In all other patterns:

    *       any run of characters but `/`
    **      any run of characters, `/` included
    ?       one character but `/`
    [a-z0]  one of these; `[!a-z0]` one of the others; `[*]` is how to write `*`, `?`, `[`, `{`
    {a,b}   either; may be nested

`X/**` also matches `X`. A trailing slash of the URL does not count. A wildcard matches names with a
leading dot (C-23). A pattern without `*`, `?` or class matches that path and everything below it
(CFG-20). At the ends of a whole-URL pattern `*` crosses `/`, so that `*/*logout*` matches
`/user/logout/now`. Upper and lower case differ. Both sides are compared in canonical spelling:
`/%6cogout` is `/logout`, `/가` is `/%EA%B0%80`.

`scope.glob = "minimatch"` reads a glob as minimatch does by default (C-23, SCP-01):

- `X/**` matches `X/` but not `X`.
- No wildcard matches a name with a leading dot, and `**` does not cross one.
- A `*` that is a whole segment matches at least one character. A `**` that shares its segment with
  other characters is a `*`.
- A pattern without wildcards matches that path alone. A trailing slash of the URL does not count
  at the end of the pattern.
- Extended globs such as `@(a|b)` are refused.

A glob becomes an RE2 expression, and the expressions of a list become one automaton (RE2's Set).
It reads a URL once, however many patterns there are, and names all that match; the first of them
decides. What a list may cost is bounded before it is built (adr 32): by what the braces of a
pattern stand for, by the size of RE2's program, and by how much of it one character of a URL may
keep busy. So the patterns of a stranger are expensive neither to compile nor to match.
"""

from __future__ import annotations

import string
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, dropwhile, groupby, product
from math import prod
from typing import Literal
from urllib.parse import quote

import re2

from geomi.errors import ConfigError
from geomi.model.config import GlobStyle
from geomi.url.parse import Url, canonical

MAX_PATTERN_CHARS = 1024
MAX_ALTERNATIVES = 64  # of one pattern, when its braces are written out
MAX_BRACE_DEPTH = 8
MAX_WRITTEN_CHARS = 8192  # of all alternatives of a pattern together
# Of all patterns of a job. The size counts instructions of RE2's program, about one for each
# character that alternatives do not share; a hundred usual globs have some thousand. The reach
# counts what a single character of a URL may keep busy: all of an expression, and of a glob what
# stands behind its first wildcard. A URL of 2 KB costs up to 25 µs for each, and mostly less than
# 3 µs (bench/patterns.py).
MAX_SIZE = 10_000
MAX_REACH = 2000
# What an automaton may remember of the URLs that it has read. Twenty states of the largest one
# need a third of it; if they had no room, RE2 would find no match.
MEMORY_BYTES = 3 * 1024 * 1024
CACHED_LISTS = 32

_WILD = frozenset("*?[")
_ANY = frozenset(map(chr, range(0x21, 0x7F))) - {"/"}  # a parsed URL holds nothing else
_AS_IS = "".join(set(string.punctuation) - set('"<>`{}'))  # what a parsed path may hold unescaped
_NAME = "[^/]*"
_PLAIN_NAME = "(?:[^./][^/]*)?"  # one that the wildcards of minimatch see; it may be empty

_Set = frozenset[str]  # the characters that may stand at one place
_Token = _Set | Literal["*", "**"]
_Parts = list["str | list[_Parts]"]  # texts, and braces as lists of branches


class UrlPatterns:
    """The patterns of one list, compiled together.

    Args:
        texts: what the person wrote.
    """

    def __init__(self, texts: Sequence[str], style: GlobStyle) -> None:
        self.texts = tuple(texts)
        self.cost = PatternCost()
        expressions = []
        for text in texts:
            with _named(text):
                expression, cost = _expression(text, style)
                self.cost = self.cost + cost
                self.cost.refuse_excess("makes the list too large")
            expressions.append(expression)
        numbered = list(enumerate(self.texts))
        on_path = [number for number, text in numbered if text.startswith(("/", "re:"))]
        on_url = [number for number, text in numbered if not text.startswith(("/", "re:"))]
        self._on_path = _Automaton(on_path, self.texts, expressions)
        self._on_url = _Automaton(on_url, self.texts, expressions)
        self._last: tuple[Url | None, str | None] = None, None

    def first(self, url: Url) -> str | None:
        """Return the first pattern of the list that means a URL; several rules ask about each."""
        asked, answer = self._last
        if asked is not url:
            answer = self._first(url)
            self._last = url, answer
        return answer

    def _first(self, url: Url) -> str | None:
        query = canonical(url.query)
        found = self._on_path.matching(canonical(url.path), query)
        found += self._on_url.matching(canonical(url.href.partition("?")[0]), query)
        return self.texts[min(found)] if found else None


class _Automaton:
    """Those patterns of a list that are matched with the same part of a URL."""

    def __init__(
        self, numbers: Sequence[int], texts: Sequence[str], expressions: Sequence[bytes]
    ) -> None:
        self._numbers = numbers
        self._on_query = {number for number in numbers if _sees_query(texts[number])}
        self._set = re2.Set.SearchSet(_options())
        for number in numbers:
            self._set.Add(expressions[number])
        self._set.Compile()

    def matching(self, place: str, query: str) -> list[int]:
        """Return the numbers of the patterns that match."""
        found = self._search(place)
        if query and self._on_query:
            found += [one for one in self._search(f"{place}?{query}") if one in self._on_query]
        return found

    def _search(self, text: str) -> list[int]:
        if not self._numbers:
            return []
        found = self._set.Match(text.encode("ascii", "replace")) or ()
        return [self._numbers[at] for at in found]


@dataclass(frozen=True, slots=True)
class PatternCost:
    """What patterns cost: RE2's instructions, and how many of them a character may keep busy."""

    size: int = 0
    reach: int = 0

    def __add__(self, other: PatternCost) -> PatternCost:
        return PatternCost(self.size + other.size, self.reach + other.reach)

    def refuse_excess(self, told: str) -> None:
        """Raise where the patterns of a job may not cost so much."""
        for cost, limit, what in (
            (self.size, MAX_SIZE, "instructions"),
            (self.reach, MAX_REACH, "characters behind wildcards or in expressions"),
        ):
            if cost > limit:
                raise ConfigError(
                    f"{told}: {cost:,} {what}; the limit is {limit:,}",
                    hint="use fewer or shorter patterns and alternatives",
                )


@lru_cache(maxsize=CACHED_LISTS)
def compile(texts: tuple[str, ...], style: GlobStyle = GlobStyle.REPAIRED) -> UrlPatterns:
    """Compile the patterns of a list, once for every job and request that has the same ones.

    `ConfigError` names the first that is malformed, too large, or could never match.
    """
    return UrlPatterns(texts, style)


def refuse_costly(includes: UrlPatterns, excludes: UrlPatterns) -> None:
    """Raise where the two lists of a job cost too much together."""
    cost = includes.cost + excludes.cost
    cost.refuse_excess("the include and exclude patterns of the job are too large together")


def check(text: str, style: GlobStyle = GlobStyle.REPAIRED) -> None:
    """Raise for a pattern that no list could have; for who tells all mistakes at once."""
    UrlPatterns([text], style)


def _sees_query(text: str) -> bool:
    return text.startswith("re:") or "?" in text


@contextmanager
def _named(text: str) -> Iterator[None]:
    try:
        yield
    except ConfigError as error:
        raise ConfigError(f"pattern `{text[:80]}` {error.message}", hint=error.hint) from error


def _expression(text: str, style: GlobStyle) -> tuple[bytes, PatternCost]:
    """Write a pattern as an expression, and say what it costs."""
    body = text.removeprefix("re:")
    if not 0 < len(body) <= MAX_PATTERN_CHARS:
        raise ConfigError(f"has {len(body)} characters; it needs 1 to {MAX_PATTERN_CHARS}")
    if body is not text:
        expression = body.encode("utf-8", "surrogatepass")
        size = _size(expression)
        return expression, PatternCost(size, size)
    if not text.startswith(("/", "http", "*", "?", "[", "{")):
        raise ConfigError("can never match a URL", hint=f"write `/{text}` or `**/{text}`")
    if style is GlobStyle.MINIMATCH:
        if any(f"{sign}(" in text for sign in "?*+@!"):
            raise ConfigError("is an extended glob", hint="write the alternatives as {a,b}")
        globs, row = alternatives(text), _minimatch_row
    else:
        globs, row = alternatives(text if text.startswith("/") else _with_open_ends(text)), _row
    expression = f"(?s)\\A{_joined(list(map(row, globs)))}/?\\z".encode()
    return expression, PatternCost(_size(expression), _reach(globs))


def _reach(globs: Sequence[str]) -> int:
    """Count what stands behind first wildcards; of plain beginnings a URL has only one."""
    split = (glob.partition("*") for glob in globs)
    behind = {("" if _WILD.isdisjoint(head) else head, star + tail) for head, star, tail in split}
    return sum(len(tail) for _, tail in behind)


def _size(expression: bytes) -> int:
    """Return how many instructions RE2's program has."""
    try:
        return int(re2.compile(expression, _options()).programsize)
    except re2.error as error:
        told = error.args[0] if error.args else ""
        words = told.decode("utf-8", "replace") if isinstance(told, bytes) else str(told)
        raise ConfigError(f"is not an RE2 expression: {words}") from error


def _options() -> re2.Options:
    options = re2.Options()
    options.log_errors = False
    options.never_capture = True
    options.max_mem = MEMORY_BYTES
    # A parsed URL is ASCII. Without longer characters some programs are a hundredth as large.
    options.encoding = re2.Options.Encoding.LATIN1
    return options


def _with_open_ends(text: str) -> str:
    head = "**/" if text.startswith("*") else ""
    tail = "/**" if text.endswith("*") else ""
    return head + text + tail


def alternatives(glob: str) -> tuple[str, ...]:
    """Write the braces of a glob out; `ConfigError` if they are malformed or too many."""
    parts, _ = _parse(glob, 0, 0)
    if _count(parts) > MAX_ALTERNATIVES:
        raise ConfigError(f"has more than {MAX_ALTERNATIVES} alternatives")
    written = tuple(dict.fromkeys(_written_out(parts)))
    chars = sum(map(len, written))
    if chars > MAX_WRITTEN_CHARS:
        told = f"has {chars:,} characters in its {len(written)} alternatives"
        raise ConfigError(f"{told}; the limit is {MAX_WRITTEN_CHARS:,}")
    return written


def _parse(glob: str, at: int, depth: int) -> tuple[_Parts, int]:
    """Read a glob, or one branch of a brace up to the `,` or `}` behind it."""
    if depth > MAX_BRACE_DEPTH:
        raise ConfigError(f"has braces more than {MAX_BRACE_DEPTH} deep")
    parts, start = _Parts(), at
    while at < len(glob) and not (depth and glob[at] in ",}"):
        if glob[at] == "[":
            at = _class_end(glob, at)
        elif glob[at] == "}":
            raise ConfigError("has a `}` without `{`")
        elif glob[at] == "{":
            parts.append(glob[start:at])
            branches, at = _parse_brace(glob, at, depth)
            parts.append(branches)
            start = at + 1
        at += 1
    parts.append(glob[start:at])
    return parts, at


def _parse_brace(glob: str, at: int, depth: int) -> tuple[list[_Parts], int]:
    """Read the branches of the brace that opens at `at`; return them, and where it closes."""
    branches = []
    while at == len(glob) or glob[at] != "}":
        if at >= len(glob):
            raise ConfigError("has a `{` without `}`", hint="write `[{]` for the character itself")
        branch, at = _parse(glob, at + 1, depth + 1)
        branches.append(branch)
    return branches, at


def _class_end(glob: str, at: int) -> int:
    """Return where the class that opens at `at` closes; its first character is never the end."""
    first = at + 2 if glob[at + 1 : at + 2] in ("!", "^") else at + 1
    end = glob.find("]", first + 1)
    if end < 0:
        raise ConfigError("has a `[` without `]`", hint="write `[[]` for the character itself")
    if "/" in glob[at:end]:
        raise ConfigError("has a `/` between brackets")
    return end


def _count(parts: _Parts) -> int:
    return prod(sum(map(_count, part)) for part in parts if not isinstance(part, str))


def _written_out(parts: _Parts) -> Iterator[str]:
    choices = [
        [part] if isinstance(part, str) else list(chain.from_iterable(map(_written_out, part)))
        for part in parts
    ]
    return map("".join, product(*choices))


def _joined(rows: Sequence[Sequence[str]]) -> str:
    """Write rows of segments as one expression; segments that all end with stand there once."""
    shared = 0
    while all(len(row) > shared + 1 and row[-1 - shared] == rows[0][-1 - shared] for row in rows):
        shared += 1
    heads = dict.fromkeys("".join(row[: len(row) - shared]) for row in rows)
    return f"(?:{'|'.join(heads)}){''.join(rows[0][len(rows[0]) - shared :])}"


def _row(glob: str) -> list[str]:
    """Write a glob without braces as one expression for each segment."""
    if _WILD.isdisjoint(glob):
        glob = glob.rstrip("/") + "/**"
    parts = glob.split("/")
    names = [None if _is_wide(part) else "".join(map(_written, _tokens(part))) for part in parts]
    return _with_slashes(names, name=_NAME)


def _is_wide(part: str) -> bool:
    return len(part) > 1 and part.strip("*") == ""


def _minimatch_row(glob: str) -> list[str]:
    names = [None if part == "**" else _visible(_tokens(part)) for part in glob.split("/")]
    return _with_slashes(names, name=_PLAIN_NAME, fewest="+")


def _with_slashes(names: Sequence[str | None], *, name: str, fewest: str = "*") -> list[str]:
    """Put slashes between segments; None is `**`, any number of names.

    Args:
        name: one name that `**` may stand for.
        fewest: how many of them a `**` at the end needs, as an expression says it.
    """
    row: list[str] = []
    for text, run in groupby(names):
        for one in run if text is not None else [None]:
            if row:
                row.append(f"(?:/{name})*" if one is None else f"/{one}")
            else:
                row.append(f"{name}(?:/{name})*" if one is None else one)
    if names[0] is None and len(row) > 1:  # it may stand for no name, and then brings no slash
        row[:2] = [f"(?:{name}/)*{row[1].removeprefix('/')}"]
    if names[-1] is None and len(row) > 1:
        row[-1] = f"(?:/{name}){fewest}"
    return row


def _visible(tokens: Sequence[_Token]) -> str:
    """Write a segment as minimatch reads it: no wildcard at its beginning stands for a dot."""
    if not tokens:
        return ""
    single: list[_Token] = ["*" if token == "**" else token for token in tokens]
    rest = list(dropwhile(lambda token: token == "*", single))
    whole = "".join(map(_written, rest))
    if rest == single and rest[0] == frozenset("."):
        return whole
    first = rest[0] if rest and isinstance(rest[0], frozenset) else frozenset[str]()
    without_dot = _written(first - {"."}) + "".join(map(_written, rest[1:]))
    return without_dot if rest == single else f"(?:{without_dot}|[^./][^/]*{whole})"


def _tokens(part: str) -> list[_Token]:
    """Read a segment: sets of characters, `*` for a run without slashes, `**` for any run."""
    tokens: list[_Token] = []
    at = 0
    while at < len(part):
        end = at + 1
        if part[at] == "*":
            end = len(part) - len(part[at:].lstrip("*"))
            tokens.append("*" if end == at + 1 else "**")
        elif part[at] == "?":
            tokens.append(_ANY)
        elif part[at] == "[":
            end = _class_end(part, at) + 1
            tokens.append(_class(part[at + 1 : end - 1]))
        else:
            while end < len(part) and part[end] not in _WILD:
                end += 1
            tokens += map(frozenset, _spelled(part[at:end]))
        at = end
    return tokens


def _spelled(literal: str) -> str:
    """Return literal text as a parsed URL would spell it."""
    return canonical(quote(literal, safe=_AS_IS, errors="surrogatepass"))


def _class(body: str) -> _Set:
    if not body.isascii():
        raise ConfigError("has a character beyond ASCII between brackets")
    negated = len(body) > 1 and body[0] in "!^"
    rest, members = body[negated:], set[str]()
    while rest:
        width = 3 if len(rest) >= 3 and rest[1] == "-" else 1  # a range like `a-z`
        members.update(map(chr, range(ord(rest[0]), ord(rest[width - 1]) + 1)))
        rest = rest[width:]
    return _ANY - members if negated else _ANY & members


def _written(token: _Token) -> str:
    """Write a token as an expression."""
    if token == "*" or token == "**":
        return _NAME if token == "*" else ".*"
    if token == _ANY:
        return "[^/]"
    signs = "".join(f"\\x{ord(sign):02x}" for sign in sorted(token))
    return f"[{signs}]" if signs else r"[^\x00-\xff]"  # nothing
