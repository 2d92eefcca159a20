"""A job's configuration as JSON, and back.

Stores outlive versions: a key this version does not know is ignored, a missing one gets its
default.
"""

from __future__ import annotations

import dataclasses
import json
import types
from collections.abc import Mapping
from enum import StrEnum
from functools import cache
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

D = TypeVar("D")


def encode(value: object) -> str:
    """Write a dataclass or a tuple as JSON."""
    plain = dataclasses.asdict(value) if dataclasses.is_dataclass(value) else value  # type: ignore[arg-type]  # an instance, never a class
    return json.dumps(plain, ensure_ascii=False, separators=(",", ":"))


def decode(kind: type[D], text: str) -> D:
    """Read a dataclass that `encode` wrote."""
    value: D = _revive(kind, json.loads(text))
    return value


def decode_pairs(text: str) -> tuple[tuple[str, str], ...]:
    """Read pairs of strings."""
    return tuple((first, second) for first, second in json.loads(text))


def _revive(hint: Any, value: Any) -> Any:
    """Give a JSON value the type its field asks for."""
    origin = get_origin(hint)
    if origin is tuple:
        return _revive_tuple(get_args(hint), value)
    if origin in (types.UnionType, Union):
        (inner,) = (arg for arg in get_args(hint) if arg is not type(None))
        return None if value is None else _revive(inner, value)
    if dataclasses.is_dataclass(hint):
        return _revive_fields(hint, value)
    if isinstance(hint, type) and issubclass(hint, StrEnum | float):
        return hint(value)
    return value


def _revive_tuple(hints: tuple[Any, ...], value: list[Any]) -> tuple[Any, ...]:
    if hints[-1] is Ellipsis:
        return tuple(_revive(hints[0], item) for item in value)
    return tuple(_revive(hint, item) for hint, item in zip(hints, value, strict=True))


def _revive_fields(kind: Any, value: Mapping[str, Any]) -> Any:
    known = _hints(kind)
    return kind(
        **{name: _revive(known[name], part) for name, part in value.items() if name in known}
    )


@cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)
