"""A real model behind a real server on loopback; only for whoever asks for it.

`GEOMI_TEST_GGUF` names a model as llama.cpp reads it; `pip install xllamacpp` (34 MB) brings the
server. The smallest model will do: what is tested is the wire and the form, not what is understood.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TypeVar

import pytest

from geomi.adapters.http import Egress, HttpClient
from geomi.adapters.models.openai import OpenAiModel
from geomi.analyse.language_model import FIELDS, ask_for_fields, ask_for_quality, ask_for_type
from geomi.engine.enrich.language_model import ask_model
from geomi.model.index.language_model import Prompt
from tests.adapters.http.support import LOOPBACK, RealClock
from tests.support.waiting import waits

PAGE = (
    "http://a.test/scarf",
    "Silk scarf",
    "# Silk scarf\n\nA light scarf of pure silk, woven by hand in Lyon. Price: $39.00. In stock.",
)
PROMPTS = (
    ask_for_type(*PAGE),
    ask_for_quality(*PAGE),
    *(ask_for_fields(*PAGE, page_type) for page_type in FIELDS),
)
MAX_TOKENS = 24
SERVE = """
import sys, threading
import xllamacpp
wanted = xllamacpp.CommonParams()
wanted.model.path, wanted.n_ctx, wanted.n_parallel = sys.argv[1], 4096, 1
wanted.hostnames, wanted.port = ["127.0.0.1"], 0
server = xllamacpp.Server(wanted)
print(server.listening_address, flush=True)
threading.Event().wait()
"""

pytestmark = pytest.mark.slow

T = TypeVar("T")


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    """Run a server with the model that was named."""
    model = Path(os.environ.get("GEOMI_TEST_GGUF", ""))
    if not model.is_file() or find_spec("xllamacpp") is None:
        pytest.skip("a real model: GEOMI_TEST_GGUF=model.gguf and pip install xllamacpp")
    command = [sys.executable, "-c", SERVE, str(model)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as server:
        assert server.stdout is not None
        yield f"{server.stdout.readline().strip()}/v1"
        server.kill()  # it does not end by itself


@waits
async def work_with(endpoint: str, use: Callable[[OpenAiModel], Awaitable[T]]) -> T:
    """Use the model as geomi does."""
    clock = RealClock()
    client = HttpClient(Egress(LOOPBACK, clock), clock)
    try:
        return await use(OpenAiModel(client, endpoint, "tiny"))
    finally:
        await client.aclose()


@pytest.mark.parametrize("prompt", PROMPTS, ids=lambda prompt: prompt.form_name)
def test_every_form_is_understood(endpoint: str, prompt: Prompt) -> None:
    """So small a model hardly comes to an end; it begins in the form, and is paid for."""
    short = replace(prompt, max_tokens=MAX_TOKENS)
    answer = work_with(endpoint, lambda model: model.answer(short))
    assert "".join(answer.text.split()).startswith('{"')
    assert answer.tokens_in > 50
    assert 0 < answer.tokens_out <= MAX_TOKENS
    assert answer.is_whole == (answer.tokens_out < MAX_TOKENS)


def test_a_short_form_is_answered(endpoint: str) -> None:
    form = {
        "type": "object",
        "properties": {"category": {"type": "string", "enum": ["product", "faq"]}},
        "required": ["category"],
        "additionalProperties": False,
    }
    prompt = replace(PROMPTS[0], form=form, max_tokens=4 * MAX_TOKENS)
    consulted = work_with(endpoint, lambda model: ask_model(model, prompt, _category))
    assert consulted.value in ("product", "faq"), consulted.problem
    assert len(consulted.bill) == consulted.calls == 1


def _category(told: object) -> str:
    if not isinstance(told, dict):
        raise ValueError("no object")
    return str(told["category"])
