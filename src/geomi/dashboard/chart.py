"""Numbers as SVG shapes: bars and a curve."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

WIDTH, HEIGHT = 480.0, 96.0


@dataclass(frozen=True, slots=True)
class Bar:
    """One row of a chart; `share` is of the longest, in per cent."""

    name: str
    many: int
    share: float


@dataclass(frozen=True, slots=True)
class Curve:
    """A curve: its path, the path of the area under it, and its highest value."""

    path: str
    area: str
    top: int


def bars(counts: Sequence[tuple[object, int]]) -> tuple[Bar, ...]:
    """Draw counts as bars."""
    longest = max((many for _, many in counts), default=0) or 1
    return tuple(Bar(str(name), many, round(100 * many / longest, 2)) for name, many in counts)


def curve(counts: Sequence[int]) -> Curve | None:
    """Draw counts as a curve; None where there is nothing to draw."""
    if len(counts) < 2 or not any(counts):
        return None
    top = max(counts)
    step = WIDTH / (len(counts) - 1)
    points = [
        f"{number * step:.1f} {HEIGHT - many / top * (HEIGHT - 4):.1f}"
        for number, many in enumerate(counts)
    ]
    path = "M" + " L".join(points)
    return Curve(path, f"{path} L{WIDTH:.1f} {HEIGHT:.1f} L0 {HEIGHT:.1f} Z", top)
