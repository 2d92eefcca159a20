"""Answers and vectors of an OpenAI-compatible server, such as llama.cpp, vLLM or Ollama.

Rules kept:
- The operator sets the server, so its address may be private. It is dialled through the egress gate
  all the same, and a redirect is never followed.
- The key goes into one header and into no message.
- The task stands in the system's message and the page in the user's; no tool is offered.
- An answer has a size. An answer that its length cut off is paid for and counts as none.
- A batch of texts is one request. Its answer counts only with one vector for each text, all of the
  expected length. The caller names the languages, because no server does.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
import orjson

from geomi.adapters.endpoint import (
    CONNECT_S,
    beginning,
    json_headers,
    on_one_line,
    read_endpoint,
)
from geomi.adapters.models.calls import NO_RETRIES, RetryPolicy, read_name, read_object, read_tokens
from geomi.adapters.models.embedding import NO_PREFIXES, Prefixes, in_batches, read_vectors
from geomi.errors import ModelBusy, ModelError, ModelThrottled
from geomi.model.index.language_model import ModelReply, Prompt
from geomi.model.page import Fetched, Headers, Request
from geomi.ports.models import OnAnswer, Vectors, unheard
from geomi.ports.web import Fetcher

MAX_ANSWER_BYTES = 1024 * 1024
# A small model on a processor writes ten words a second.
ANSWER_S = 120.0
_THROTTLED = frozenset({429, 503})
_BUSY = frozenset({408, 409, 425, 500, 502, 504, 529})
# 25 vectors of 8,192 numbers, each written with 25 signs, are 5 MB.
MAX_VECTORS_BYTES = 8 * 1024 * 1024


class OpenAiModel:
    """One model of one server.

    Args:
        endpoint: the address that `/chat/completions` follows, usually ending in `/v1`.
        key: sent as a bearer token; a server on loopback needs none.
    """

    def __init__(
        self,
        fetcher: Fetcher,
        endpoint: str,
        model: str,
        *,
        key: str = "",
        answer_s: float = ANSWER_S,
        patience: RetryPolicy = NO_RETRIES,
    ) -> None:
        self._server = OpenAiServer(
            fetcher, endpoint, key=key, answer_s=answer_s, patience=patience
        )
        self.name = model

    async def answer(self, prompt: Prompt) -> ModelReply:
        """Answer one question."""
        told = await self._server.ask("chat/completions", _question(self.name, prompt))
        try:
            choice = told["choices"][0]
            text = choice["message"]["content"]
            is_whole = isinstance(text, str) and choice.get("finish_reason") != "length"
            usage = told.get("usage") or {}
            read = read_tokens(usage.get("prompt_tokens"))
            written = read_tokens(usage.get("completion_tokens"))
        except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
            raise ModelError(f"{self._server} answered in an unexpected form: {error!r}") from error
        text = text if isinstance(text, str) else ""
        return ModelReply(text, read_name(told.get("model"), self.name), read, written, is_whole)


class OpenAiServer:
    """An OpenAI-compatible server, and the one way to ask it."""

    def __init__(
        self,
        fetcher: Fetcher,
        endpoint: str,
        *,
        key: str = "",
        answer_s: float = ANSWER_S,
        patience: RetryPolicy = NO_RETRIES,
    ) -> None:
        hint = "http://127.0.0.1:8080/v1, and the key in GEOMI_MODEL_KEY"
        self._base = read_endpoint(endpoint, "the endpoint of a model", hint=hint)
        self._fetcher = fetcher
        self._answer_s = answer_s
        self._patience = patience
        self._headers: Headers = (("content-type", "application/json"), *json_headers(key))

    def __str__(self) -> str:
        return self._base

    async def ask(
        self,
        path: str,
        question: Mapping[str, object],
        *,
        max_bytes: int = MAX_ANSWER_BYTES,
        is_patient: bool = True,
    ) -> dict[str, Any]:
        """Send a question and return the answer's JSON object."""
        patience = self._patience if is_patient else NO_RETRIES
        return await patience.asking(lambda: self._ask_once(path, question, max_bytes))

    async def _ask_once(
        self, path: str, question: Mapping[str, object], max_bytes: int
    ) -> dict[str, Any]:
        fetched = await self._fetcher.fetch(
            Request(
                url=f"{self._base}/{path}",
                headers=self._headers,
                connect_timeout_s=CONNECT_S,
                read_timeout_s=self._answer_s,
                total_timeout_s=self._answer_s,
                max_bytes=max_bytes,
                body=orjson.dumps(question),
            )
        )
        if fetched.failure is not None:
            raise ModelBusy(f"{self} did not answer: {fetched.detail or fetched.failure}")
        if fetched.status != 200:
            raise _refusal(fetched.status)(f"{self} answered {fetched.status}: {_told(fetched)}")
        return read_object(fetched.body, str(self))


def _refusal(status: int) -> type[ModelError]:
    if status in _THROTTLED:
        return ModelThrottled
    return ModelBusy if status in _BUSY else ModelError


def _question(model: str, prompt: Prompt) -> dict[str, object]:
    form = {"name": prompt.form_name, "schema": prompt.form, "strict": True}
    return {
        "model": model,
        "messages": [
            {"role": "system", "content": prompt.task},
            {"role": "user", "content": prompt.material},
        ],
        "temperature": 0,
        "max_tokens": prompt.max_tokens,
        "response_format": {"type": "json_schema", "json_schema": form},
    }


def _told(fetched: Fetched) -> str:
    """Return what a server says of its refusal, on one line."""
    try:
        text = str(orjson.loads(fetched.body)["error"]["message"])
    except (orjson.JSONDecodeError, KeyError, TypeError):
        text = beginning(fetched)
    return on_one_line(text)


async def open_openai_embedder(
    server: OpenAiServer,
    model: str,
    *,
    languages: Collection[str],
    shortened_to: int = 0,
    prefixes: Prefixes = NO_PREFIXES,
) -> OpenAiEmbedder:
    """Ask for one vector, to learn how long they are.

    Args:
        shortened_to: how long they should be, of a model that can give shorter ones.
    """
    question: dict[str, object] = {"model": model, "encoding_format": "float"}
    if shortened_to:
        question["dimensions"] = shortened_to
    (vector,) = await _ask(server, question, ["dimensions"], shortened_to)
    return OpenAiEmbedder(server, question, vector.size, languages, prefixes)


class OpenAiEmbedder:
    """`ports.models.Embedder` of one model of one server."""

    def __init__(
        self,
        server: OpenAiServer,
        question: dict[str, object],
        dimensions: int,
        languages: Collection[str],
        prefixes: Prefixes,
    ) -> None:
        self._server = server
        self._question = question
        self._prefixes = prefixes
        self.name = f"{question['model']}/{dimensions}"
        self.dimensions = dimensions
        self.languages = frozenset(languages)

    async def embed(
        self, texts: Sequence[str], *, is_query: bool = False, on_answer: OnAnswer = unheard
    ) -> Vectors:
        """Return one vector for each text."""
        prefixed = self._prefixes.before(texts, is_query=is_query)
        parts = [
            await _ask(
                self._server,
                self._question,
                batch,
                self.dimensions,
                is_patient=not is_query,
                on_answer=on_answer,
            )
            for batch in in_batches(prefixed)
        ]
        return np.concatenate([np.empty((0, self.dimensions), np.float32), *parts])


async def _ask(
    server: OpenAiServer,
    question: dict[str, object],
    texts: Sequence[str],
    dimensions: int,
    *,
    is_patient: bool = False,
    on_answer: OnAnswer = unheard,
) -> Vectors:
    asked = {**question, "input": list(texts)}
    told = await server.ask("embeddings", asked, max_bytes=MAX_VECTORS_BYTES, is_patient=is_patient)
    usage = told.get("usage")
    on_answer(read_tokens(usage.get("prompt_tokens") if isinstance(usage, dict) else 0))
    try:
        given = {one["index"]: one["embedding"] for one in told["data"]}
        rows = [given.pop(at) for at in range(len(texts))]
    except (KeyError, TypeError) as error:
        raise ModelError(f"{server} answered in an unexpected form: {error!r}") from error
    if given:
        raise ModelError(f"{server} answered with {len(given)} vectors too many")
    return read_vectors(rows, dimensions=dimensions, source=str(server))
