"""Models: an embedder gives vectors of texts, a language model gives answers.

Every method raises `ModelError` if it cannot answer, and `ModelBusy` if a later try may succeed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from geomi.model.index.language_model import ModelReply, Prompt

Vectors = NDArray[np.float32]  # one a row, each of length 1
BATCH = 25  # texts that a model is given at once (EMB-01)


OnAnswer = Callable[[int], None]  # takes the tokens that were read for an answer


def unheard(_: int) -> None:
    """Count no answer."""


class Embedder(Protocol):
    """Texts as vectors, near to each other where they mean the same."""

    @property
    def name(self) -> str:
        """Return what its vectors are kept under: another model or version, another name."""
        ...

    @property
    def dimensions(self) -> int:
        """Return how long its vectors are."""
        ...

    @property
    def languages(self) -> frozenset[str]:
        """Return the languages that it understands, as subtags such as `ko`.

        Texts in others have no vectors, and queries in others are answered by words alone: a model
        that has never seen Korean puts all of it into one corner.
        """
        ...

    async def embed(
        self, texts: Sequence[str], *, is_query: bool = False, on_answer: OnAnswer = unheard
    ) -> Vectors:
        """Return one vector for each text, however many there are.

        Args:
            on_answer: told of each answer that was paid for, also if a later one fails.
        """
        ...


class LanguageModel(Protocol):
    """A model that is given a page's text and no tools."""

    @property
    def name(self) -> str:
        """What it is called in records and in the ledger of costs."""
        ...

    async def answer(self, prompt: Prompt) -> ModelReply:
        """Answer one question."""
        ...
