"""Whether a page is worth a browser, and why (C-34).

The decision is made whether or not there is a browser: without one the page is used as it came, and
its record says so.
"""

from __future__ import annotations

from dataclasses import dataclass

from geomi.model.config import Render


@dataclass(frozen=True, slots=True)
class Rendering:
    """The decision about one page.

    Args:
        reason: why a browser would show more, or is asked for all the same; empty if neither.
    """

    is_wanted: bool
    reason: str


def decide(render: Render, unfinished: str) -> Rendering:
    """Decide about a page; `unfinished` says why its static form looks so, if it does."""
    if render is Render.ALWAYS:
        return Rendering(True, unfinished or "the job renders every page")
    return Rendering(bool(unfinished) and render is Render.AUTO, unfinished)
