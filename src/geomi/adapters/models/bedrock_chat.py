"""Language models on Amazon Bedrock, by its Converse API, which is the same for all of them.

The form of an answer stands in the task, in our words: not every model there takes a schema. What
comes back is checked like any other answer, and sent back once.
"""

from __future__ import annotations

import orjson

from geomi.adapters.models.answer import read_tokens
from geomi.adapters.models.bedrock import Bedrock
from geomi.errors import ModelError
from geomi.model.language import Answer, Prompt

# What the catalogue asks (ANA-06, ANA-12, ANA-18).
CLASSIFIER = "amazon.nova-micro-v1:0"
CRITIC = "anthropic.claude-3-haiku-20240307-v1:0"
EXTRACTOR = "anthropic.claude-3-5-sonnet-20240620-v1:0"


class BedrockModel:
    """`ports.language.LanguageModel` of one model of a region."""

    def __init__(self, bedrock: Bedrock, model: str) -> None:
        self._bedrock = bedrock
        self.name = model

    async def answer(self, prompt: Prompt) -> Answer:
        """Answer one question."""
        form = orjson.dumps(prompt.form).decode()
        told = await self._bedrock.talk(
            self.name,
            system=[{"text": f"{prompt.task}\n\nThe form, as JSON Schema:\n{form}"}],
            messages=[{"role": "user", "content": [{"text": prompt.material}]}],
            inferenceConfig={"maxTokens": prompt.max_tokens, "temperature": 0.0},
        )
        try:
            parts = told["output"]["message"]["content"]
            text = "".join(part.get("text", "") for part in parts)
            usage = told.get("usage") or {}
        except (KeyError, TypeError, AttributeError) as error:
            raise ModelError(f"`{self.name}` answered in another form: {error!r}") from error
        read, written = (
            read_tokens(usage.get("inputTokens")),
            read_tokens(usage.get("outputTokens")),
        )
        is_whole = bool(text) and told.get("stopReason") != "max_tokens"
        return Answer(text, self.name, read, written, is_whole)
