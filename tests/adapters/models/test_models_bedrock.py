"""Titan's embeddings, by Amazon's own client from a server on loopback."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from geomi.adapters.models.bedrock import DIMENSIONS, MAX_ANSWER_BYTES, Bedrock, TitanEmbedder
from geomi.errors import ConfigError, ModelBusy, ModelError, ModelThrottled
from geomi.ports.models import BATCH
from tests.conftest import missing_part
from tests.support.models import ModelServer, Scripted
from tests.support.waiting import waits

if find_spec("boto3") is None:
    missing_part("no boto3: pip install '.[bedrock]'")

SECRET = "s3cret-of-tests"


@pytest.fixture(autouse=True)
def _own_account(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Let no account of this machine be found."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key-of-tests")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, str(tmp_path / name))
    for name in ("AWS_PROFILE", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_BEARER_TOKEN_BEDROCK"):
        monkeypatch.delenv(name, raising=False)


@contextmanager
def opened(server: ModelServer) -> Iterator[TitanEmbedder]:
    """Open the model; a server has it under its own address."""
    endpoint = server.endpoint.removesuffix("/v1")
    bedrock = Bedrock(region="us-east-1", endpoint=endpoint)
    try:
        yield TitanEmbedder(bedrock, languages=("en", "ko"))
    finally:
        bedrock.close()


def titan(text: str) -> dict[str, Any]:
    """Return what Titan answers: a vector that points to how long a text is."""
    vector = [0.0] * DIMENSIONS
    vector[len(text)] = 1.0
    return {"embedding": vector, "inputTextTokenCount": len(text)}


@pytest.mark.req("EMB-01", "EMB-02")
@waits
async def test_a_batch_is_asked_for_at_once() -> None:
    """25 texts are under way together, each with 512 normalised numbers."""
    together = threading.Barrier(BATCH, timeout=30)

    def answer(question: dict[str, Any]) -> Scripted:
        together.wait()
        return titan(question["inputText"])

    texts = ["x" * at for at in range(1, 2 * BATCH + 1)]
    with ModelServer(answer) as server, opened(server) as embedder:
        vectors = await embedder.embed(texts)
        assert (await embedder.embed([])).shape == (0, DIMENSIONS)
        assert (embedder.name, embedder.dimensions) == ("amazon.titan-embed-text-v2:0/512", 512)
    assert vectors.argmax(axis=1).tolist() == list(range(1, 2 * BATCH + 1))
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1)
    assert {asked["path"] for asked in server.asked} == {
        "/model/amazon.titan-embed-text-v2%3A0/invoke"
    }
    assert {(asked["dimensions"], asked["normalize"]) for asked in server.asked} == {(512, True)}


@pytest.mark.parametrize(
    ("told", "error", "words"),
    [
        ((400, "ValidationException"), ModelError, "refused: ValidationException"),
        ((403, "AccessDeniedException"), ModelError, "refused: AccessDeniedException"),
        ((429, "ThrottlingException"), ModelThrottled, "refused: ThrottlingException"),
        (
            (503, "ServiceUnavailableException"),
            ModelThrottled,
            "refused: ServiceUnavailableException",
        ),
        ({"embedding": [1.0, 0.0]}, ModelError, r"shape \(1, 2\)"),
        ({"vector": []}, ModelError, r"shape \(1,\)"),
        ((200, "<html>"), ModelError, "not JSON"),
        ((200, "[]"), ModelError, "a JSON list"),
        ((200, " " * (MAX_ANSWER_BYTES + 1)), ModelError, "more than"),
    ],
    ids="invalid denied throttled unavailable short nothing html list large".split(),
)
@waits
async def test_what_is_no_answer(
    monkeypatch: pytest.MonkeyPatch, told: Scripted, error: type[ModelError], words: str
) -> None:
    """A refusal says its code, and no more of what the server said."""
    monkeypatch.setattr("geomi.adapters.models.bedrock.TRIES", 1)
    if isinstance(told, tuple) and told[0] != 200:
        told = (told[0], json.dumps({"__type": told[1], "message": f"of {SECRET}"}))
    with (
        ModelServer(lambda _: told) as server,
        opened(server) as embedder,
        pytest.raises(ModelError, match=words) as caught,
    ):
        await embedder.embed(["text"])
    assert type(caught.value) is error
    assert SECRET not in str(caught.value)


@waits
async def test_a_server_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """It may be there later."""
    monkeypatch.setattr("geomi.adapters.models.bedrock.TRIES", 1)
    with ModelServer([]) as server:
        gone = server
    with opened(gone) as embedder, pytest.raises(ModelBusy, match="EndpointConnectionError"):
        await embedder.embed(["text"])


@waits
async def test_without_credentials_nothing_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody has to say who asks."""
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    with ModelServer([]) as server, opened(server) as embedder:
        with pytest.raises(ModelError, match="no AWS credentials"):
            await embedder.embed(["text"])
        assert server.asked == []


def test_a_region_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The message names a variable, and it is the one that helps."""
    with pytest.raises(ConfigError, match="NoRegionError") as caught:
        Bedrock()
    name = caught.value.hint.split()[1].rstrip(",")
    monkeypatch.setenv(name, "us-east-1")
    Bedrock().close()
