"""What the visits of one pattern add up to; `admit` decides when that is a trap."""

from __future__ import annotations

from geomi.model.entry import Novelty, Tally


def after(tally: Tally, novelty: Novelty) -> Tally:
    """Add one visit."""
    return Tally(
        visited=tally.visited + 1,
        stale_links=0 if novelty.links else tally.stale_links + 1,
        stale_text=0 if novelty.text else tally.stale_text + 1,
        text_mark=novelty.text_mark or tally.text_mark,
    )
