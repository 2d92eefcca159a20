"""A language model behind an OpenAI-compatible server, over real connections on loopback."""

from __future__ import annotations

import pytest

from geomi.adapters.http import Egress, EgressRules, HttpClient
from geomi.adapters.models.openai import MAX_ANSWER_BYTES, OpenAiModel
from geomi.engine.enrich.language_model import ParsedAnswer, ask_model
from geomi.errors import ConfigError, ModelBusy, ModelError, ModelThrottled
from geomi.model.index.language_model import ModelReply, Prompt
from tests.adapters.http.support import LOOPBACK, RealClock
from tests.support.models import ModelServer, Scripted, completion
from tests.support.waiting import waits

FORM = {"type": "object", "properties": {"category": {"type": "string"}}}
PROMPT = Prompt("Say what it is.", "PAGE: a text", "kind", FORM, max_tokens=50)


async def ask(endpoint: str, *, key: str = "", rules: EgressRules = LOOPBACK) -> ModelReply:
    """Ask a server one question."""
    clock = RealClock()
    client = HttpClient(Egress(rules, clock), clock)
    try:
        return await OpenAiModel(client, endpoint, "tiny", key=key).answer(PROMPT)
    finally:
        await client.aclose()


async def ask_twice(endpoint: str) -> ParsedAnswer[str]:
    """Ask a server, and once more where it makes no sense."""
    clock = RealClock()
    client = HttpClient(Egress(LOOPBACK, clock), clock)
    try:
        return await ask_model(OpenAiModel(client, endpoint, "tiny"), PROMPT, category)
    finally:
        await client.aclose()


def category(told: object) -> str:
    """Read the one field that the form has."""
    if not isinstance(told, dict) or not isinstance(told.get("category"), str):
        raise ValueError("`category` is missing")
    return str(told["category"])


@waits
async def test_a_question_and_its_answer() -> None:
    with ModelServer(['{"category": "faq"}']) as server:
        answer = await ask(server.endpoint, key="s3cret")
    assert answer == ModelReply('{"category": "faq"}', "tiny", 100, 20)
    (asked,) = server.asked
    assert asked["path"] == "/v1/chat/completions"
    assert [message["role"] for message in asked["messages"]] == ["system", "user"]
    assert asked["messages"][1]["content"] == PROMPT.material
    assert asked["response_format"]["json_schema"]["schema"] == FORM
    assert asked["max_tokens"] == PROMPT.max_tokens
    assert "tools" not in asked
    assert server.headers[0]["authorization"] == "Bearer s3cret"


@waits
async def test_without_a_key_none_is_sent() -> None:
    with ModelServer(["{}"]) as server:
        await ask(server.endpoint)
    assert "authorization" not in server.headers[0]


@pytest.mark.parametrize(
    ("told", "error", "words"),
    [
        ((401, '{"error": {"message": "bad key"}}'), ModelError, "answered 401: bad key"),
        ((429, "slow down"), ModelThrottled, "answered 429: slow down"),
        ((503, ""), ModelThrottled, "answered 503: nothing more"),
        ((301, ""), ModelError, "answered 301"),
        ((200, "<html>"), ModelError, "not JSON"),
        ((200, "[]"), ModelError, "a JSON list"),
        ({"choices": []}, ModelError, "in an unexpected form"),
        ({"choices": [{"message": None}]}, ModelError, "in an unexpected form"),
        (
            {"choices": [{"message": {"content": "x"}}], "usage": 7},
            ModelError,
            "in an unexpected form",
        ),
        ((200, " " * (MAX_ANSWER_BYTES + 1)), ModelBusy, "did not answer"),
    ],
    ids=lambda value: "" if isinstance(value, type) else str(value)[:30],
)
@waits
async def test_what_is_no_answer(told: Scripted, error: type[ModelError], words: str) -> None:
    with ModelServer([told]) as server, pytest.raises(ModelError, match=words) as caught:
        await ask(server.endpoint, key="s3cret")
    assert type(caught.value) is error
    assert "s3cret" not in str(caught.value)


@pytest.mark.parametrize("told", [completion(None), completion("{}", finish="length")])
@waits
async def test_half_an_answer_is_none_and_paid_for(told: Scripted) -> None:
    with ModelServer([told, '{"category": "faq"}']) as server:
        consulted = await ask_twice(server.endpoint)
    assert consulted.value is None
    assert [(answer.tokens_in, answer.tokens_out) for answer in consulted.bill] == [(100, 20)]
    assert consulted.problem == "`tiny` did not complete its answer in 50 tokens"


@waits
async def test_a_server_that_is_not_there() -> None:
    with ModelServer([]) as server:
        endpoint = server.endpoint
    with pytest.raises(ModelBusy, match="did not answer"):
        await ask(endpoint)


@waits
async def test_the_gate_stands_before_it() -> None:
    with ModelServer(["{}"]) as server, pytest.raises(ModelBusy, match="not public"):
        await ask(server.endpoint, rules=EgressRules())
    assert not server.asked


@pytest.mark.parametrize("endpoint", ["", "model", "ftp://a/v1", "http://key@a.test/v1"])
@waits
async def test_an_endpoint_that_is_none(endpoint: str) -> None:
    with pytest.raises(ConfigError, match="plain http or https URL"):
        await ask(endpoint)


@pytest.mark.parametrize(
    "text",
    ['{"category": "faq"}', ' \n{"category": "faq"}\n', '```json\n{"category": "faq"}\n```'],
)
@waits
async def test_an_answer_that_makes_sense(text: str) -> None:
    with ModelServer([text]) as server:
        consulted = await ask_twice(server.endpoint)
    assert consulted.value == "faq"
    assert len(consulted.bill) == len(server.asked) == 1


@pytest.mark.parametrize("first", ["no idea", "[]", '{"categories": 1}', "[" * 100_000])
@waits
async def test_an_answer_that_is_mended(first: str) -> None:
    with ModelServer([first, '{"category": "faq"}']) as server:
        consulted = await ask_twice(server.endpoint)
    assert consulted.value == "faq"
    assert len(consulted.bill) == 2
    again = server.asked[1]["messages"]
    assert PROMPT.material in again[1]["content"]
    assert first[:30] in again[1]["content"]
    assert first[:30] not in again[0]["content"]


@waits
async def test_nonsense_is_asked_twice_and_paid_for() -> None:
    with ModelServer(["one", "two", '{"category": "faq"}']) as server:
        consulted = await ask_twice(server.endpoint)
    assert consulted.value is None
    assert len(consulted.bill) == len(server.asked) == 2
    assert "gave an unusable answer twice" in consulted.problem


@waits
async def test_a_model_that_is_busy_costs_nothing() -> None:
    with ModelServer([(429, "later")]) as server:
        consulted = await ask_twice(server.endpoint)
    assert consulted == ParsedAnswer(None, (), f"{server.endpoint} answered 429: later")
