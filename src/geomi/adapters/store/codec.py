"""A job's configuration, or a provider, as JSON and back.

Stores outlive versions: a key this version does not know is ignored, a missing one gets its
default. A value of another kind than its field asks for is damage, and a ValueError or a TypeError.
"""

from __future__ import annotations

import dataclasses
import json
import types
from collections.abc import Callable
from enum import StrEnum
from functools import cache
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

D = TypeVar("D")
Reviver = Callable[[Any], Any]


def encode(value: object) -> str:
    """Write a dataclass or a tuple as JSON."""
    return json.dumps(value, default=_fields, ensure_ascii=False, separators=(",", ":"))


def decode(kind: type[D], text: str) -> D:
    """Read a dataclass that `encode` wrote."""
    hint: Any = kind
    value: D = reviver(hint)(json.loads(text))
    return value


def decode_strings(text: str) -> tuple[str, ...]:
    """Read an array of strings."""
    strings: tuple[str, ...] = reviver(tuple[str, ...])(json.loads(text))
    return strings


def decode_pairs(text: str) -> tuple[tuple[str, str], ...]:
    """Read pairs of strings."""
    pairs: tuple[tuple[str, str], ...] = reviver(tuple[tuple[str, str], ...])(json.loads(text))
    return pairs


def _fields(value: Any) -> dict[str, Any]:
    """Return the fields of a dataclass; its tuples and words need no copy."""
    return {name: getattr(value, name) for name in _names(value.__class__)}


@cache
def _names(kind: Any) -> tuple[str, ...]:
    return tuple(field.name for field in dataclasses.fields(kind))


@cache
def reviver(hint: Any) -> Reviver:
    """Return what gives a JSON value the type its field asks for.

    Types are taken apart once and not for every value: hosts are read with each claim.
    """
    origin = get_origin(hint)
    if origin is tuple:
        return _tuple_reviver(get_args(hint))
    if origin in (types.UnionType, Union):
        (inner,) = (arg for arg in get_args(hint) if arg is not type(None))
        revive = reviver(inner)
        return lambda value: None if value is None else revive(value)
    if dataclasses.is_dataclass(hint):
        return _fields_reviver(hint)
    if isinstance(hint, type) and issubclass(hint, StrEnum | float):
        return hint
    return lambda value: _expect(hint, value)


def _tuple_reviver(hints: tuple[Any, ...]) -> Reviver:
    parts = [reviver(hint) for hint in hints if hint is not Ellipsis]
    if hints[-1] is Ellipsis:
        (part,) = parts
        return lambda value: tuple(map(part, _expect(list, value)))
    return lambda value: tuple(
        part(item) for part, item in zip(parts, _expect(list, value), strict=True)
    )


def _fields_reviver(kind: Any) -> Reviver:
    known = {name: reviver(hint) for name, hint in get_type_hints(kind).items()}
    return lambda value: kind(
        **{name: known[name](part) for name, part in _expect(dict, value).items() if name in known}
    )


def _expect(kind: type, value: Any) -> Any:
    if not isinstance(value, kind):
        raise ValueError(f"{value!r} is not a {kind.__name__}")
    return value
