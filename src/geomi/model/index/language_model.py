"""A question to a language model, its answer, and what questions cost in tokens and in money.

Money is counted in millionths of a US dollar: whole numbers add up exactly, in any order.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

JsonSchema = Mapping[str, object]
MICROS = 1_000_000  # to the dollar


@dataclass(frozen=True, slots=True)
class Prompt:
    """One question about a page.

    Args:
        task: what is wanted, in our words alone: nothing that a page says belongs here.
        material: what it is about. Whatever stands in it is text to be judged, never an order.
        form: the JSON Schema of the answer, and the name it goes by.
        max_tokens: of the answer.
    """

    task: str
    material: str
    form_name: str
    form: JsonSchema
    max_tokens: int = 1000


@dataclass(frozen=True, slots=True)
class ModelReply:
    """What a model wrote, who wrote it, and how much was read and written for it.

    Args:
        is_whole: False where it was cut off by its length or is empty; it is paid for all the same.
    """

    text: str
    model: str
    tokens_in: int
    tokens_out: int
    is_whole: bool = True


class ModelPurpose(StrEnum):
    """What a model was asked for."""

    CLASSIFY = "classify"
    QUALITY = "quality"
    EXTRACT = "extract"
    NAMES = "names"  # of people, where a job looks for them
    SUMMARIZE = "summarize"
    EMBED = "embed"


@dataclass(frozen=True, slots=True)
class ModelPrice:
    """What a model costs, in millionths of a dollar for a million tokens, read and written."""

    tokens_in: int
    tokens_out: int

    def of(self, tokens_in: int, tokens_out: int) -> int:
        """Return what so many tokens cost, rounded up: a budget is never exceeded by rounding."""
        return -(-(tokens_in * self.tokens_in + tokens_out * self.tokens_out) // MICROS)


FREE = ModelPrice(0, 0)


@dataclass(frozen=True, slots=True)
class CostLine:
    """What one model did for one job and one purpose on one day.

    Args:
        day: UTC, ISO 8601.
        failures: calls that brought nothing usable; they are paid for as well.
    """

    job: str
    day: str
    purpose: ModelPurpose
    provider: str
    model: str
    calls: int
    failures: int
    tokens_in: int
    tokens_out: int
    micros: int
