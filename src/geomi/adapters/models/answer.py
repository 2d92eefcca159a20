"""What a server answered, as far as it is a JSON object at all."""

from __future__ import annotations

from typing import Any

import orjson

from geomi.errors import ModelError


def read_object(body: bytes, source: str) -> dict[str, Any]:
    """Read the JSON object of an answer; anything else is none."""
    try:
        told = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise ModelError(f"{source} answered with something that is no JSON") from error
    if not isinstance(told, dict):
        raise ModelError(f"{source} answered with a JSON {type(told).__name__}, not an object")
    return told
