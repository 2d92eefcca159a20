"""Parse a text as a URL, by the WHATWG standard, and spell it; every other module does so here.

Rules kept:
- Only `http` and `https` are URLs; user-info and fragment are dropped; text that does not parse is
  None, never an exception (C-20). Nothing else changes: geomi sends the `href` of a `Url`.
- `canonical` merges only what RFC 3986 §6.2.2 calls equivalent (C-19): hex digits in upper case,
  unreserved characters decoded, everything outside ASCII encoded. A `%` that starts no escape
  becomes `%25`; otherwise `%%37e` would turn into another URL when read twice. What a crawl merges
  beyond that is in `admit/normalize.py`.
- A URL in a message or in a file of ours has no user-info, which is a name and often a password.

Cost: `ada_url.join_url` (1.8 µs) is the cheapest way to an href; each component of an `ada_url.URL`
costs 1.3 µs more, so a parsed href is taken apart as text, which its fixed form allows.
"""

from __future__ import annotations

import hashlib
import re
import string
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import quote

import ada_url

MAX_TEXT_CHARS = 65_536  # the largest `max_url_chars` a job can ask for; longer text is no URL
DEFAULT_PORTS = {"http": 80, "https": 443}
_UNRESERVED = frozenset(string.ascii_letters + string.digits + "-._~")
# How every escape is spelled, and a `%` that starts none.
_SPELLINGS = {"%": "%25"} | {
    f"%{a}{b}": letter if (letter := chr(int(a + b, 16))) in _UNRESERVED else f"%{a}{b}".upper()
    for a in string.hexdigits
    for b in string.hexdigits
}
_ESCAPE = re.compile("%(?:[0-9A-Fa-f]{2})?")
_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]+")
_ENCODED_LETTERS = re.compile("(?:%[89A-F][0-9A-F])+")
_URL_IN_TEXT = re.compile(r"https?://[^\s`'\"<>]+")
# Letters that nobody sees, and those that look like a delimiter of a URL, a percent sign included.
_MISLEADING = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0\u2044\u2215\u29f8\uff03\uff05\uff06\uff0f\uff1d\uff1f\uff20"
)
# Up to the last `@` before a path: a password may hold one. Whatever the scheme is.
_USER_INFO = re.compile(r"//[^/?#\s]*@")


@dataclass(frozen=True, slots=True)
class Url:
    """One absolute http(s) URL without user-info and fragment.

    Args:
        host: lower-case ASCII, without port; IPv6 in brackets.
        port: the effective port.
        query: without its `?`; empty if there is none.
    """

    href: str
    scheme: str
    host: str
    port: int
    path: str
    query: str

    @property
    def authority(self) -> str:
        """Return `host:port`, the frontier's host key."""
        return f"{self.host}:{self.port}"

    @property
    def target(self) -> str:
        """Return path and query, as a request line and robots.txt see them (RFC 9309 §2.2.2).

        It is cut from the href, because `/a?` is not `/a` to a server or to a rule that names `?`.
        """
        return self.href[self.href.index("/", _HOST_AT) :]


def parse(text: str, base: str | None = None) -> Url | None:
    """Parse text, relative to `base` if given; None if it is not an http(s) URL."""
    found = href(text, base)
    if found is None or not found.startswith(_WEB):
        return None
    return split(_without_extras(found))


def href(text: str, base: str | None = None) -> str | None:
    """Return the WHATWG href of a URL of any scheme, fragment and user-info kept."""
    if len(text) > MAX_TEXT_CHARS:
        return None
    try:
        return ada_url.normalize_url(text) if base is None else ada_url.join_url(base, text)
    except ValueError:
        return None


def absolute(hrefs: Sequence[str], base: str) -> list[str | None]:
    """Turn the raw hrefs of one page into absolute http(s) hrefs, None where one leads nowhere.

    An empty href, a mere fragment and other schemes lead nowhere (URL-01, URL-02, LNK-04).
    """
    resolve = _resolver(base)
    return [resolve(raw) for raw in hrefs]


def split(href: str) -> Url:
    """Take apart an href that `absolute` or `Url.href` gave; other text needs `parse`."""
    scheme, _, rest = href.partition("://")
    authority, _, tail = rest.partition("/")
    path, _, query = tail.partition("?")
    port = DEFAULT_PORTS.get(scheme, 0)
    if ":" in authority and authority[-1] != "]":
        authority, _, digits = authority.rpartition(":")
        port = int(digits)
    return Url(href, scheme, authority, port, "/" + path, query)


_WEB = ("https://", "http://")
_HOST_AT = len("https://")  # no host is empty, so the path's slash of an http URL is not before it
_LEADS_NOWHERE = ("javascript:", "mailto:", "tel:", "data:")
_EDGES = "".join(map(chr, range(0x21)))  # WHATWG strips C0 controls and spaces, nothing else

# A reference that the standard copies as it stands, so that most links of a page need no parser: no
# escapes or backslashes in the path, no white space, nothing like a scheme in a relative one. Its
# parts are origin and path, or steps upwards and path; a dot segment is left to the parser.
_HOST_CHARS = 300  # names have at most 253; a longer one is left to the parser and not remembered
_QUERY = r"(?:\?[\w~!$&()*+,;=:@./?%-]*)?"
_PLAIN = re.compile(
    rf"(?:(https?://[\w.:-]{{1,{_HOST_CHARS}}})?(/(?!/)[\w~!$&()*+,;=:@./-]*{_QUERY})"
    rf"|((?:\.\./)*)([\w~-][\w~!$&()*+,;=@./-]*{_QUERY}))(?:#|\Z)",
    re.ASCII,
)
_STEP_UP = len("../")


@lru_cache(maxsize=8)
def _resolver(base: str) -> Callable[[str], str | None]:
    """Prepare resolution against one page, whose links, images and canonical are asked in turn."""
    page = parse(base)
    if page is None:
        return lambda _: None
    origin = page.href.removesuffix(page.target)
    folders = _folders(origin, page.path)

    def resolve(raw: str) -> str | None:
        plain = _PLAIN.match(raw)
        if plain is None or len(raw) > MAX_TEXT_CHARS:
            return _resolve_slowly(raw, page.href)
        foreign, rooted, upwards, named = plain.groups()
        if named is not None:
            prefix, path = folders[min(len(upwards) // _STEP_UP, len(folders) - 1)], named
        else:
            prefix, path = foreign or origin, rooted
        if "/." in path or (foreign is not None and not _is_origin(foreign)):
            return _resolve_slowly(raw, page.href)
        return prefix + path

    return resolve


def _folders(origin: str, path: str) -> list[str]:
    """Return the folder of a page and the ones above it, up to the root."""
    names = path.split("/")[1:-1]
    return [
        f"{origin}/{''.join(f'{name}/' for name in names[:size])}"
        for size in range(len(names), -1, -1)
    ]


@lru_cache(maxsize=4096)
def _is_origin(text: str) -> bool:
    """Whether an origin is written as the parser would write it; a crawl meets few and often."""
    return href(text + "/") == text + "/" and "@" not in text


def _resolve_slowly(raw: str, base: str) -> str | None:
    text = raw.strip(_EDGES)
    if not text or text[0] == "#" or text[:11].lower().startswith(_LEADS_NOWHERE):
        return None
    found = href(text, base)
    return _without_extras(found) if found is not None and found.startswith(_WEB) else None


def _without_extras(href: str) -> str:
    """Drop fragment and user-info; in a parsed href a raw `#` or authority `@` is nothing else."""
    href = href.partition("#")[0]
    if "@" not in href:
        return href
    scheme, _, rest = href.partition("://")
    authority, slash, tail = rest.partition("/")
    return f"{scheme}://{authority.rpartition('@')[2]}{slash}{tail}"


def canonical(text: str) -> str:
    """Return the canonical spelling of a parsed href or a part of one; twice is once."""
    if not text.isascii():
        text = _BEYOND_ASCII.sub(lambda found: _escape(found[0]), text)
    if "%" not in text:
        return text
    return _ESCAPE.sub(lambda found: _SPELLINGS[found[0]], text)


def url_hash(key: str) -> bytes:
    """Return the 16 bytes that name a URL in the stores (URL-18)."""
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).digest()[:16]


def display(href: str) -> str:
    """Decode an href for people: letters become readable, what could mislead stays encoded.

    The result is for eyes only. Reserved characters and what looks like them, white space, octets
    that are not UTF-8 and invisible characters stay escaped, and so does an international host
    name, which can imitate another.
    """
    return _ENCODED_LETTERS.sub(lambda found: _readable(found[0]), canonical(href))


def displayed(text: str) -> str:
    """Return a text for people with every URL in it as `display` shows it."""
    return _URL_IN_TEXT.sub(lambda found: display(found[0]), text) if "://" in text else text


def without_user_info(text: str) -> str:
    """Take out what stands between `//` and `@`: a name, and often its password."""
    return _USER_INFO.sub("//", text)


def _escape(text: str) -> str:
    return quote(text.encode("utf-8", "surrogatepass"), safe="")


def _readable(escapes: str) -> str:
    try:
        letters = bytes.fromhex(escapes.replace("%", "")).decode()
    except UnicodeDecodeError:
        return escapes
    return "".join(_escape(letter) if _misleads(letter) else letter for letter in letters)


def _misleads(letter: str) -> bool:
    return not letter.isprintable() or letter in _MISLEADING
