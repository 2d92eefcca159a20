"""An embedder behind an OpenAI-compatible server: llama.cpp, vLLM, Ollama, and the clouds.

A batch is one request. An answer is believed only if it has one vector for each text, all of the
length that they had before. The languages are the caller's to say, as no server tells them.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from geomi.adapters.models.embedding import NO_PREFIXES, Prefixes, in_batches, read_vectors
from geomi.adapters.models.openai import Server
from geomi.errors import ModelError
from geomi.ports.models import Vectors

# 25 vectors of 8,192 numbers, each written with 25 signs, are 5 MB.
MAX_ANSWER_BYTES = 8 * 1024 * 1024


async def open_openai_embedder(
    server: Server,
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
        server: Server,
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

    async def embed(self, texts: Sequence[str], *, is_query: bool = False) -> Vectors:
        """Return one vector for each text."""
        prefixed = self._prefixes.before(texts, is_query=is_query)
        parts = [
            await _ask(
                self._server, self._question, batch, self.dimensions, is_patient=not is_query
            )
            for batch in in_batches(prefixed)
        ]
        return np.concatenate([np.empty((0, self.dimensions), np.float32), *parts])


async def _ask(
    server: Server,
    question: dict[str, object],
    texts: Sequence[str],
    dimensions: int,
    *,
    is_patient: bool = False,
) -> Vectors:
    asked = {**question, "input": list(texts)}
    told = await server.ask("embeddings", asked, max_bytes=MAX_ANSWER_BYTES, is_patient=is_patient)
    try:
        given = {one["index"]: one["embedding"] for one in told["data"]}
        rows = [given.pop(at) for at in range(len(texts))]
    except (KeyError, TypeError) as error:
        raise ModelError(f"{server} answered in another form: {error!r}") from error
    if given:
        raise ModelError(f"{server} answered with {len(given)} vectors too many")
    return read_vectors(rows, dimensions=dimensions, source=str(server))
