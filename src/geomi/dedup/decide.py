"""How a page is recognised again, and which known page it repeats (C-41, C-95).

The hash of the main text decides whether a page changed; white space does not count, because
templates are reindented without anything being said. Two pages are exactly the same only if text
and outlinks agree; a text under `MIN_EXACT_CHARS` proves nothing, since error pages and stubs
would all be duplicates of one another.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from geomi.dedup.simhash import distance, simhash
from geomi.model.page import Fingerprint

MIN_EXACT_CHARS = 100
EXACT_KEY_BYTES = 16
NEAR_DISTANCE = 3

_BLANKS = b" \t\n\r\f\v"


def fingerprint(text: str, body: bytes, outlinks: Sequence[str]) -> Fingerprint:
    """Compute all hashes of a page.

    Args:
        outlinks: the resolved URLs that the page links to, in any order.
    """
    content = hashlib.sha256(text.encode("utf-8", "replace").translate(None, _BLANKS))
    return Fingerprint(
        content_hash=content.hexdigest(),
        html_hash=hashlib.sha256(body).hexdigest(),
        exact_key=b"" if len(text) < MIN_EXACT_CHARS else _exact_key(content.digest(), outlinks),
        simhash=simhash(text),
    )


def nearest(
    value: int, candidates: Sequence[tuple[str, int]], max_distance: int = NEAR_DISTANCE
) -> str | None:
    """Return the name of the closest candidate within `max_distance`; of equals, the first."""
    found, best = None, max_distance + 1
    for name, other in candidates:
        if (apart := distance(value, other)) < best:
            found, best = name, apart
    return found


def _exact_key(content: bytes, outlinks: Sequence[str]) -> bytes:
    links = "\n".join(sorted(set(outlinks))).encode("utf-8", "replace")
    return hashlib.sha256(content + links).digest()[:EXACT_KEY_BYTES]
