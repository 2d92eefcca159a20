"""Amazon Bedrock: Titan Text Embeddings V2 (EMB-02), and language models by its Converse API.

Rules kept:
- Credentials and region come from where AWS's own client looks for them. No message holds one: of a
  refusal only the code is shown.
- The client dials by itself, and only the endpoint of its region, which the operator chose.
- Titan takes one text a request, so the 25 texts of a batch are requested at once (EMB-01).
- The prompt's task states the form of the answer, because not every model takes a schema. The
  answer is checked like any other.

It needs the extra `bedrock`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from importlib.util import find_spec
from typing import Any, TypeVar

import numpy as np
import orjson

from geomi.adapters.models.calls import NO_RETRIES, RetryPolicy, read_object, read_tokens
from geomi.adapters.models.embedding import in_batches, read_vectors
from geomi.errors import (
    ConfigError,
    ExtraMissing,
    ModelBusy,
    ModelError,
    ModelThrottled,
    first_error,
)
from geomi.model.index.language_model import ModelReply, Prompt
from geomi.ports.models import BATCH, OnAnswer, Vectors, unheard

A = TypeVar("A")
T = TypeVar("T")
TITAN = "amazon.titan-embed-text-v2:0"
# Of 256, 512 and 1,024 the one that balances quality and storage (EMB-02).
DIMENSIONS = 512
MAX_ANSWER_BYTES = 1024 * 1024
CONNECT_S = 10.0
ANSWER_S = 30.0
TRIES = 3
MAX_CODE_CHARS = 80
_THROTTLED = frozenset({"ServiceUnavailableException", "ThrottlingException"})
_BUSY = frozenset(
    {
        "InternalServerException", "ModelErrorException", "ModelNotReadyException",
        "ModelTimeoutException",
    }
)  # fmt: skip
# What the catalogue asks (ANA-06, ANA-12, ANA-18).
CLASSIFIER = "amazon.nova-micro-v1:0"
CRITIC = "anthropic.claude-3-haiku-20240307-v1:0"
EXTRACTOR = "anthropic.claude-3-5-sonnet-20240620-v1:0"


class Bedrock:
    """The runtime of one region, and the one way to ask it."""

    def __init__(
        self,
        *,
        region: str = "",
        endpoint: str = "",
        answer_s: float = ANSWER_S,
        patience: RetryPolicy = NO_RETRIES,
    ) -> None:
        if find_spec("boto3") is None:
            raise ExtraMissing("Amazon Bedrock needs boto3", extra="bedrock")
        self._client = _client(region, endpoint, answer_s)
        self._patience = patience
        self._threads = ThreadPoolExecutor(BATCH, thread_name_prefix="geomi-bedrock")

    async def ask(
        self, model: str, question: Mapping[str, object], *, is_patient: bool = True
    ) -> dict[str, Any]:
        """Send a question to a model and return the answer's JSON object."""
        asked = orjson.dumps(question)
        patience = self._patience if is_patient else NO_RETRIES
        body = await patience.asking(lambda: self._in_thread(self._invoke, model, asked))
        if len(body) > MAX_ANSWER_BYTES:
            raise ModelError(f"`{model}` answered with more than {MAX_ANSWER_BYTES:,} bytes")
        return read_object(body, f"`{model}`")

    async def talk(self, model: str, **conversation: Any) -> dict[str, Any]:
        """Put a conversation before a model and return what it adds (the Converse API)."""

        def call() -> dict[str, Any]:
            answer: dict[str, Any] = self._client.converse(modelId=model, **conversation)
            return answer

        return await self._patience.asking(lambda: self._in_thread(_telling, model, call))

    def close(self) -> None:
        """Finish what is under way."""
        self._threads.shutdown()
        self._client.close()

    async def _in_thread(self, work: Callable[[str, A], T], model: str, given: A) -> T:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, work, model, given)

    def _invoke(self, model: str, body: bytes) -> bytes:
        def call() -> bytes:
            answer = self._client.invoke_model(modelId=model, body=body)
            with closing(answer["body"]) as stream:
                return bytes(stream.read(MAX_ANSWER_BYTES + 1))

        return _telling(model, call)


def _telling(model: str, call: Callable[[], T]) -> T:
    """Ask, and turn errors into geomi's own."""
    from botocore.exceptions import (
        BotoCoreError,
        ClientError,
        NoCredentialsError,
        PartialCredentialsError,
    )
    from botocore.parsers import ResponseParserError

    try:
        return call()
    except ClientError as error:
        code = str(error.response.get("Error", {}).get("Code", "unknown"))
        raise _refusal(code)(
            f"`{model}` refused: {code[:MAX_CODE_CHARS]}",
            hint="check the region and the permissions of the key",
        ) from error
    except (NoCredentialsError, PartialCredentialsError) as error:
        raise ModelError(
            f"there are no AWS credentials for `{model}`",
            hint="set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or a role",
        ) from error
    except ResponseParserError as error:
        raise ModelError(f"`{model}` answered in an unexpected form: {error}") from error
    except BotoCoreError as error:
        raise ModelBusy(f"`{model}` cannot be asked: {type(error).__name__}") from error


def _refusal(code: str) -> type[ModelError]:
    if code in _THROTTLED:
        return ModelThrottled
    return ModelBusy if code in _BUSY else ModelError


class TitanEmbedder:
    """`ports.models.Embedder` of Titan, with 512 numbers, normalised."""

    name = f"{TITAN}/{DIMENSIONS}"
    dimensions = DIMENSIONS

    def __init__(self, bedrock: Bedrock, *, languages: Collection[str]) -> None:
        self._bedrock = bedrock
        self.languages = frozenset(languages)

    async def embed(
        self, texts: Sequence[str], *, is_query: bool = False, on_answer: OnAnswer = unheard
    ) -> Vectors:
        """Return one vector for each text; Titan reads queries and passages alike."""
        parts = [
            await self._batch(batch, on_answer, is_patient=not is_query)
            for batch in in_batches(texts)
        ]
        return np.concatenate([np.empty((0, DIMENSIONS), np.float32), *parts])

    async def _batch(
        self, texts: Sequence[str], on_answer: OnAnswer, *, is_patient: bool
    ) -> Vectors:
        try:
            async with asyncio.TaskGroup() as group:
                asking = (self._one(text, on_answer, is_patient=is_patient) for text in texts)
                tasks = [group.create_task(one, name="titan") for one in asking]
        except ExceptionGroup as failures:
            refusals = failures.subgroup(ModelError)
            if refusals is None:
                raise
            raise first_error(refusals) from failures
        rows = [task.result() for task in tasks]
        return read_vectors(rows, dimensions=DIMENSIONS, source=f"`{TITAN}`")

    async def _one(self, text: str, on_answer: OnAnswer, *, is_patient: bool) -> object:
        question = {"inputText": text, "dimensions": DIMENSIONS, "normalize": True}
        told = await self._bedrock.ask(TITAN, question, is_patient=is_patient)
        on_answer(read_tokens(told.get("inputTextTokenCount")))
        return told.get("embedding")


def _client(region: str, endpoint: str, answer_s: float) -> Any:
    import boto3
    from botocore.config import Config
    from botocore.exceptions import BotoCoreError

    config = Config(
        connect_timeout=CONNECT_S,
        read_timeout=answer_s,
        max_pool_connections=BATCH,
        retries={"mode": "standard", "total_max_attempts": TRIES},
    )
    try:
        return boto3.Session().client(
            "bedrock-runtime",
            region_name=region or None,
            endpoint_url=endpoint or None,
            config=config,
        )
    except (BotoCoreError, ValueError) as error:
        raise ConfigError(
            f"Amazon Bedrock cannot be used: {type(error).__name__}",
            hint="set AWS_DEFAULT_REGION, such as us-east-1",
        ) from error


class BedrockModel:
    """`ports.models.LanguageModel` of one model of a region."""

    def __init__(self, bedrock: Bedrock, model: str) -> None:
        self._bedrock = bedrock
        self.name = model

    async def answer(self, prompt: Prompt) -> ModelReply:
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
            raise ModelError(f"`{self.name}` answered in an unexpected form: {error!r}") from error
        read, written = (
            read_tokens(usage.get("inputTokens")),
            read_tokens(usage.get("outputTokens")),
        )
        is_whole = bool(text) and told.get("stopReason") != "max_tokens"
        return ModelReply(text, self.name, read, written, is_whole)
