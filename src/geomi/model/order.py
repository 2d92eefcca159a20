"""In which order the URLs of a host are taken, and what weighs how much in it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from annotated_types import Ge, Le


class Order(StrEnum):
    """Which URL of a host is next (C-40)."""

    SCORE = "score"
    BFS = "bfs"
    WEIGHTED = "weighted"


class Preset(StrEnum):
    """What a weighted crawl is for (PRI-03)."""

    BALANCED = "balanced"
    NEWS = "news"
    ACADEMIC = "academic"
    SHOP = "shop"


Weight = Annotated[float, Ge(0), Le(1)]


@dataclass(frozen=True, slots=True)
class Weights:
    """How much counts in the order `weighted` (PRI-02); a number takes its preset's place."""

    preset: Preset = Preset.BALANCED
    importance: Weight | None = None
    traffic: Weight | None = None
    freshness: Weight | None = None
