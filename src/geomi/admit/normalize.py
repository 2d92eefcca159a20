"""Compute the `url_key` of a URL: URLs with the same key are the same page for a crawl.

The key decides identity only; geomi requests the URL as it was found (C-15…C-22). Besides what
`url.parse.canonical` merges, it drops query parameters by the job's policy, sessions, repeated
slashes and a trailing slash. If the rules say so, it also drops the difference between http and
https and a leading `www.`. It keeps the order of the parameters, because a server may need it. The
key is a URL and its own key, so that a job may also fetch it (`url.fetch_form`).

A session parameter names a visitor, not a page (TRP-03). A server without cookies writes one into
each link, so that one page has endlessly many URLs. Pages that are merged by mistake are lost
without notice. So only two kinds count: names that only software gives, such as `PHPSESSID`, and
names such as `sid` or `session` if the value is long and surely random. Any other `sid` may be the
story id of a newspaper: it stays, and `url_pattern.py` counts it. A job may take every value for
a session's (`url.session_values`), as seed 004 §4.2 does.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import assert_never

from geomi.model.config import QueryPolicy, SessionValues, UrlRules
from geomi.url.host import registrable_domain
from geomi.url.parse import DEFAULT_PORTS, Url, canonical

_SLASHES = re.compile("/{2,}")
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
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.ASCII | re.IGNORECASE)
_RUN = re.compile(r"[a-zA-Z]+|[0-9]+", re.ASCII)
# What base64 has besides letters and digits, escaped or not; between words it makes a slug.
_MARKS = re.compile(r"%[0-9A-F]{2}|[-_+/=.,~]", re.ASCII | re.IGNORECASE)
# Names and values end at `/` and `;`, so each place is tried once. What follows a mere `.` or `..`
# stays: without it they would lead upwards.
_JAVA = re.compile(r"(?<!/\.)(?<!/\.\.);([\w.]{1,32})=([^/;]*)", re.ASCII)
_ASP_NET = re.compile(r"/\((?:[A-Z]\([\w-]{1,128}\)){1,4}\)(?=/|\Z)", re.ASCII)


def identity(url: Url, rules: UrlRules) -> str:
    """Return the `url_key` of a URL under these rules."""
    scheme = "https" if rules.force_https else url.scheme
    host = _without_www(url.host) if rules.strip_www else url.host
    if url.port not in (DEFAULT_PORTS[url.scheme], DEFAULT_PORTS[scheme]):
        host = f"{host}:{url.port}"
    path = canonical(url.path)
    if rules.strip_session:
        path = without_session(path)
    if "//" in path:
        path = _SLASHES.sub("/", path)
    path = path.rstrip("/") or "/"
    query = _kept(canonical(url.query), rules) if url.query else ""
    if query and rules.strip_session:
        query = _without_visitors(query, rules.session_values)
    return f"{scheme}://{host}{path}?{query}" if query else f"{scheme}://{host}{path}"


@lru_cache(maxsize=65_536)
def _without_www(host: str) -> str:
    """Strip `www.` as often as it stands there, but never down to a public suffix (C-16)."""
    while host.startswith("www.") and registrable_domain(host) != host.removesuffix("."):
        host = host[4:]
    return host


def _kept(query: str, rules: UrlRules) -> str:
    match rules.query:
        case QueryPolicy.KEEP:
            return query
        case QueryPolicy.STRIP_ALL:
            return ""
        case QueryPolicy.STRIP_TRACKING:
            names, prefixes = _tracking(rules.tracking)
            return "&".join(
                parameter
                for parameter in query.split("&")
                if (name := parameter.partition("=")[0].lower()) not in names
                and not name.startswith(prefixes)
            )
        case _ as unknown:
            assert_never(unknown)


@lru_cache(maxsize=64)
def _tracking(patterns: tuple[str, ...]) -> tuple[frozenset[str], tuple[str, ...]]:
    """Tell whole names from prefixes (`utm_*`), in lower case: trackers write both."""
    lowered = [pattern.lower() for pattern in patterns]
    names = frozenset(pattern for pattern in lowered if not pattern.endswith("*"))
    return names, tuple(pattern[:-1] for pattern in lowered if pattern.endswith("*"))


def _without_visitors(query: str, values: SessionValues) -> str:
    """Leave out the parameters that name a visitor."""
    named = ((one, *one.partition("=")[::2]) for one in query.split("&"))
    return "&".join(
        one
        for one, name, value in named
        if not is_session(name.lower(), value)
        and not (values is SessionValues.ANY and value and is_doubtful(name.lower()))
    )


def is_session(name: str, value: str) -> bool:
    """Return whether a parameter names a visitor; `name` is in lower case."""
    if name in DOUBTFUL_NAMES:
        return _is_random(value)
    return value != "" and (name in SURE_NAMES or name.startswith(SURE_START))


def is_doubtful(name: str) -> bool:
    """Return whether a parameter may name a visitor, so that only its pages can tell."""
    return name in DOUBTFUL_NAMES


def without_session(path: str) -> str:
    """Leave out every `;jsessionid=…` of Java servers and `/(S(…))` of ASP.NET."""
    if ";" not in path and "/(" not in path:
        return path
    # In this order: a name may be nothing but a session once its own is gone.
    return _ASP_NET.sub("", _JAVA.sub(_without_java_session, path))


def _is_random(value: str) -> bool:
    if len(value) < RANDOM_CHARS:
        return False
    parts = _MARKS.split(value)
    return any(map(_is_random_part, parts)) or _UUID.fullmatch(value) is not None


def _is_random_part(part: str) -> bool:
    if len(part) < RANDOM_CHARS or not part.isalnum():
        return False
    return len(_RUN.findall(part)) > RANDOM_TURNS


def _without_java_session(found: re.Match[str]) -> str:
    return "" if is_session(found[1].lower(), found[2]) else found[0]
