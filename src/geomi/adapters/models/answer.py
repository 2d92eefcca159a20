"""What a server answered, as far as it is a JSON object at all."""

from __future__ import annotations

from typing import Any

from geomi.adapters.endpoint import read_json_object
from geomi.errors import ModelError

# No model reads or writes more at once; what a server says beyond it is nonsense, and would end up
# in a bill.
MAX_TOKENS = 10_000_000
MAX_NAME_CHARS = 200


def read_tokens(told: object) -> int:
    """Read how many tokens a server says it has read or written; nonsense is none."""
    if not isinstance(told, int):
        return 0
    return min(max(told, 0), MAX_TOKENS)


def read_name(told: object, asked: str) -> str:
    """Read which model a server says it has asked; the one that was asked for if it says none."""
    return told[:MAX_NAME_CHARS] if isinstance(told, str) and told.isprintable() and told else asked


def read_object(body: bytes, source: str) -> dict[str, Any]:
    """Read the JSON object of an answer; anything else is none."""
    try:
        return read_json_object(body)
    except ValueError as error:
        raise ModelError(f"{source} answered with {error}") from error
