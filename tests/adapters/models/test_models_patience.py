"""A server that has too much to do is asked again, after a random part of 5, 10 and 20 seconds."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from geomi.adapters.http.client import HttpClient
from geomi.adapters.http.egress import Egress
from geomi.adapters.models.bedrock import Bedrock, TitanEmbedder
from geomi.adapters.models.calls import RetryPolicy
from geomi.adapters.models.openai import OpenAiModel, OpenAiServer, open_openai_embedder
from geomi.errors import ModelBusy, ModelError, ModelThrottled
from geomi.model.index.language_model import Prompt
from tests.adapters.http.support import LOOPBACK, RealClock
from tests.adapters.models.test_models_bedrock import _own_account, titan
from tests.support.models import ModelServer, Scripted, embeddings
from tests.support.waiting import waits

__all__ = ["_own_account"]

PROMPT = Prompt("Say what it is.", "PAGE: a text", "kind", {"type": "object"})
LATER: tuple[Scripted, ...] = ((429, "slow down"), (503, "busy"), (429, "still"))


@dataclass
class Waits:
    """Takes the waits down in place of waiting."""

    seconds: list[float] = field(default_factory=list)

    async def sleep(self, wait_s: float) -> None:
        """Note a wait."""
        self.seconds.append(wait_s)

    @property
    def patience(self) -> RetryPolicy:
        """Patience that takes no time."""
        return RetryPolicy(sleep=self.sleep, rng=random.Random(7))


@asynccontextmanager
async def opened() -> AsyncIterator[HttpClient]:
    """Open a way to servers on loopback."""
    clock = RealClock()
    client = HttpClient(Egress(LOOPBACK, clock), clock)
    try:
        yield client
    finally:
        await client.aclose()


@pytest.mark.req("ERR-16")
@waits
async def test_who_is_throttled_asks_again_three_times() -> None:
    taken, same = Waits(), random.Random(7)
    with ModelServer([*LATER, "{}"]) as server:
        async with opened() as client:
            model = OpenAiModel(client, server.endpoint, "tiny", patience=taken.patience)
            assert (await model.answer(PROMPT)).text == "{}"
    assert taken.seconds == [same.uniform(0.0, most_s) for most_s in (5.0, 10.0, 20.0)]
    assert len(server.asked) == 4


@pytest.mark.req("ERR-16")
@waits
async def test_after_the_last_try_it_is_told() -> None:
    taken = Waits()
    with ModelServer([*LATER, (429, "the last"), "{}"]) as server:
        async with opened() as client:
            model = OpenAiModel(client, server.endpoint, "tiny", patience=taken.patience)
            with pytest.raises(ModelThrottled, match="429: the last"):
                await model.answer(PROMPT)
    assert len(taken.seconds) == 3 and len(server.asked) == 4


@pytest.mark.parametrize(
    ("status", "error"), [(500, ModelBusy), (504, ModelBusy), (400, ModelError)]
)
@waits
async def test_no_other_refusal_is_waited_for(status: int, error: type[ModelError]) -> None:
    taken = Waits()
    with ModelServer([(status, "no"), "{}"]) as server:
        async with opened() as client:
            model = OpenAiModel(client, server.endpoint, "tiny", patience=taken.patience)
            with pytest.raises(error) as caught:
                await model.answer(PROMPT)
    assert not isinstance(caught.value, ModelThrottled)
    assert taken.seconds == [] and len(server.asked) == 1


@waits
async def test_passages_are_embedded_patiently_and_queries_are_not() -> None:
    taken, vector = Waits(), embeddings([[1.0, 0.0]])
    with ModelServer([vector, (429, "later"), vector, (429, "later")]) as server:
        async with opened() as client:
            way = OpenAiServer(client, server.endpoint, patience=taken.patience)
            embedder = await open_openai_embedder(way, "tiny", languages=("en",))
            assert len(await embedder.embed(["a passage"])) == 1
            with pytest.raises(ModelThrottled):
                await embedder.embed(["a query"], is_query=True)
    assert len(taken.seconds) == 1


@pytest.mark.req("ERR-16")
@waits
async def test_bedrock_is_asked_again_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("geomi.adapters.models.bedrock.TRIES", 1)  # of its client, within moments
    told: list[Scripted] = [(429, '{"__type": "ThrottlingException"}'), titan("x")]
    taken = Waits()

    def answer(_: dict[str, Any]) -> Scripted:
        return told.pop(0)

    with ModelServer(answer) as server:
        endpoint = server.endpoint.removesuffix("/v1")
        bedrock = Bedrock(region="us-east-1", endpoint=endpoint, patience=taken.patience)
        try:
            embedder = TitanEmbedder(bedrock, languages=("en",))
            assert len(await embedder.embed(["x"])) == 1
            told.append((429, '{"__type": "ThrottlingException"}'))
            with pytest.raises(ModelThrottled):
                await embedder.embed(["x"], is_query=True)
        finally:
            bedrock.close()
    assert len(taken.seconds) == 1 and 0 <= taken.seconds[0] <= 5
