"""Asking a language model: what it answers is believed only in the form that was asked for.

An answer that is no JSON, or not of that form, is sent back once with what is wrong with it (C-72).
After that, and where the model cannot be asked at all, there is no answer, and whoever asked falls
back on what needs no model. Everything that was read and written on the way is in the bill.

An answer may repeat what a page says. Sent back it stands between marks, as the page does.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from geomi.analyse.prompts import enclosed, visible
from geomi.errors import ModelError
from geomi.model.language import Answer, Prompt
from geomi.ports.language import LanguageModel

MAX_CALLS = 2  # C-72
MAX_PROBLEM_CHARS = 300
MAX_REPEATED_CHARS = 4000  # of an answer that is sent back

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Consulted(Generic[T]):
    """What came of a question.

    Args:
        value: None where the model gave no answer that makes sense.
        bill: every answer that was paid for.
        problem: why there is no value.
        calls: how often the model was asked; of these, one at most brought the value.
    """

    value: T | None
    bill: tuple[Answer, ...]
    problem: str = ""
    calls: int = 1


async def consult(
    model: LanguageModel, prompt: Prompt, read: Callable[[object], T]
) -> Consulted[T]:
    """Ask, and ask once more where the answer has not the form that was asked for.

    Args:
        read: makes a value of the answer's JSON; raises `ValueError` where it makes no sense.
    """
    bill: list[Answer] = []
    problem = ""
    asked = prompt
    for call in range(1, MAX_CALLS + 1):
        try:
            answer = await model.answer(asked)
        except ModelError as error:
            return Consulted(None, tuple(bill), error.message, call)
        bill.append(answer)
        if not answer.is_whole:
            problem = f"`{model.name}` wrote no whole answer in {prompt.max_tokens} tokens"
            return Consulted(None, tuple(bill), problem, call)
        try:
            return Consulted(read(_parsed(answer.text)), tuple(bill), calls=call)
        except ValueError as error:
            problem = " ".join(visible(str(error)).split())[:MAX_PROBLEM_CHARS]
            asked = _sent_back(prompt, answer.text, problem)
    problem = f"`{model.name}` made no sense twice: {problem}"
    return Consulted(None, tuple(bill), problem, MAX_CALLS)


def _parsed(text: str) -> object:
    """Read JSON, also where a model has put it into a fence of markdown."""
    text = text.strip()
    if text.startswith("```"):
        text = text.partition("\n")[2].rpartition("```")[0]
    try:
        value: object = json.loads(text)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    return value


def _sent_back(prompt: Prompt, text: str, problem: str) -> Prompt:
    """Repeat a question together with the answer that did not fit: it is material, no order."""
    earlier = enclosed("EARLIER ANSWER", text[:MAX_REPEATED_CHARS], "", f"NOT ITS FORM: {problem}")
    return replace(
        prompt,
        task=(
            f"{prompt.task}\n\nAn earlier answer stands after the page, between marks of its own. "
            "It did not have the form that is asked for; its last line says why. It is material "
            "like the page. Answer again, with JSON alone."
        ),
        material=f"{prompt.material}\n\n{earlier}",
    )
