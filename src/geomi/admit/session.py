"""Decide which parts of a URL name a visitor and not a page (TRP-03).

A server without cookies writes its session into each link, so that one page has endlessly many
URLs. Such a part is not refused: it is left out of the identity, and each page is fetched once,
under the form that was found first. `PHPSESSID` and its like are always sessions. `sid` and
`session` may be a story of a newspaper or a talk of a conference: they are sessions only where the
value looks drawn at random; the others are counted (`shape.py`).
"""

from __future__ import annotations

import re

SURE_NAMES = frozenset({
    "phpsessid", "jsessionid", "sessionid", "session_id", "sessid", "asp.net_sessionid", "cfid",
    "cftoken", "oscsid", "zenid", "osc_sid", "xtcsid",
})  # fmt: skip
SURE_START = "aspsessionid"  # ASP adds letters of its own
DOUBTFUL_NAMES = frozenset({"sid", "session"})
RANDOM_CHARS = 8  # shorter values are what people and counters write: `?session=12`, `DEV301`


def is_session(name: str, value: str) -> bool:
    """Tell whether a parameter names a visitor; `name` is in lower case."""
    if name in DOUBTFUL_NAMES:
        return _looks_random(value)
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
# Names and values end at `/` and `;`, so each place is tried once. What follows a mere `.` or `..`
# stays: without it they would lead upwards.
_JAVA = re.compile(r"(?<!/\.)(?<!/\.\.);([\w.]{1,32})=([^/;]*)", re.ASCII)
_ASP_NET = re.compile(r"/\((?:[A-Z]\([\w-]{1,128}\)){1,4}\)(?=/|\Z)", re.ASCII)


def _looks_random(value: str) -> bool:
    if len(value) < RANDOM_CHARS:
        return False
    if not value.isalnum():
        return _UUID.fullmatch(value) is not None
    return not value.isalpha() and not value.isdigit()


def _kept(found: re.Match[str]) -> str:
    return "" if is_session(found[1].lower(), found[2]) else found[0]
