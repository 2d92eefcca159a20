"""Match a pattern of the configuration against a URL, in bounded time.

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

No regular expression is built from a glob. It is written out into simple ones: `/{a,b}/c` is
`/a/c` or `/b/c`, and `/v1**` is `/v1*` or `/v1*/**/*`. After that `**` stands only as a whole
segment. The number of alternatives is limited, since it doubles with each brace. A segment is read
once into pieces with a `*` between each two. A piece has a fixed length, so its leftmost fit is the
best one and no earlier wildcard is tried again; the same holds for `**` between segments. The work
is at most the length of the glob times that of the path.
"""

from __future__ import annotations

import string
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from urllib.parse import quote

from geomi.errors import ConfigError
from geomi.model.config import GlobStyle
from geomi.url.parse import Url, canonical

MAX_PATTERN_CHARS = 1024
# A piece is literal text, or one set of characters for each position.
_Set = frozenset[str]
Piece = str | tuple[_Set, ...]
Segment = tuple[Piece, ...]
Row = tuple[Segment | None, ...]  # None is `**`: any number of names, also none
WILD = frozenset("*?[")
_ANY = frozenset(map(chr, range(0x21, 0x7F))) - {"/"}  # a parsed URL holds nothing else
_AS_IS = "".join(set(string.punctuation) - set('"<>`{}'))  # what a parsed path may hold unescaped
MAX_ALTERNATIVES = 64


@dataclass(frozen=True, slots=True)
class UrlPattern:
    """One compiled pattern; `text` is what the person wrote."""

    text: str
    on_path: bool
    on_query: bool
    test: Callable[[str], bool]

    def matches(self, url: Url) -> bool:
        """Return whether this pattern means the URL."""
        place = canonical(url.path if self.on_path else url.href.partition("?")[0])
        if self.test(place):
            return True
        return self.on_query and url.query != "" and self.test(f"{place}?{canonical(url.query)}")


def compile(text: str, style: GlobStyle = GlobStyle.REPAIRED) -> UrlPattern:
    """Compile one pattern; `ConfigError` if it is malformed, too large, or could never match."""
    try:
        if text.startswith("re:"):
            return UrlPattern(text, on_path=True, on_query=True, test=_expression(text[3:]))
        return _glob(text, style)
    except ConfigError as error:
        raise ConfigError(f"pattern `{text[:80]}` {error.message}", hint=error.hint) from error


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
        told = error.args[0] if error.args else ""
        words = told.decode("utf-8", "replace") if isinstance(told, bytes) else str(told)
        raise ConfigError(f"is not an RE2 expression: {words}") from error
    return lambda place: search(place) is not None


def _glob(text: str, style: GlobStyle) -> UrlPattern:
    _check_length(text)
    on_path = text.startswith("/")
    if not on_path and not text.startswith(("http", "*", "?", "[", "{")):
        raise ConfigError("can never match a URL", hint=f"write `/{text}` or `**/{text}`")
    if style is GlobStyle.MINIMATCH:
        tests = minimatch_tests(text)
    else:
        tests = [_alternative(glob) for glob in expand(text if on_path else _with_open_ends(text))]
    test = tests[0] if len(tests) == 1 else lambda place: any(fits(place) for fits in tests)
    return UrlPattern(text, on_path, on_query="?" in text, test=test)


def _check_length(text: str) -> None:
    if not 0 < len(text) <= MAX_PATTERN_CHARS:
        raise ConfigError(f"has {len(text)} characters; it needs 1 to {MAX_PATTERN_CHARS}")


def _with_open_ends(text: str) -> str:
    head = "**/" if text.startswith("*") else ""
    tail = "/**" if text.endswith("*") else ""
    return head + text + tail


def _alternative(glob: str) -> Callable[[str], bool]:
    if WILD.isdisjoint(glob):
        return _below(spelled(glob.rstrip("/")))
    if glob.endswith("/**") and WILD.isdisjoint(glob[:-3]):
        return _below(spelled(glob[:-3]))
    row = read_row(glob)
    start = literal_start(row)

    def test(place: str) -> bool:
        if not place.startswith(start):
            return False
        names = place.split("/")
        if names[-1] == "" and fits_row(row, names[:-1], fits, _any):
            return True
        return fits_row(row, names, fits, _any)

    return test


def _any(_name: str) -> bool:
    return True


def _below(root: str) -> Callable[[str], bool]:
    below = root + "/"
    return lambda place: place.startswith(below) or place == root


def minimatch_tests(glob: str) -> list[Callable[[str], bool]]:
    """Return one test for each alternative of a glob; one that holds is enough."""
    if any(f"{sign}(" in glob for sign in "?*+@!"):
        raise ConfigError("is an extended glob", hint="write the alternatives as {a,b}")
    return [_test(_simple(each)) for each in expand(glob, stars=False)]


def _simple(glob: str) -> str:
    """Make a `**` that shares its segment a `*`."""
    parts = glob.split("/")
    return "/".join(part if part == "**" else _single(part) for part in parts)


def _single(part: str) -> str:
    while "**" in part:
        part = part.replace("**", "*")
    return part


def _test(glob: str) -> Callable[[str], bool]:
    row = read_row(glob)
    start = literal_start(row)

    def test(place: str) -> bool:
        if not place.startswith(start):
            return False
        names = place.split("/")
        return _fits(row, names) or (names[-1] == "" and _fits(row, names[:-1]))

    return test


def _fits(row: Row, names: list[str]) -> bool:
    if row[-1] is None:  # at the end `**` is at least one name, which may be empty
        last = names[-1]
        return _is_plain(last) and fits_row(row, names[:-1], _fits_name, _is_plain)
    return fits_row(row, names, _fits_name, _is_plain)


def _fits_name(segment: Segment, name: str) -> bool:
    if name == "":
        return segment == ("",)
    first = segment[0]
    is_meant = isinstance(first, str) and first.startswith(".")
    return (is_meant or _is_plain(name)) and fits(segment, name)


def _is_plain(name: str) -> bool:
    return not name.startswith(".")


def read_row(glob: str) -> Row:
    """Read a glob in which `**` stands only as a whole segment."""
    return tuple(None if part.startswith("**") else _read(part) for part in glob.split("/"))


def fits_row(
    row: Row,
    names: list[str],
    fits: Callable[[Segment, str], bool],
    may_skip: Callable[[str], bool],
) -> bool:
    """Match name by name; after a failure only the last `**` takes one name more."""
    at = place = resume = 0
    last_wide = -1
    while place < len(names):
        segment = row[at] if at < len(row) else ()
        if segment is None:
            last_wide, resume = at, place
            at += 1
        elif segment and fits(segment, names[place]):
            at += 1
            place += 1
        elif last_wide >= 0 and may_skip(names[resume]):
            resume += 1
            at, place = last_wide + 1, resume
        else:
            return False
    return all(segment is None for segment in row[at:])


def literal_start(row: Row) -> str:
    """Return the text every match begins with: most URLs fail there, before they are split."""
    start = ""
    for segment in row:
        if segment is None or not isinstance(segment[0], str):
            break
        start += segment[0]
        if len(segment) > 1:
            return start
        start += "/"
    return start.removesuffix("/")


def fits(pieces: Segment, name: str) -> bool:
    """Return whether a name fits a segment."""
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


def spelled(literal: str) -> str:
    """Return literal text as a parsed URL would spell it."""
    return canonical(quote(literal, safe=_AS_IS, errors="surrogatepass"))


def _read(part: str) -> Segment:
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
            while end + 1 < len(part) and part[end + 1] not in WILD:
                end += 1
            yield [frozenset(character) for character in spelled(part[at : end + 1])]
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


def _piece(row: list[_Set]) -> Piece:
    if all(len(one) == 1 for one in row):
        return "".join(character for one in row for character in one)
    return tuple(row)


def _stands_at(piece: Piece, name: str, at: int) -> bool:
    if isinstance(piece, str):
        return name.startswith(piece, at)
    return all(map(frozenset.__contains__, piece, name[at : at + len(piece)]))


def _find(piece: Piece, name: str, at: int, end: int) -> int:
    if isinstance(piece, str):
        return name.find(piece, at, end)
    starts = range(at, end - len(piece) + 1)
    return next((start for start in starts if _stands_at(piece, name, start)), -1)


def expand(glob: str, *, stars: bool = True) -> tuple[str, ...]:
    """Write a glob out, its inner `**` too unless `stars` is off.

    `ConfigError` if it is malformed or stands for too many.
    """
    waiting, done = [glob], []
    while waiting:
        choices = _choices(one := waiting.pop(), stars)
        if choices:
            waiting += choices
        else:
            done.append(one)
        if len(waiting) + len(done) > MAX_ALTERNATIVES:
            raise ConfigError(f"has more than {MAX_ALTERNATIVES} alternatives")
    return tuple(done)


def class_end(glob: str, at: int) -> int:
    """Return where the class that opens at `at` closes; its first character is never the end."""
    first = at + 2 if glob[at + 1 : at + 2] in ("!", "^") else at + 1
    end = glob.find("]", first + 1)
    if end < 0:
        raise ConfigError("has a `[` without `]`", hint="write `[[]` for the character itself")
    if "/" in glob[at:end]:
        raise ConfigError("has a `/` between brackets")
    return end


def _choices(glob: str, stars: bool) -> list[str]:
    """Return what the first brace or inner `**` stands for; nothing if there is none."""
    at = 0
    while at < len(glob):
        if glob[at] == "[":
            at = class_end(glob, at)
        elif glob[at] == "{":
            return _brace_choices(glob, at)
        elif glob[at] == "}":
            raise ConfigError("has a `}` without `{`")
        elif stars and glob.startswith("**", at):
            end = at + len(glob[at:]) - len(glob[at:].lstrip("*"))
            if glob[at - 1 : at] not in ("", "/") or glob[end : end + 1] not in ("", "/"):
                return [glob[:at] + choice + glob[end:] for choice in ("*", "*/**/*")]
            at = end - 1
        at += 1
    return []


def _brace_choices(glob: str, start: int) -> list[str]:
    marks, depth, at = [start], 0, start
    while at < len(glob):
        if glob[at] == "[":
            at = class_end(glob, at)
        elif glob[at] == "{":
            depth += 1
        elif glob[at] == "," and depth == 1:
            marks.append(at)
        elif glob[at] == "}":
            depth -= 1
            if depth == 0:
                ends = [*marks[1:], at]
                choices = [glob[a + 1 : b] for a, b in zip(marks, ends, strict=True)]
                return [glob[:start] + choice + glob[at + 1 :] for choice in choices]
        at += 1
    raise ConfigError("has a `{` without `}`", hint="write `[{]` for the character itself")
