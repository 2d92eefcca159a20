r"""Find e-mail addresses in a text, also encoded, escaped or disguised ones.

Rules kept:
- An address is `local@domain` with a top-level domain of letters. The sign may be wide (`＠`) or
  encoded as in URLs (`%40`); markdown may have escaped a letter (`first\_last@…`); characters that
  cannot be seen may stand between.
- `name [at] example.com`, `name (at) example (dot) com` and `name at example dot com` are addresses
  written for people; `name at example.com` is not, because "meet us at example.com" is none.
- Look-alikes do not count: `logo@2x.png`, `pkg@1.2.3`, `git@host.org:path`,
  `https://user:word@host`, `@name@server`, `@decorator`.
- The search starts at each such sign, of which most pages have few, and reads a bounded window.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterator

from geomi.model.personal_data import PiiKind, Sighting

MAX_LOCAL_CHARS = 64  # RFC 5321 §4.5.3.1.1
MAX_LABELS = 8
MAX_USER_CHARS = 64  # of a URL's `//user:word@`
GAP_CHARS = 5  # between a name and the word that stands for the sign: ` \[ `


def addresses(text: str) -> Iterator[Sighting]:
    """Yield the addresses of a text, form by form."""
    for sign, pattern in _SIGNED.items():
        if sign[0] in text and sign in text:
            yield from _signed(text, pattern)
    for word, pattern in _BRACKETED.items():
        if word[0] in text:
            yield from _bracketed(text, pattern)
    if " dot " in text or " DOT " in text:
        yield from _worded(text, _IN_WORDS)
    if " 골뱅이 " in text:
        yield from _worded(text, _IN_KOREAN)


def _signed(text: str, pattern: re.Pattern[str]) -> Iterator[Sighting]:
    for found in pattern.finditer(text):
        start = _local_start(text, found.start())
        if start is not None and _is_address(text, start, found):
            yield Sighting(start, found.end(), PiiKind.EMAIL)


def _local_start(text: str, sign_at: int) -> int | None:
    """Return where the part before a sign begins; None where there is none."""
    before = text[max(0, sign_at - MAX_LOCAL_CHARS) : sign_at]
    local = before[len(before.rstrip(_LOCAL)) :]
    if not local and before[-1:].isalpha():  # in another script
        local = _OTHER_SCRIPT.search(before)[0]  # type: ignore[index]  # the last letter is one
    if "%" in local:
        local = _ENCODED.sub("", local)
    name = local.lstrip(_NOT_FIRST)
    return sign_at - len(name) if name else None


def _is_address(text: str, start: int, found: re.Match[str]) -> bool:
    rest, _, top = found["domain"].rpartition(".")
    if _VERSION.match(rest):
        return False
    # `/users/jane@example.com.json` is the file of an address.
    if top.lower() in _FILES and rest.rpartition(".")[2].lower() not in _COMMON:
        return False
    if text[max(0, start - 1) : start] in ("@", "＠"):  # the handle of a network: @name@server
        return False
    before = text[max(0, start - MAX_USER_CHARS) : start]
    is_of_url = before.endswith("//") or _USER_OF_URL.search(before) is not None
    return not (is_of_url or _REMOTE_PATH.match(text, found.end()))


def _bracketed(text: str, pattern: re.Pattern[str]) -> Iterator[Sighting]:
    """Yield addresses whose sign is a word in brackets; each search begins with plain letters."""
    for found in pattern.finditer(text):
        end = _name_end(text[max(0, found.start() - GAP_CHARS) : found.start()])
        domain = _SPELLED.match(text, found.end())
        if end is None or domain is None:
            continue
        start = _local_start(text, found.start() - end)
        if start is not None:
            yield Sighting(start, domain.end(), PiiKind.EMAIL)


def _name_end(before: str) -> int | None:
    """Return how far before the word a name ends, whose bracket markdown may have escaped.

    None where no bracket opens.
    """
    opened = before.rstrip(" ")
    if opened[-1:] not in _OPENING:
        return None
    return len(before) - len(opened[:-1].removesuffix("\\").rstrip())


def _worded(text: str, pattern: re.Pattern[str]) -> Iterator[Sighting]:
    """Yield addresses in plain words; only well-known endings tell them from prose."""
    for found in pattern.finditer(text):
        start = _local_start(text, found.start())
        if start is not None and found["top"].lower() in _COMMON:
            yield Sighting(start, found.end(), PiiKind.EMAIL)


# Endings of file names that are no top-level domains: `icon@2x.png` is a picture.
_FILES = frozenset(
    "avif bmp cjs class css csv eot exe gif htm html ico ini jar jpeg jpg js json jsx less lock "
    "log map mjs pdf php png scss svg tgz tiff toml ts tsx ttf txt wasm webp woff xml yaml "
    "yml".split()
)
_COMMON = frozenset("biz ca co com de dev edu gov info io jp kr me net org uk us".split())

_UNSEEN = "\u200b\u200c\u200d\u2060\ufeff\u00ad"
_NOT_FIRST = ".'%+-\\" + _UNSEEN
_LOCAL = (
    string.ascii_letters
    + string.digits
    + "._%+'\\-"
    + "".join(map(chr, range(0xC0, 0x250)))  # Latin letters with accents
    + _UNSEEN
)
_OTHER_SCRIPT = re.compile(rf"[\w.+-]{{1,{MAX_LOCAL_CHARS}}}\Z")
_LABEL = rf"[^\W_][\w\\{_UNSEEN}-]{{0,62}}+"
# In Korean the next word follows at once (`kim@example.com으로`), so letters are not mixed.
_TOP = r"(?:xn--[A-Za-z0-9-]{2,20}|[A-Za-z]{2,24}(?![A-Za-z0-9_])|[^\W\d_A-Za-z]{2,12})"
_DOMAIN = rf"[{_UNSEEN}]{{0,3}}(?P<domain>(?:{_LABEL}(?:[.．]|%2[eE])){{1,{MAX_LABELS}}}{_TOP})"
_SIGNED = {sign: re.compile(sign + _DOMAIN) for sign in ("@", "＠", "%40", "%2540")}
# What an encoded URL has before an address: everything up to a sign that no address has.
_ENCODED = re.compile(r".*%(?!2[BbDdEe]|5[Ff])[0-9A-Fa-f]{2}")
_VERSION = re.compile(r"v?\d{1,5}\.\d|\dx(?:\.|\Z)")  # `pkg@1.2.3`, `icon@2x.min.png`
_USER_OF_URL = re.compile(r"://[^\s/@]{0,64}\Z")
_REMOTE_PATH = re.compile(r":[A-Za-z/~]")

_OPENING = tuple("[({<")
_CLOSE = r"\s?\\?[\])}>]\s{0,2}"
_BRACKETED = {word: re.compile(word + _CLOSE) for word in ("at", "AT", "@", "＠", "골뱅이")}
_DOT = rf"(?:\.|\s{{0,2}}\\?[\[({{<]\s?(?:dot|DOT|Dot|점|\.){_CLOSE}|\s(?:dot|DOT)\s)"
_SPELLED = re.compile(
    rf"[A-Za-z0-9][A-Za-z0-9-]{{0,62}}+(?:{_DOT}[A-Za-z0-9-]{{1,63}}+){{0,3}}"
    rf"{_DOT}(?P<top>[A-Za-z]{{2,24}})(?![A-Za-z0-9])"
)
_IN_WORDS = re.compile(
    r" (?:at|AT) (?:[A-Za-z0-9-]{1,63}+ (?:dot|DOT) ){1,3}(?P<top>[A-Za-z]{2,24})\b"
)
_IN_KOREAN = re.compile(
    r" 골뱅이 (?:[A-Za-z0-9-]{1,63}+\.){1,3}(?P<top>[A-Za-z]{2,24})(?![A-Za-z0-9])"
)
