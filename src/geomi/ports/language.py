"""Language models: one question, one answer in JSON, and what it cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

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
    """What a model wrote, who wrote it, and how much was read and written for it."""

    text: str
    model: str
    tokens_in: int
    tokens_out: int


class LanguageModel(Protocol):
    """A model that is given a page's text and no tools."""

    @property
    def name(self) -> str:
        """What it is called in records and in the ledger of costs."""
        ...

    async def answer(self, prompt: Prompt) -> Answer:
        """Answer one question; raise `ModelError` where that cannot be, `ModelBusy` for now."""
        ...
