"""Decide whether a pattern of the configuration means a URL, in time that its length bounds.

A pattern that starts with `/` is tested on the path, any other on the URL up to its query (C-25); a
pattern that holds `?` is tested on that with the query, too (C-78). `re:` is an RE2 expression
searched in the path, then in path and query. Otherwise:

    *       any run of characters but `/`
    **      any run of characters, `/` included
    ?       one character but `/`
    [a-z0]  one of these; `[!a-z0]` one of the others; `[*]` is how to write `*`, `?`, `[`, `{`
    {a,b}   either; may be nested

`X/**` means `X`, too; a trailing slash of the URL does not count; names with a leading dot are
names (C-23). Without `*`, `?` or class a pattern is that place and everything below it (CFG-20). At
the ends of a whole-URL pattern `*` crosses `/`, so that `*/*logout*` finds `/user/logout/now`.
Upper and lower case differ. Both sides are compared in canonical spelling: `/%6cogout` is
`/logout`, `/가` is `/%EA%B0%80`.

No regular expression is built from a pattern, and no earlier wildcard is ever tried again: what
stands between two wildcards has a fixed length, so its leftmost fit is the best one. The work is at
most the length of the pattern times that of the URL.
"""

from __future__ import annotations

import string
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from urllib.parse import quote

from geomi.admit.alternatives import class_end, expand
from geomi.errors import ConfigError
from geomi.url.canonical import canonical
from geomi.url.parse import Url

MAX_PATTERN_CHARS = 1024


@dataclass(frozen=True, slots=True)
class Pattern:
    """One compiled pattern; `text` is what the person wrote."""

    text: str
    on_path: bool
    on_query: bool
    test: Callable[[str], bool]

    def matches(self, url: Url) -> bool:
        """Tell whether this pattern means the URL."""
        place = canonical(url.path if self.on_path else url.href.partition("?")[0])
        if self.test(place):
            return True
        return self.on_query and url.query != "" and self.test(f"{place}?{canonical(url.query)}")


def compile(text: str) -> Pattern:
    """Compile one pattern; `ConfigError` if it is malformed, too large, or could never match."""
    try:
        if text.startswith("re:"):
            return Pattern(text, on_path=True, on_query=True, test=_expression(text[3:]))
        return _glob(text)
    except ConfigError as error:
        raise ConfigError(f"pattern `{text[:80]}` {error.message}", hint=error.hint) from error


# A segment is a row of pieces with a `*` between each two. A piece is literal text, or one set of
# characters for each position. `None` among the segments is `**`: any number of names, also none.
_Set = frozenset[str]
_Piece = str | tuple[_Set, ...]
_Segment = tuple[_Piece, ...]

_WILD = frozenset("*?[")
_ANY = frozenset(map(chr, range(0x21, 0x7F))) - {"/"}  # a parsed URL holds nothing else
_AS_IS = "".join(set(string.punctuation) - set('"<>`{}'))  # what a parsed path may hold unescaped


def _expression(text: str) -> Callable[[str], bool]:
    try:
        import re2  # an option of the installation
    except ImportError as error:
        hint = "pip install google-re2, or write a glob"
        raise ConfigError("needs google-re2, which is not installed", hint=hint) from error
    _check_length(text)
    options = re2.Options()
    options.log_errors = False
    try:
        search = re2.compile(text, options).search
    except re2.error as error:
        raise ConfigError(f"is not an RE2 expression: {error}") from error
    return lambda place: search(place) is not None


def _glob(text: str) -> Pattern:
    _check_length(text)
    on_path = text.startswith("/")
    if not on_path and not text.startswith(("http", "*", "?", "[", "{")):
        raise ConfigError("can never match a URL", hint=f"write `/{text}` or `**/{text}`")
    tests = [_alternative(glob) for glob in expand(text if on_path else _with_open_ends(text))]
    test = tests[0] if len(tests) == 1 else lambda place: any(fits(place) for fits in tests)
    return Pattern(text, on_path, on_query="?" in text, test=test)


def _check_length(text: str) -> None:
    if not 0 < len(text) <= MAX_PATTERN_CHARS:
        raise ConfigError(f"has {len(text)} characters; it needs 1 to {MAX_PATTERN_CHARS}")


def _with_open_ends(text: str) -> str:
    head = "**/" if text.startswith("*") else ""
    tail = "/**" if text.endswith("*") else ""
    return head + text + tail


def _alternative(glob: str) -> Callable[[str], bool]:
    if _WILD.isdisjoint(glob):
        return _below(_spelled(glob.rstrip("/")))
    if glob.endswith("/**") and _WILD.isdisjoint(glob[:-3]):
        return _below(_spelled(glob[:-3]))
    segments = tuple(_segment(part) for part in glob.split("/"))
    start = _literal_start(segments)

    def fits(place: str) -> bool:
        if not place.startswith(start):
            return False
        names = place.split("/")
        return _fits_all(segments, names) or (names[-1] == "" and _fits_all(segments, names[:-1]))

    return fits


def _below(root: str) -> Callable[[str], bool]:
    below = root + "/"
    return lambda place: place.startswith(below) or place == root


def _spelled(literal: str) -> str:
    return canonical(quote(literal, safe=_AS_IS, errors="surrogatepass"))


def _segment(part: str) -> _Segment | None:
    if part.startswith("**"):
        return None
    rows: list[list[_Set]] = [[]]
    for sets in _positions(part):
        if sets is None:
            rows.append([])
        else:
            rows[-1] += sets
    return tuple(_piece(row) for row in rows)


def _positions(part: str) -> Iterator[list[_Set] | None]:
    """Yield the characters that may stand at each position, and None for a `*`."""
    at = 0
    while at < len(part):
        end = at
        if part[at] == "*":
            yield None
        elif part[at] == "?":
            yield [_ANY]
        elif part[at] == "[":
            end = class_end(part, at)
            yield [_class(part[at + 1 : end])]
        else:
            while end + 1 < len(part) and part[end + 1] not in _WILD:
                end += 1
            yield [frozenset(character) for character in _spelled(part[at : end + 1])]
        at = end + 1


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


def _piece(row: list[_Set]) -> _Piece:
    if all(len(one) == 1 for one in row):
        return "".join(character for one in row for character in one)
    return tuple(row)


def _literal_start(segments: tuple[_Segment | None, ...]) -> str:
    """Return the text every match begins with: most URLs fail there, before they are split."""
    start = ""
    for segment in segments:
        if segment is None or not isinstance(segment[0], str):
            break
        start += segment[0]
        if len(segment) > 1:
            return start
        start += "/"
    return start.removesuffix("/")


def _fits_all(segments: tuple[_Segment | None, ...], names: list[str]) -> bool:
    """Match name by name; after a failure only the last `**` takes one name more."""
    at = place = resume = 0
    last_wide = -1
    while place < len(names):
        segment = segments[at] if at < len(segments) else ()
        if segment is None:
            last_wide, resume = at, place
            at += 1
        elif segment and _fits(segment, names[place]):
            at += 1
            place += 1
        elif last_wide >= 0:
            resume += 1
            at, place = last_wide + 1, resume
        else:
            return False
    return all(segment is None for segment in segments[at:])


def _fits(pieces: _Segment, name: str) -> bool:
    first, last = pieces[0], pieces[-1]
    end = len(name) - len(last)
    if len(pieces) == 1:
        return end == 0 and _stands_at(first, name, 0)
    at = len(first)
    if end < at or not _stands_at(first, name, 0) or not _stands_at(last, name, end):
        return False
    for piece in pieces[1:-1]:
        found = _find(piece, name, at, end)
        if found < 0:
            return False
        at = found + len(piece)
    return True


def _stands_at(piece: _Piece, name: str, at: int) -> bool:
    if isinstance(piece, str):
        return name.startswith(piece, at)
    return all(map(frozenset.__contains__, piece, name[at : at + len(piece)]))


def _find(piece: _Piece, name: str, at: int, end: int) -> int:
    if isinstance(piece, str):
        return name.find(piece, at, end)
    starts = range(at, end - len(piece) + 1)
    return next((start for start in starts if _stands_at(piece, name, start)), -1)
