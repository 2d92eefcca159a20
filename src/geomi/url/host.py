"""Decide which host names belong together.

A registrable domain is one label below a public suffix. Private suffixes such as `github.io` count,
because different people own the names below them. The list is bundled with `publicsuffixlist`. It
is read at the first use (40 ms), never from the network.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from geomi.url.parse import DEFAULT_PORTS, Url, parse

if TYPE_CHECKING:
    from publicsuffixlist import PublicSuffixList

# A name in a file system holds 255 bytes; DNS allows 253 before any port.
MAX_FILE_NAME_CHARS = 200
MAX_NAME_CHARS = 253  # RFC 1035 §2.3.4, without the dot that ends it


def file_name(host: str) -> str:
    """Return a host, with its port or without, as the name of a file or a folder (G-14)."""
    name = _DOTS.sub(".", _NO_FILE_NAME.sub("_", host.lower()))[:MAX_FILE_NAME_CHARS]
    return name.strip(".") or "_"


def site_folder(url: Url) -> str:
    """Return the name of a file or a folder for a site; a scheme's own port is left out."""
    return file_name(url.authority.removesuffix(f":{DEFAULT_PORTS[url.scheme]}"))


def split_authority(authority: str) -> tuple[str, int]:
    """Take apart `host:port` as `Url.authority` writes it."""
    host, _, port = authority.rpartition(":")
    return host, int(port)


@lru_cache(maxsize=65_536)
def registrable_domain(host: str) -> str:
    """Return the domain someone registered; addresses, single labels, suffixes are themselves."""
    if is_address(host):
        return host
    return _suffixes().privatesuffix(host) or host


@lru_cache(maxsize=65_536)
def domain_name(text: str) -> str | None:
    """Read a host name as the DNS has it: A-labels, lower-case, no last dot; None if it is none.

    An address is no name, and neither is whatever else a URL may have in the place of its host:
    the name may be used in a path.
    """
    if len(text) > MAX_NAME_CHARS + 1 or _NO_NAME.search(text):
        return None
    url = parse(f"http://{text}/")
    name = url.host.removesuffix(".") if url is not None else ""
    is_name = len(name) <= MAX_NAME_CHARS and _NAME.fullmatch(name) and not is_address(name)
    return name if is_name else None


def is_within(host: str, domain: str) -> bool:
    """Return whether a host is a domain, by its name in the DNS, or lies below it."""
    name = domain_name(host)
    return name is not None and (name == domain or name.endswith(f".{domain}"))


def is_public_suffix(name: str) -> bool:
    """Return whether a name is one below which others register theirs; a single label is."""
    return _suffixes().privatesuffix(name) is None


def is_address(host: str) -> bool:
    """Return whether a parsed host is an IP address: by WHATWG no name ends in a number."""
    return host.startswith("[") or host.rpartition(".")[2].isdigit()


_NO_FILE_NAME = re.compile(r"[^a-z0-9.-]")
_DOTS = re.compile(r"\.{2,}")
_NO_NAME = re.compile(r"[\x00-\x20\x7f/\\?#@:%\[\]]")  # what ends a host, or is taken out of it
_LABEL = "[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
_NAME = re.compile(rf"{_LABEL}(?:\.{_LABEL})*", re.ASCII)


@cache
def _suffixes() -> PublicSuffixList:
    from publicsuffixlist import PublicSuffixList  # 40 ms that most crawls never need

    return PublicSuffixList()
