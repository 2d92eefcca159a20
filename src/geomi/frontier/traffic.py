"""How much a site is visited by people, from a list of domains in the order of their traffic.

Lists such as Tranco's or Umbrella's name the busiest first (PRI-06). Traffic falls with the
logarithm of the rank, from 1 for the first to 0; a site that no list names has none. A page of a
busy site lends half of that to what it links to (PRI-07).
"""

from __future__ import annotations

import math

from geomi.url.host import is_address, registrable_domain, split_authority
from geomi.url.parse import parse as parse_url

LAST_RANK = 10_000_000  # lists have a million names; the largest have ten
LENT = 0.5
MOST_NAMES = 8  # of one host: from its own down to the domain that somebody registered


def traffic(rank: int | None) -> float:
    """Return a site's traffic from 0 to 1."""
    if rank is None or rank > LAST_RANK:
        return 0.0
    return 1 - math.log10(max(1, rank)) / math.log10(LAST_RANK)


def raised(own: float, page: float) -> float:
    """Return the traffic of a link with what the page that it was found on lends it."""
    return max(own, LENT * page)


def names_of(host: str) -> tuple[str, ...]:
    """Return the names a list may have for `name:port`, its own first."""
    name = split_authority(host)[0]
    if is_address(name):
        return (name,)
    domain = registrable_domain(name)
    names = [name]
    while names[-1] != domain and "." in names[-1]:
        names.append(names[-1].partition(".")[2])
    return tuple(dict.fromkeys((*names[: MOST_NAMES - 1], domain)))


def read_rank(line: str) -> tuple[str, int] | None:
    """Read `rank,domain`; None for what is no such line."""
    rank, comma, text = line.strip().partition(",")
    name = text.strip().strip('"').rstrip(".")
    if not (comma and rank.isascii() and rank.isdigit() and 0 < len(rank) <= len(str(LAST_RANK))):
        return None
    url = parse_url(f"http://{name}/") if name and "@" not in name else None
    if url is None or url.href != f"http://{url.host}/" or not 1 <= int(rank) <= LAST_RANK:
        return None
    return url.host, int(rank)
