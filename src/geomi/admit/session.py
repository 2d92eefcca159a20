"""Decide which parts of a URL name a visitor and not a page (TRP-03).

A server without cookies writes its session into each link, so that one page has endlessly many
URLs. Such a part is not refused: it is left out of the identity, and each page is fetched once,
under the form that was found first. Pages that are taken for one by mistake are lost without a
word, so only two things count: names that nothing but software gives, such as `PHPSESSID`, and
`sid`, `session` and their like where the value is long and surely drawn at random. Any other `sid`
may be a story of a newspaper or a talk of a conference: it stays, and is counted (`shape.py`).
"""

from __future__ import annotations

import re

SURE_NAMES = frozenset({
    "phpsessid", "jsessionid", "asp.net_sessionid", "cfid", "cftoken", "oscsid", "zenid",
    "osc_sid", "xtcsid",
})  # fmt: skip
SURE_START = "aspsessionid"  # ASP adds letters of its own
DOUBTFUL_NAMES = frozenset({"sid", "session", "sessionid", "session_id", "sessid"})
RANDOM_CHARS = 16  # 64 bits in hex; numbers of things and codes of talks are shorter
# How often letters and digits take turns: about 7 times in 16 random hex digits, but 3 times in
# `keynote2024part2` and once in `a000000000000001`.
RANDOM_TURNS = 4


def is_session(name: str, value: str) -> bool:
    """Tell whether a parameter names a visitor; `name` is in lower case."""
    if name in DOUBTFUL_NAMES:
        return _is_random(value)
    return value != "" and (name in SURE_NAMES or name.startswith(SURE_START))


def is_doubtful(name: str) -> bool:
    """Tell whether a parameter may name a visitor, so that only its pages can tell."""
    return name in DOUBTFUL_NAMES


def without_session(path: str) -> str:
    """Leave out every `;jsessionid=…` of Java servers and `/(S(…))` of ASP.NET."""
    if ";" not in path and "/(" not in path:
        return path
    # In this order: a name may be nothing but a session once its own is gone.
    return _ASP_NET.sub("", _JAVA.sub(_kept, path))


_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.ASCII | re.IGNORECASE)
_RUN = re.compile(r"[a-zA-Z]+|[0-9]+", re.ASCII)
# What base64 has besides letters and digits, escaped or not; between words it makes a slug.
_MARKS = re.compile(r"%[0-9A-F]{2}|[-_+/=.,~]", re.ASCII | re.IGNORECASE)
# Names and values end at `/` and `;`, so each place is tried once. What follows a mere `.` or `..`
# stays: without it they would lead upwards.
_JAVA = re.compile(r"(?<!/\.)(?<!/\.\.);([\w.]{1,32})=([^/;]*)", re.ASCII)
_ASP_NET = re.compile(r"/\((?:[A-Z]\([\w-]{1,128}\)){1,4}\)(?=/|\Z)", re.ASCII)


def _is_random(value: str) -> bool:
    if len(value) < RANDOM_CHARS:
        return False
    parts = _MARKS.split(value)
    return any(map(_is_random_part, parts)) or _UUID.fullmatch(value) is not None


def _is_random_part(part: str) -> bool:
    if len(part) < RANDOM_CHARS or not part.isalnum():
        return False
    return len(_RUN.findall(part)) > RANDOM_TURNS


def _kept(found: re.Match[str]) -> str:
    return "" if is_session(found[1].lower(), found[2]) else found[0]
