"""A job's configuration, or a provider, as JSON and back.

Stores outlive versions: a key this version does not know is ignored, a missing one gets its
default. A value of another kind than its field asks for is damage, and a ValueError or a TypeError.
"""

from __future__ import annotations

import dataclasses
import json
import types
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


def decode_strings(text: str) -> tuple[str, ...]:
    """Read an array of strings."""
    strings: tuple[str, ...] = _revive_tuple((str, ...), json.loads(text))
    return strings


def decode_pairs(text: str) -> tuple[tuple[str, str], ...]:
    """Read pairs of strings."""
    pairs: tuple[tuple[str, str], ...] = _revive_tuple((tuple[str, str], ...), json.loads(text))
    return pairs


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
    return _expect(hint, value)


def _revive_tuple(hints: tuple[Any, ...], value: Any) -> tuple[Any, ...]:
    _expect(list, value)
    if hints[-1] is Ellipsis:
        return tuple(_revive(hints[0], item) for item in value)
    return tuple(_revive(hint, item) for hint, item in zip(hints, value, strict=True))


def _revive_fields(kind: Any, value: Any) -> Any:
    _expect(dict, value)
    known = _hints(kind)
    return kind(
        **{name: _revive(known[name], part) for name, part in value.items() if name in known}
    )


def _expect(kind: type, value: Any) -> Any:
    if not isinstance(value, kind):
        raise ValueError(f"{value!r} is not a {kind.__name__}")
    return value


@cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)
