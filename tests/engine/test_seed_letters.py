"""Dead letters as people are shown them."""

from __future__ import annotations

import orjson

from geomi.engine.seeds.letters import MAX_SHOWN_BYTES, written
from geomi.model.message import DeadLetter, ErrorContext, ErrorInfo, Message
from geomi.model.seed import ErrorType, Partition

SG = Partition("sg", "news", "2026-01-28")


def shown(body: bytes) -> object:
    """Return what is shown of a message."""
    message = Message("domain", "name", "task", SG, body)
    why = ErrorInfo(ErrorType.PARSE, "broken", 3, "2026-01-28T10:00:00Z")
    letter = DeadLetter("L1", message, why, ErrorContext("domain", "1.0", 5))
    return written(letter)["original_message"]


def test_a_message_is_an_object_as_long_as_it_is_no_burden() -> None:
    frame = orjson.dumps({"title": ""})
    whole = "x" * (MAX_SHOWN_BYTES - len(frame))
    assert shown(orjson.dumps({"title": whole})) == {"title": whole}
    assert shown(b"\xff{") == "\\xff{"


def test_of_one_that_is_larger_the_beginning_is_shown() -> None:
    text = shown(orjson.dumps({"title": "é" * MAX_SHOWN_BYTES}))
    assert isinstance(text, str)
    assert text.startswith('{"title":"éé') and text.endswith("é…")
    assert len(text.encode()) <= MAX_SHOWN_BYTES + len("…".encode())
