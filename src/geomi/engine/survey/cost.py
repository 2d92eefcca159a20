"""Estimate what a crawl may cost before it begins (COST-01…COST-03, COST-05).

The parts and prices are those of seed 004 §10, which pays for everything by the page. One page in
two is extracted. Unrounded, a thousand pages cost 6.37 $; the seed rounds on the way and says
6.32 $ (C-62). On your own machines you pay only for the models that you name
(`settings/prices.py`), or you give your own prices.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

EXTRACTED_SHARE = 0.5

# Dollars for a page.
UNIT_PRICES: Mapping[str, float] = MappingProxyType(
    {
        "classify": 0.000_018,
        "quality": 0.001,
        "extract": 0.003,
        "embed": 0.000_03,
        "fetch": 0.003,
        "functions": 0.000_5,
        "workflow": 0.000_25,
        "database": 0.000_02,
        "storage": 0.000_05,
    }
)
ADVICE = ("classify", "quality", "extract")
EMBEDDING = "embed"
MODELS = (*ADVICE, EMBEDDING)


@dataclass(frozen=True, slots=True)
class Estimate:
    """What some pages cost, in dollars, by what is paid for."""

    pages: int
    parts: tuple[tuple[str, float], ...]

    @property
    def models(self) -> float:
        """What models take of it."""
        return sum(dollars for name, dollars in self.parts if name in MODELS)

    @property
    def total(self) -> float:
        """All of it."""
        return sum(dollars for _, dollars in self.parts)


def estimate(pages: int, prices: Mapping[str, float]) -> Estimate:
    """Reckon what so many pages cost at these prices of a page."""
    shares = {"extract": EXTRACTED_SHARE}
    parts = ((name, pages * price * shares.get(name, 1.0)) for name, price in prices.items())
    return Estimate(pages, tuple(parts))
