"""Traffic by a table of a tenant's own: views or shares of hosts and of URL prefixes (PRI-06).

A place is a host, which stands for its subdomains too, or a URL prefix: that page and all below it.
Scheme and port do not count. Of the places that hold a page the longest counts. The busiest place
has 1; a tenth of its views is a tenth of a rank, on the same scale as ranks: seven decades to 0.
So views, shares and percentages need no unit.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from geomi.frontier.priority import LAST_RANK, names_of
from geomi.url.parse import Url
from geomi.url.parse import parse as parse_url

MAX_PLACE_CHARS = 2048
MAX_AMOUNT = 1e15
MOST_FOLDERS = 16  # of a path, from its end: a prefix above them counts for no page below


@dataclass(frozen=True, slots=True)
class OwnTraffic:
    """The traffic of each place of a table, from 0 to 1."""

    places: Mapping[str, float]

    def find(self, url: Url) -> tuple[str, float]:
        """Return the place that holds a URL, and its traffic; an empty place and 0 for none."""
        for place in _places_of(url):
            if place in self.places:
                return place, self.places[place]
        return "", 0.0


def own_traffic(amounts: Iterable[tuple[str, float]]) -> OwnTraffic:
    """Bring the views of places on one scale; those of one place add up."""
    sums: dict[str, float] = defaultdict(float)
    for place, amount in amounts:
        sums[place] += amount
    most = max(sums.values(), default=0.0)
    return OwnTraffic({place: _share(amount, most) for place, amount in sums.items()})


def read_place(text: str) -> str | None:
    """Return a host, or host and path, as URLs are looked up by; None for anything else."""
    text = text.strip()
    if not text or len(text) > MAX_PLACE_CHARS or any(letter.isspace() for letter in text):
        return None
    url = parse_url(text if "://" in text else f"http://{text}")
    if url is None or "@" in text.partition("/")[0]:
        return None
    return url.host if url.target == "/" else f"{url.host}{url.target}"


def read_amount(value: object) -> float | None:
    """Return a number of views or shares; None for what is no such number."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        amount = float(value)
    except (ValueError, OverflowError):
        return None
    return amount if 0 <= amount <= MAX_AMOUNT else None


def _share(amount: float, most: float) -> float:
    if not amount:
        return 0.0
    return max(0.0, 1 + math.log10(amount / most) / math.log10(LAST_RANK))


def _places_of(url: Url) -> Iterator[str]:
    """Yield the names that a table may have for a URL, the longest first."""
    yield f"{url.host}{url.target}"
    path = url.path
    for _ in range(MOST_FOLDERS):
        if path == "/":
            break
        yield f"{url.host}{path}"
        path = path[:-1] if path.endswith("/") else f"{path.rpartition('/')[0]}/"
    yield from names_of(url.authority)
