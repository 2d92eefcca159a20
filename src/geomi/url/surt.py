"""Compute the key of a URL in an archive's index, as CDX readers look it up: `com,example)/path`.

pywb and the Wayback machine compute the same key for the URL that a reader requests; otherwise they
would not find the capture (SURT, by the Internet Archive's rules of canonicalisation):
- the host comes first and backwards, without `www.`; scheme, user-info and default port are left
  out, because a page is the same page under each;
- path and query are in lower case, unescaped as often as they can be and then escaped once;
- empty segments, dot segments and a last slash of the path are left out; parameters are sorted;
- session ids of some servers are left out.
"""

from __future__ import annotations

import re
from urllib.parse import quote_from_bytes, unquote_to_bytes

from geomi.url.parse import DEFAULT_PORTS, Url

# `%2525…25` loses one layer a round, so that rounds times length would be quadratic in a URL that
# was made for it; no honest one has more than three.
MAX_UNESCAPES = 10


def surt(url: Url) -> str:
    """Return the key under which an index holds a URL."""
    host = ",".join(reversed(_WWW.sub("", url.host.strip("[]."), count=1).split(".")))
    port = "" if url.port == DEFAULT_PORTS.get(url.scheme) else f":{url.port}"
    query = _query(url.query)
    return f"{host}{port}){_path(url.path)}" + (f"?{query}" if query else "")


_WWW = re.compile(r"\Awww\d*\.")
_AS_IT_IS = "!\"$&'()*+,-./:;<=>?@[\\]^_`{|}~"
# What ASP.NET puts before a page's name, and what other servers put into the query.
_PATH_SESSION = re.compile(r"/\((?:[a-z]\([0-9a-z]{24}\)){1,9}\)(?=/)|/\([0-9a-z]{24}\)(?=/)")
_QUERY_SESSION = re.compile(
    r"(?:jsessionid|phpsessid|sid)=[0-9a-z]{32}\Z|aspsessionid[a-z]{8}=[a-z]{24}\Z"
)
_COLDFUSION = re.compile(r"(?:\A|(?<=&))cfid=[^&]+&cftoken=[^&]+(?:&|\Z)")


def _path(text: str) -> str:
    folders: list[bytes] = []
    for name in _unescaped(text).split(b"/")[1:]:
        if name == b".." and folders:
            folders.pop()
        elif name != b".":
            folders.append(name)
    path = "/" + _escaped(b"/".join(filter(None, folders))).lower()
    return _PATH_SESSION.sub("", path, count=1) if ".aspx" in path else path


def _query(text: str) -> str:
    if not text:
        return ""
    query = _COLDFUSION.sub("", _escaped(_unescaped(text)).lower(), count=1)
    kept = [part for part in query.split("&") if not _QUERY_SESSION.match(part)]
    return "&".join(sorted(kept, key=lambda part: part.split("=", 1)))


def _unescaped(text: str) -> bytes:
    raw = text.encode()
    for _ in range(MAX_UNESCAPES):
        plain = unquote_to_bytes(raw)
        if plain == raw:
            break
        raw = plain
    return raw


def _escaped(raw: bytes) -> str:
    return quote_from_bytes(raw, safe=_AS_IT_IS)
