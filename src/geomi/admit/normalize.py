"""Decide which URLs a crawl takes for one page: a parsed URL becomes its `url_key`.

The key is for identity; what is fetched stays as it was found (C-15…C-22). On top of
`url/canonical.py` the key drops query parameters by the job's policy, sessions, runs of slashes, a
trailing slash, and, where the rules say so, the difference between http and https and a leading
`www.`. The order of the parameters is kept: a server may care. The key is a URL, and its own key is
itself, so that a job may also fetch it (`url.fetch_form`).
"""

from __future__ import annotations

import json
import re
from dataclasses import asdict
from functools import lru_cache
from itertools import filterfalse
from typing import assert_never

from geomi.admit.session import is_session, without_session
from geomi.model.config import QueryPolicy, UrlRules
from geomi.text.digest import sha256_hex
from geomi.url.canonical import canonical
from geomi.url.host import registrable_domain
from geomi.url.parse import DEFAULT_PORTS, Url


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
        query = "&".join(filterfalse(_names_visitor, query.split("&")))
    return f"{scheme}://{host}{path}?{query}" if query else f"{scheme}://{host}{path}"


def digest(rules: UrlRules) -> str:
    """Name a normalisation: keys compare only where this name is the same."""
    return sha256_hex(json.dumps([_ALGORITHM, asdict(rules)], sort_keys=True))[:12]


_ALGORITHM = 3  # raise it with any change of `identity` that gives some URL another key
_SLASHES = re.compile("/{2,}")


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


def _names_visitor(parameter: str) -> bool:
    name, _, value = parameter.partition("=")
    return is_session(name.lower(), value)
