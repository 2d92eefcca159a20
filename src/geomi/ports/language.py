"""Language models: one question, one answer in JSON, and what it cost."""

from __future__ import annotations

from typing import Protocol

from geomi.model.index.language_model import ModelReply, Prompt


class LanguageModel(Protocol):
    """A model that is given a page's text and no tools."""

    @property
    def name(self) -> str:
        """What it is called in records and in the ledger of costs."""
        ...

    async def answer(self, prompt: Prompt) -> ModelReply:
        """Answer one question; raise `ModelError` where that cannot be, `ModelBusy` for now."""
        ...
