"""Decide whether a pattern of the configuration means a URL, in time that its length bounds.

A pattern that starts with `/` is tested on the path, any other on the URL up to its query (C-25);
a pattern that holds `?` is tested on that with the query, too (C-78). `re:` is an RE2 expression
searched in the path, then in path and query. Otherwise:

    *       any run of characters but `/`
    **      any run of characters, `/` included
    ?       one character but `/`
    [a-z0]  one of these; `[!a-z0]` one of the others; `[*]` is how to write `*`, `?`, `[`, `{`
    {a,b}   either; may be nested

`X/**` means `X`, too; a trailing slash of the URL does not count; names with a leading dot are
names (C-23). Without `*`, `?` or class a pattern is that place and everything below it (CFG-20).
At the ends of a whole-URL pattern `*` crosses `/`, so that `*/*logout*` finds `/user/logout/now`.
Upper and lower case differ. Both sides are compared in canonical spelling: `/%6cogout` is
`/logout`, `/가` is `/%EA%B0%80`.

`scope.glob = "minimatch"` reads a glob as minimatch does by default (C-23, SCP-01): `X/**` does
not mean `X`, though it means `X/`; no wildcard means a name with a leading dot, and `**` does not
step over one; `*` is at least one character where it stands alone; a `**` that shares its segment
is a `*`; a pattern without wildcards is that place alone. A trailing slash of the URL does not
count where the pattern is used up. Extended globs such as `@(a|b)` are refused.

No regular expression is built from a glob: `glob_segments.py` matches in bounded time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from geomi.admit.glob_segments import (
    WILD,
    Row,
    Segment,
    expand,
    fits,
    fits_row,
    literal_start,
    read_row,
    spelled,
)
from geomi.errors import ConfigError
from geomi.model.config import GlobStyle
from geomi.url.canonical import canonical
from geomi.url.parse import Url

MAX_PATTERN_CHARS = 1024


@dataclass(frozen=True, slots=True)
class UrlPattern:
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
