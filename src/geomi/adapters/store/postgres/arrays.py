"""Columns as arrays in PostgreSQL's binary form, packed whole.

A settlement sends some thousand values. The driver writes an array element by element, with a look
at the type of each; that took a third of a settlement's time. A column holds one kind of value and
NULLs, so that its elements can be packed together. The form is that of `array_recv`: dimensions,
whether there are NULLs, the type, the length; then each element behind its size.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from struct import Struct
from typing import Any

import numpy as np
import psycopg
from psycopg.adapt import Dumper
from psycopg.pq import Format

_BYTES, _TEXT, _INT8, _FLOAT8 = 17, 25, 20, 701  # the types of elements
_ARRAYS = {_BYTES: 1001, _TEXT: 1009, _INT8: 1016, _FLOAT8: 1022}  # and of their arrays
_NUL, _REPLACEMENT = "\0", "\ufffd"  # PostgreSQL keeps no NUL, and titles come from anywhere

_HEAD = Struct("!iiIii")
_SIZE = Struct("!i").pack
_NO_VALUE = _SIZE(-1)
_NUMBERS = {
    _INT8: np.dtype([("size", ">i4"), ("value", ">i8")]),
    _FLOAT8: np.dtype([("size", ">i4"), ("value", ">f8")]),
}


class PackedArray:
    """An array that is ready to be sent."""

    __slots__ = ("data", "oid")

    def __init__(self, oid: int, data: bytes) -> None:
        self.oid = oid
        self.data = data


class PackedArrayDumper(Dumper):
    """Hands a packed array over as it is; each type of array is a type of its own to the driver."""

    format = Format.BINARY

    def get_key(self, obj: PackedArray, format: Any) -> Any:
        """Tell arrays of different types apart."""
        return (self.cls, obj.oid)

    def upgrade(self, obj: PackedArray, format: Any) -> PackedArrayDumper:
        """Return the dumper of one type of array."""
        dumper = PackedArrayDumper(self.cls)
        dumper.oid = _ARRAYS[obj.oid]
        return dumper

    def dump(self, obj: PackedArray) -> bytes:
        """Write an array."""
        return obj.data


def register(db: psycopg.Connection) -> None:
    """Let a connection take packed arrays."""
    db.adapters.register_dumper(PackedArray, PackedArrayDumper)


def packed(values: Sequence[Any]) -> PackedArray | list[Any]:
    """Pack a column; one that is empty, or of nothing but NULL, is left to the driver."""
    kind = next((type(value) for value in values if value is not None), None)
    if kind is int and any(type(value) is float for value in values):
        kind = float  # a time may be whole; as integers the others would lose their fractions
    pack = _PACKERS.get(kind)
    return pack(values) if pack else list(values)


def _texts(values: Sequence[str | None]) -> PackedArray:
    if any(value is not None and _NUL in value for value in values):
        values = [value and value.replace(_NUL, _REPLACEMENT) for value in values]
    return _sized(_TEXT, [None if value is None else value.encode() for value in values])


def _octets(values: Sequence[bytes | None]) -> PackedArray:
    return _sized(_BYTES, values)


def _sized(oid: int, values: Sequence[bytes | None]) -> PackedArray:
    parts = [_HEAD.pack(1, 1, oid, len(values), 1)]
    for value in values:
        if value is None:
            parts.append(_NO_VALUE)
        else:
            parts += (_SIZE(len(value)), value)
    return PackedArray(oid, b"".join(parts))


def _integers(values: Sequence[int | None]) -> PackedArray:
    return _numbers(_INT8, values, Struct("!iq").pack)


def _floats(values: Sequence[float | None]) -> PackedArray:
    return _numbers(_FLOAT8, values, Struct("!id").pack)


def _numbers(oid: int, values: Sequence[Any], pack: Callable[[int, Any], bytes]) -> PackedArray:
    head = _HEAD.pack(1, 1, oid, len(values), 1)
    if None in values:
        body = b"".join(_NO_VALUE if value is None else pack(8, value) for value in values)
        return PackedArray(oid, head + body)
    column = np.empty(len(values), _NUMBERS[oid])
    column["size"], column["value"] = 8, values
    return PackedArray(oid, head + column.tobytes())


_PACKERS: dict[type | None, Callable[[Sequence[Any]], PackedArray]] = {
    str: _texts,
    bytes: _octets,
    int: _integers,
    float: _floats,
}
