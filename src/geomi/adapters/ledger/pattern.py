"""What the visits of one pattern add up to; `admit` decides when that is a trap."""

from __future__ import annotations

from dataclasses import replace

from geomi.model.entry import Novelty, Settlement, Tally, UrlHash


def kin(visit: Settlement) -> dict[UrlHash, str]:
    """Return what a visit found of its own kind on its host, with the pattern of each."""
    if visit.novelty is None:
        return {}
    host, patterns = visit.entry.host, visit.novelty.kin
    return {
        found.url_hash: found.pattern
        for found in visit.discovered
        if found.pattern in patterns and found.host == host
    }


def after(tally: Tally, novelty: Novelty, *, grew: bool) -> Tally:
    """Add one visit; `grew` says whether it led to a new URL of the pattern itself."""
    return Tally(
        visited=tally.visited + 1,
        stale_links=0 if novelty.links else tally.stale_links + 1,
        stale_text=0 if novelty.text else tally.stale_text + 1,
        text_mark=novelty.text_mark or tally.text_mark,
        stale_growth=0 if grew else tally.stale_growth + 1,
    )


def grown(tally: Tally) -> Tally:
    """Note that a page of another pattern led to a new URL of this one."""
    return replace(tally, stale_growth=0)
