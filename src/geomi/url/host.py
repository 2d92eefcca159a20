"""Decide which host names belong together.

A registrable domain is one label below a public suffix, private suffixes such as `github.io`
included: their customers are strangers to one another. The list is bundled with `publicsuffixlist`
and read at the first question (40 ms), never from the network.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from publicsuffixlist import PublicSuffixList


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


def same_site(a: str, b: str) -> bool:
    """Tell whether two host names belong to one registrable domain."""
    return a == b or registrable_domain(a) == registrable_domain(b)


def is_address(host: str) -> bool:
    """Tell whether a parsed host is an IP address: by WHATWG no name ends in a number."""
    return host.startswith("[") or host.rpartition(".")[2].isdigit()


@cache
def _suffixes() -> PublicSuffixList:
    from publicsuffixlist import PublicSuffixList  # 40 ms that most crawls never need

    return PublicSuffixList()
