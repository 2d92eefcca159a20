"""A question to a language model, and its answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

JsonSchema = Mapping[str, object]


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
class Answer:
    """What a model wrote, who wrote it, and how much was read and written for it.

    Args:
        is_whole: False where it was cut off by its length or is empty; it is paid for all the same.
    """

    text: str
    model: str
    tokens_in: int
    tokens_out: int
    is_whole: bool = True
