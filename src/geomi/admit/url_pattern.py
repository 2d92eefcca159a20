"""Name the pattern of a URL that may be part of a trap, and mark texts so that copies are counted.

A pattern is `kind:template`, where dates, page numbers and other numbers are masked:

    calendar:/events/{date}       /events/2024/01/31, ?date=2024-01-31, ?year=2024&month=1
    dated:/{date}/some-title      a date with a name behind it
    pagination:/list/page/{n}     /page/2, ?page=2, ?offset=20, ?cursor=…
    session:/talk?id=7&sid        `sid` and `session` that do not look like a session by themselves
    parameters:/shop?*            two or more free parameters, whichever they are (G-06), or one
    identifiers:/view?id&lang     some parameters of which one names a thing; /p/12
    path:/*                       a name that stands in the path twice
    long:/first/*                 a long path
    numbers:/item/{n}             numbers and hashes in the path

Five kinds (`SpaceKind`) show only beside other URLs (`engine/visit/lineage.py`):

    copies:/*                     found on pages that told nothing new
    branch:/first/page            found on pages that only lead to new ones, from this page on
    deep:/*                       found far from the start URLs, where pages still lead to more
    facets:/*                     made of names that other URLs had before
    variants:/*                   another spelling of a known URL

Nearly all patterns are harmless: a pattern is not a verdict. `trap.py` decides by what the visits
brought. An ordinary URL has no pattern, and costs about a microsecond.

Pages of a trap differ where their URLs differ: in the day, the number or the filter. So the mark of
a text leaves out digits, punctuation, white space and the words of the URL itself, and for
calendars the names of months and days. Two texts with the same mark have the same content.
"""

from __future__ import annotations

import hashlib
import re
import string
import unicodedata
from collections.abc import Iterable
from enum import StrEnum
from urllib.parse import unquote

from geomi.admit.normalize import is_doubtful
from geomi.url.parse import Url, split

MAX_PATTERN_CHARS = 200
MAX_PARAMETERS = 16  # what is read of a query; more than 8 are a trap of their own
LONG_PATH_CHARS = 100  # a path that grows by a letter gets there with half of 200 fetches left
# Kinds that list things instead of being one: a link into one of them is no new place.
ENDLESS = frozenset({"calendar", "pagination", "session", "parameters", "path"})
_PAGE_NAMES = frozenset({
    "page", "pg", "paged", "pageno", "page_no", "pagenum", "pagenumber", "page_number",
    "pageindex", "offset", "start", "skip", "from",
})  # fmt: skip
_CURSOR_NAMES = frozenset({"cursor", "after", "before", "continue", "page_token", "pagetoken"})
_SIZE_NAMES = frozenset({"limit", "per_page", "perpage", "pagesize", "page_size"})
_DATE_NAMES = frozenset({"year", "month", "week", "day"})
_ID_NAMES = frozenset({
    "p", "t", "f", "title", "article", "post", "topic", "item", "product", "node",
})  # fmt: skip
_MONTH = "(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}"
_MM, _DD = "(?:0[1-9]|1[0-2])", "(?:0[1-9]|[12][0-9]|3[01])"
# A year and a month with its zero, or all three parts: `/rfc/2119/6` is no date.
_DATE = (
    rf"[12]\d{{3}}(?:/{_MM}(?:/\d\d?)?|-{_MM}(?:-\d\d?)?|_{_MM}(?:_\d\d?)?|{_MM}{_DD}|[/-]?w\d\d"
    rf"|[/-]{_MONTH}(?:[/-]\d\d?)?)"
    r"|(?:19|20)\d\d(?:/\d\d?/\d\d?|-\d\d?-\d\d?)"
    r"|\d\d?(?:-\d\d?-|/\d\d?/|\.\d\d?\.)(?:19|20)\d\d"
)
# Each alternative begins at a slash and has a length that is bounded.
_PARTS = re.compile(
    rf"/(?:(?P<calendar>{_DATE})"
    r"|(?P<pagination>(?:page|seite|pagina)[/_-]?\d{1,9})"
    r"|(?P<identifiers>p/\d{1,9})"
    r"|(?P<numbers>(?:[a-z]{1,20}[_-])?\d{1,20})"
    r"|(?P<hash>[0-9a-f]{16,64}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}))(?=[/.]|\Z)",
    re.ASCII | re.IGNORECASE,
)
_DATE_VALUE = re.compile(rf"(?:{_DATE}|[12]\d{{3}}-\d\d?)(?:[T+%].*)?\Z", re.ASCII | re.IGNORECASE)
_DIGIT = re.compile(r"\d", re.ASCII)
_NUMBER = re.compile(r"\d+", re.ASCII)
_ENDS_MASKED = re.compile(r"\}(?:\.[a-z]{1,5})?/?\Z", re.ASCII)
_SPELLED = re.compile(
    r";[^/]*|(?:/(?:index|default))?(?:\.(?:[xs]?html?|php\d?|aspx?|jspx?|cgi|do|cfm))?\Z", re.ASCII
)
_BETWEEN_NAMES = re.compile(r"[/?&=;+,]")
MAX_NAMES = 32
MARK_BYTES = 8
MAX_TEXT_CHARS = 100_000  # what is read of a text
MAX_PARTS = 8  # of the URL
MIN_PART_CHARS = 2  # a single letter says nothing about the URL
_UNTOLD = (string.digits + string.punctuation).encode()
_BLANKS = string.whitespace.encode()
_DAYS = frozenset(
    word.encode()
    for word in (
        "january february march april may june july august september october november december "
        "jan feb mar apr jun jul aug sep sept oct nov dec st nd rd th "
        "monday tuesday wednesday thursday friday saturday sunday mon tue wed thu fri sat sun "
        "월요일 화요일 수요일 목요일 금요일 토요일 일요일 월 화 수 목 금 토 일 년 "
        "月曜日 火曜日 水曜日 木曜日 金曜日 土曜日 日曜日"
    ).split()
)


def pattern_of(url: Url) -> str:
    """Return the pattern of a URL; empty for an ordinary one."""
    if url.query:
        return _of_query(url.path, url.query)[:MAX_PATTERN_CHARS]
    kind, template = _of_path(url.path)
    return f"{kind}:{template}"[:MAX_PATTERN_CHARS] if kind else ""


def kind_of(pattern: str) -> str:
    """Return the kind of a pattern."""
    return pattern.partition(":")[0]


class SpaceKind(StrEnum):
    """The spaces that a URL does not show by itself."""

    COPIES = "copies"
    BRANCH = "branch"
    DEEP = "deep"
    FACETS = "facets"
    VARIANTS = "variants"


FOUND_KINDS = frozenset(SpaceKind)


def branch_of(url: str) -> str:
    """Name the branch that begins with what a page leads to."""
    return f"{SpaceKind.BRANCH}:{split(url).target}"[:MAX_PATTERN_CHARS]


def loose_key(url: Url) -> str:
    """Return what URLs have in common that differ in spelling alone.

    Letter case, composed letters, endings of pages, matrix parameters, and the order of a query.
    """
    path = unicodedata.normalize("NFKC", unquote(url.path)).casefold()
    path = _SPELLED.sub("", path.rstrip("/"))
    query = "&".join(sorted(unquote(url.query).casefold().split("&", MAX_PARAMETERS)))
    return f"{url.authority}{path}?{query}"


def names(url: Url) -> list[str]:
    """Return the names that a URL is made of, from left to right."""
    return [name for name in _BETWEEN_NAMES.split(url.target, MAX_NAMES)[:MAX_NAMES] if name]


def _of_path(path: str) -> tuple[str, str]:
    """Return kind and template of a path; the most telling part names the kind."""
    template, kinds, is_open = path, set[str | None](), False
    if _DIGIT.search(path) is not None:
        template = _PARTS.sub(_mask, path)
        kinds = {found.lastgroup for found in _PARTS.finditer(path)} if template != path else kinds
        is_open = _ENDS_MASKED.search(template) is not None
    if "calendar" in kinds:
        return ("calendar" if is_open else "dated"), template
    if "pagination" in kinds and is_open:
        return "pagination", template
    kind, growing = _growing(path)
    if kind:
        return kind, growing
    if "identifiers" in kinds and is_open:
        return "identifiers", template
    return ("numbers" if kinds else ""), template


def _mask(found: re.Match[str]) -> str:
    match found.lastgroup:
        case "calendar":
            return "/{date}"
        case "hash":
            return "/{n}"
        case _:
            return _NUMBER.sub("{n}", found[0])


def _growing(path: str) -> tuple[str, str]:
    """Recognise a path that may go on for ever: a name comes again, or it is long already."""
    names = path.strip("/").split("/")
    if len(path) > LONG_PATH_CHARS:
        return "long", f"/{names[0]}/*" if len(names) > 1 else "/*"
    if len(set(names)) == len(names):
        return "", ""
    words = [name for name in names if name and not name.isdigit()]
    return ("path", "/*") if len(set(words)) < len(words) else ("", "")


def _of_query(path: str, query: str) -> str:
    kind, template = _of_path(path)
    parameters = [one.partition("=") for one in query.split("&", MAX_PARAMETERS)[:MAX_PARAMETERS]]
    roles = [_role(name.lower(), value) for name, _, value in parameters]
    names = "&".join(sorted({_shown(name) for name, _, _ in parameters}))
    free = roles.count("free")
    if kind == "calendar" or "date" in roles:
        return f"calendar:{template}?{names}"
    if (kind == "pagination" or "page" in roles) and not free:
        return f"pagination:{template}?{names}"
    if "session" in roles and "page" not in roles:
        return f"session:{path}?{'&'.join(_without_values(parameters, roles))}"
    if "id" in roles:
        return f"identifiers:{template}?{names}"
    return f"parameters:{template}?{'*' if free > 1 else names}"


def _role(name: str, value: str) -> str:
    """Say what a parameter seems to be for."""
    if is_doubtful(name):
        return "session"
    is_number = value.isdigit()
    if (is_number and name in _DATE_NAMES) or (value[:1].isdigit() and _DATE_VALUE.match(value)):
        return "date"
    if (is_number and name in _PAGE_NAMES) or (value and name in _CURSOR_NAMES):
        return "page"
    if name in _SIZE_NAMES:
        return "size"
    return "id" if name.endswith("id") or name in _ID_NAMES else "free"


def _shown(name: str) -> str:
    """Take names with digits for one: a server that makes up names makes up many."""
    return "{n}" if _DIGIT.search(name) is not None else name


def _without_values(parameters: list[tuple[str, str, str]], roles: Iterable[str]) -> Iterable[str]:
    for (name, equals, value), role in zip(parameters, roles, strict=True):
        yield name if role == "session" else f"{name}{equals}{value}"


def text_mark(text: str, url: Url, pattern: str) -> bytes:
    """Return the mark of a page's text."""
    text = text[:MAX_TEXT_CHARS]
    for part in _own_words(url):
        text = text.replace(part, "")
    plain = text.encode("utf-8", "replace").translate(None, _UNTOLD)
    if kind_of(pattern) == "calendar":
        plain = b" ".join(word for word in plain.lower().split() if word not in _DAYS)
    told = plain.translate(None, _BLANKS)
    return hashlib.blake2b(told, digest_size=MARK_BYTES).digest()


def _own_words(url: Url) -> list[str]:
    """Return what a page may repeat of its own URL, the longest first."""
    values = [one.partition("=")[2] for one in url.query.split("&", MAX_PARTS)]
    parts = {url.path, *url.path.split("/")[-MAX_PARTS:], *values[:MAX_PARTS]}
    telling = (part for part in parts if len(part) >= MIN_PART_CHARS and not part.isdigit())
    return sorted(telling, key=lambda part: (-len(part), part))[:MAX_PARTS]
