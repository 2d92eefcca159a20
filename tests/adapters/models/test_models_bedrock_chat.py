"""Language models on Bedrock, by Amazon's own client from a server on loopback."""

from __future__ import annotations

from contextlib import closing
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from geomi.adapters.models.bedrock import CLASSIFIER, Bedrock, BedrockModel
from geomi.errors import ModelError
from geomi.model.index.language_model import ModelReply, Prompt
from tests.conftest import missing_part
from tests.support.models import ModelServer, Scripted
from tests.support.waiting import waits

if find_spec("boto3") is None:
    missing_part("no boto3: pip install '.[bedrock]'")

PROMPT = Prompt("Say what it is.", "the page", "kind", {"type": "object"}, max_tokens=77)


@pytest.fixture(autouse=True)
def _own_account(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Let no account of this machine be found."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key-of-tests")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret-of-tests")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, str(tmp_path / name))


def converse(text: str, *, stop: str = "end_turn") -> dict[str, Any]:
    """Return an answer of the shape that Bedrock's Converse API has."""
    return {
        "output": {"message": {"role": "assistant", "content": [{"text": text}]}},
        "stopReason": stop,
        "usage": {"inputTokens": 90, "outputTokens": 12, "totalTokens": 102},
        "metrics": {"latencyMs": 3},
    }


async def ask(answer: Scripted) -> tuple[ModelReply, list[dict[str, Any]]]:
    """Ask a server on loopback once."""
    with ModelServer([answer] * 3) as server:
        endpoint = server.endpoint.removesuffix("/v1")
        with closing(Bedrock(region="us-east-1", endpoint=endpoint)) as bedrock:
            return await BedrockModel(bedrock, CLASSIFIER).answer(PROMPT), server.asked


@pytest.mark.req("ANA-06", "ANA-12", "ANA-18")
@waits
async def test_the_task_is_the_systems_and_the_page_the_users() -> None:
    answer, asked = await ask(converse('{"a": 1}'))
    assert answer == ModelReply('{"a": 1}', CLASSIFIER, 90, 12)
    (question,) = asked
    assert question["path"] == "/model/amazon.nova-micro-v1%3A0/converse"
    (system,) = question["system"]
    assert system["text"].startswith("Say what it is.") and '{"type":"object"}' in system["text"]
    assert "the page" not in system["text"]
    assert question["messages"] == [{"role": "user", "content": [{"text": "the page"}]}]
    assert question["inferenceConfig"]["maxTokens"] == 77
    assert "toolConfig" not in question


@waits
async def test_an_answer_that_is_cut_off_is_not_whole() -> None:
    answer, _ = await ask(converse('{"a', stop="max_tokens"))
    assert not answer.is_whole


@pytest.mark.parametrize("answer", [{"output": {}}, {"output": {"message": {"content": None}}}])
def test_an_answer_of_another_form(answer: dict[str, Any]) -> None:
    @waits
    async def work() -> None:
        with pytest.raises(ModelError, match="answered in an unexpected form"):
            await ask(answer)

    work()


@waits
async def test_a_refusal_tells_its_code_alone() -> None:
    body = '{"__type": "AccessDeniedException", "message": "arn:aws:iam::1:user/x is not allowed"}'
    with pytest.raises(ModelError, match="refused: ") as refused:
        await ask((403, body))
    assert "arn:" not in refused.value.message
