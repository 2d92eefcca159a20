"""An embedder behind an OpenAI-compatible server, over real connections on loopback."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import numpy as np
import pytest

from geomi.adapters.http import Egress, HttpClient
from geomi.adapters.models.embedding import NO_PREFIXES, Prefixes
from geomi.adapters.models.openai import (
    MAX_VECTORS_BYTES,
    OpenAiEmbedder,
    OpenAiServer,
    open_openai_embedder,
)
from geomi.errors import ModelBusy, ModelError, ModelThrottled
from geomi.ports.models import BATCH
from tests.adapters.http.support import LOOPBACK, RealClock
from tests.support.models import ModelServer, Scripted, embeddings
from tests.support.waiting import waits


def by_length(question: dict[str, Any]) -> Scripted:
    """Answer with a vector whose direction is how long a text is."""
    return embeddings([(len(text), 3.0) for text in question["input"]])


def towards(lengths: Sequence[float]) -> list[list[float]]:
    """Return the vectors that `by_length` gives, of length 1."""
    return [[at / (at * at + 9) ** 0.5, 3 / (at * at + 9) ** 0.5] for at in lengths]


@asynccontextmanager
async def opened(
    server: ModelServer, *, shortened_to: int = 0, prefixes: Prefixes = NO_PREFIXES
) -> AsyncIterator[OpenAiEmbedder]:
    """Open the model of a server."""
    clock = RealClock()
    client = HttpClient(Egress(LOOPBACK, clock), clock)
    try:
        yield await open_openai_embedder(
            OpenAiServer(client, server.endpoint, key="s3cret"), "tiny",
            languages=("en", "ko"), shortened_to=shortened_to, prefixes=prefixes,
        )  # fmt: skip
    finally:
        await client.aclose()


@pytest.mark.req("EMB-01")
@waits
async def test_texts_are_sent_25_at_a_time() -> None:
    """Each text gets its own vector of length 1, in whichever order the server answers."""
    texts = ["x" * (1 + at % 9) for at in range(2 * BATCH + 1)]
    with ModelServer(by_length) as server:
        async with opened(server) as embedder:
            vectors = await embedder.embed(texts)
            assert (await embedder.embed([])).shape == (0, 2)
            assert (embedder.name, embedder.dimensions) == ("tiny/2", 2)
            assert embedder.languages == {"en", "ko"}
    np.testing.assert_allclose(vectors, towards([len(text) for text in texts]), rtol=1e-6)
    assert vectors.dtype == np.float32
    assert [len(asked["input"]) for asked in server.asked] == [1, 25, 25, 1]
    assert {asked["path"] for asked in server.asked} == {"/v1/embeddings"}
    assert server.headers[0]["authorization"] == "Bearer s3cret"


@waits
async def test_shorter_vectors_and_prefixes_can_be_asked_for() -> None:
    """What a model has to be told, it is told."""
    with ModelServer(by_length) as server:
        async with opened(server, shortened_to=2, prefixes=Prefixes("query: ", "")) as embedder:
            await embedder.embed(["a"], is_query=True)
            await embedder.embed(["a"])
    assert [asked["dimensions"] for asked in server.asked] == [2, 2, 2]
    assert [asked["input"] for asked in server.asked[1:]] == [["query: a"], ["a"]]


@pytest.mark.parametrize(
    ("told", "error", "words"),
    [
        ((429, "slow down"), ModelThrottled, "answered 429"),
        ((200, "{}"), ModelError, "in an unexpected form"),
        ({"data": [{"index": 0}]}, ModelError, "in an unexpected form"),
        (embeddings([(1, 0)]), ModelError, "in an unexpected form"),
        (embeddings([(1, 0)] * 3), ModelError, "1 vectors too many"),
        (embeddings([(1, 0, 0)] * 2), ModelError, r"shape \(2, 3\)"),
        (embeddings([(1, 0), (1,)]), ModelError, "other than vectors"),
        (embeddings([("a", "b")] * 2), ModelError, "other than vectors"),  # type: ignore[list-item]  # of a bad server
        (embeddings([(1e999, 0)] * 2), ModelError, "not JSON"),
        ((200, " " * (MAX_VECTORS_BYTES + 1)), ModelBusy, "did not answer"),
    ],
    ids="busy empty without few many long ragged words infinite large".split(),
)
@waits
async def test_what_is_no_answer(told: Scripted, error: type[ModelError], words: str) -> None:
    """No vector is kept that was not made of its text."""
    with ModelServer([embeddings([(1, 0)]), told]) as server:
        async with opened(server) as embedder:
            with pytest.raises(ModelError, match=words) as caught:
                await embedder.embed(["one", "two"])
    assert type(caught.value) is error
    assert "s3cret" not in str(caught.value)
