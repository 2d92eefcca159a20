"""What questions to models cost, in tokens and in money.

Money is counted in millionths of a US dollar: whole numbers add up exactly, in any order.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

MICROS = 1_000_000  # to the dollar


class Purpose(StrEnum):
    """What a model was asked for."""

    CLASSIFY = "classify"
    QUALITY = "quality"
    EXTRACT = "extract"
    SUMMARIZE = "summarize"
    EMBED = "embed"


@dataclass(frozen=True, slots=True)
class Price:
    """What a model costs, in millionths of a dollar for a million tokens, read and written."""

    tokens_in: int
    tokens_out: int

    def of(self, tokens_in: int, tokens_out: int) -> int:
        """Return what so many tokens cost, rounded up: a budget is never exceeded by rounding."""
        return -(-(tokens_in * self.tokens_in + tokens_out * self.tokens_out) // MICROS)


FREE = Price(0, 0)


@dataclass(frozen=True, slots=True)
class CostLine:
    """What one model did for one job and one purpose on one day.

    Args:
        day: UTC, ISO 8601.
        failures: calls that brought nothing usable; they are paid for as well.
    """

    job: str
    day: str
    purpose: Purpose
    provider: str
    model: str
    calls: int
    failures: int
    tokens_in: int
    tokens_out: int
    micros: int
