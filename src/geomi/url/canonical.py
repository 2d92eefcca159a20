"""Merge hrefs that are the same by the standard, and write a URL for people.

It merges only what RFC 3986 §6.2.2 calls equivalent (C-19): hex digits in upper case, unreserved
characters decoded, everything outside ASCII encoded. A `%` that starts no escape becomes `%25`;
otherwise `%%37e` would turn into another URL when read twice. `admit/normalize.py` merges
what a crawl wants beyond that. A URL in a message or in a file of ours has no user-info, which is
a name and often a password.
"""

from __future__ import annotations

import hashlib
import re
import string
from urllib.parse import quote

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
# Up to the last `@` before a path: a password may hold one. Whatever the scheme is.
_USER_INFO = re.compile(r"//[^/?#\s]*@")


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

    The result is for eyes only. Reserved characters, white space, invisible characters and octets
    that are not UTF-8 stay escaped, and so does an international host name, which can imitate
    another.
    """
    return _ENCODED_LETTERS.sub(lambda found: _readable(found[0]), canonical(href))


def _escape(text: str) -> str:
    return quote(text.encode("utf-8", "surrogatepass"), safe="")


def _readable(escapes: str) -> str:
    try:
        letters = bytes.fromhex(escapes.replace("%", "")).decode()
    except UnicodeDecodeError:
        return escapes
    return "".join(letter if letter.isprintable() else _escape(letter) for letter in letters)


def without_user_info(text: str) -> str:
    """Take out what stands between `//` and `@`: a name, and often its password."""
    return _USER_INFO.sub("//", text)
