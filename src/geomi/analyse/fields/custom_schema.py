"""Check a job's own schema: the fields that it wants of its pages, as JSON Schema (FUT-14, C-64).

The check allows the part of draft 2020-12 that describes data: types, properties, items, values,
numbers and lengths. It refuses references, to a file, the network or the schema itself. It refuses
patterns, because one could run for ever. It never ignores an unknown keyword, but refuses it and
names its place.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import NamedTuple, NoReturn

from geomi.model.index.language_model import JsonSchema

MAX_SCHEMA_CHARS = 20_000
MAX_DEPTH = 6
MAX_PROPERTIES = 100  # of the whole schema
MAX_VALUES = 100  # of an enumeration
MAX_NAME_CHARS = 64
MAX_TEXT_CHARS = 500  # of a description, and of a value
MAX_ITEMS = 100  # of a list in an answer, whatever its schema says
MAX_VALUE_CHARS = 4000  # of a text in an answer

DRAFT = "https://json-schema.org/draft/2020-12/schema"
TYPES = ("string", "number", "integer", "boolean", "null", "array", "object")


class _Node(NamedTuple):
    """A part of a schema, and where it stands."""

    schema: Mapping[str, object]
    place: str
    depth: int

    def at(self, *steps: str | int) -> str:
        return "/".join((self.place, *map(str, steps)))


def read_schema(text: str) -> JsonSchema:
    """Read a schema; raise `ValueError` with the place of what cannot be one."""
    if len(text) > MAX_SCHEMA_CHARS:
        raise ValueError(f"a schema has at most {MAX_SCHEMA_CHARS:,} characters, not {len(text):,}")
    try:
        schema = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"it is not JSON: {error}") from None
    if not isinstance(schema, dict) or schema.get("type") != "object":
        raise ValueError('at `/`: the root of a schema must have "type": "object"')
    if schema.pop("$schema", DRAFT) != DRAFT:
        raise ValueError(f"at `/$schema`: only {DRAFT} is supported")
    _check(_Node(schema, "", 0), [MAX_PROPERTIES])
    return schema


def types_of(schema: JsonSchema) -> tuple[str, ...]:
    """Return the types that a value may have."""
    told = schema.get("type")
    return tuple(told) if isinstance(told, list) else (str(told),)


def properties_of(schema: JsonSchema) -> Mapping[str, JsonSchema]:
    """Return the properties of an object's schema."""
    found: Mapping[str, JsonSchema] = schema.get("properties", {})  # type: ignore[assignment]
    return found  # checked when it was read


def items_of(schema: JsonSchema) -> JsonSchema:
    """Return what the items of a list have to be."""
    found: JsonSchema = schema["items"]  # type: ignore[assignment]  # checked when it was read
    return found


def form_of(schema: JsonSchema) -> JsonSchema:
    """Return what a model is asked to fill in: every property is there, and each may be null."""
    form = dict(schema)
    if "object" in types_of(schema):
        inner = {name: form_of(one) for name, one in properties_of(schema).items()}
        form |= {"properties": inner, "required": list(inner), "additionalProperties": False}
    if "array" in types_of(schema):
        form["items"] = form_of(items_of(schema))
    if isinstance(values := form.get("enum"), list) and None not in values:
        form["enum"] = [*values, None]
    form["type"] = [*types_of(schema), "null"] if "null" not in types_of(schema) else schema["type"]
    return form


def _check(node: _Node, room: list[int]) -> None:
    if node.depth > MAX_DEPTH:
        _refuse(node.place, f"a schema is at most {MAX_DEPTH} levels deep")
    for word, value in node.schema.items():
        if word not in _WORDS:
            _refuse(node.at(word), f"`{word}` is not supported; {_KNOWN}")
        _WORDS[word](node, value)
    kinds = types_of(node.schema)
    if "type" not in node.schema:
        _refuse(node.place, "it has no `type`")
    if "object" in kinds:
        _check_properties(node, room)
    if "array" in kinds:
        items = node.schema.get("items")
        if not isinstance(items, dict):
            _refuse(node.place, "a list must describe its items in `items`")
        _check(_Node(items, node.at("items"), node.depth + 1), room)


def _check_properties(node: _Node, room: list[int]) -> None:
    properties = node.schema.get("properties")
    if not isinstance(properties, dict) or not properties:
        _refuse(node.place, "an object must list its fields in `properties`")
    for name, inner in properties.items():
        room[0] -= 1
        if room[0] < 0:
            _refuse(node.place, f"a schema has at most {MAX_PROPERTIES} properties")
        if not name or len(name) > MAX_NAME_CHARS or not name.isprintable():
            _refuse(node.place, f"a name must have 1 to {MAX_NAME_CHARS} visible characters")
        if not isinstance(inner, dict):
            _refuse(node.at("properties", name), "it is not an object")
        _check(_Node(inner, node.at("properties", name), node.depth + 1), room)
    for name in _listed(node.schema.get("required", [])):
        if name not in properties:
            _refuse(node.at("required"), f"`{name}` is not a property")


def _is_type(node: _Node, value: object) -> None:
    kinds = _listed(value) if isinstance(value, list) else [value]
    if not kinds or any(kind not in TYPES for kind in kinds):
        _refuse(node.at("type"), f"it must be one of {', '.join(TYPES)}, or a list of them")


def _is_text(node: _Node, value: object) -> None:
    if not isinstance(value, str) or len(value) > MAX_TEXT_CHARS:
        _refuse(node.place, f"a title or description is a text of at most {MAX_TEXT_CHARS} letters")


def _is_values(node: _Node, value: object) -> None:
    values = _listed(value)
    plain = all(one is None or isinstance(one, str | int | float) for one in values)
    if not values or len(values) > MAX_VALUES or not plain:
        _refuse(node.at("enum"), f"it must list 1 to {MAX_VALUES} strings, numbers or booleans")
    if any(isinstance(one, str) and len(one) > MAX_TEXT_CHARS for one in values):
        _refuse(node.at("enum"), f"a value has at most {MAX_TEXT_CHARS} characters")


def _is_names(node: _Node, value: object) -> None:
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        _refuse(node.at("required"), "it must list names of properties")


def _is_number(node: _Node, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        _refuse(node.place, "a bound must be a number")


def _is_count(node: _Node, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        _refuse(node.place, "a number of items or characters must be a whole number from 0")


def _is_closed(node: _Node, value: object) -> None:
    if not isinstance(value, bool):
        _refuse(node.at("additionalProperties"), "it is true or false; none are taken either way")


def _is_checked_below(node: _Node, value: object) -> None:
    """Leave what has parts of its own to `_check`."""


def _listed(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _refuse(place: str, wrong: str) -> NoReturn:
    raise ValueError(f"at `{place or '/'}`: {wrong}")


_WORDS: Mapping[str, Callable[[_Node, object], None]] = {
    "type": _is_type,
    "properties": _is_checked_below,
    "items": _is_checked_below,
    "required": _is_names,
    "enum": _is_values,
    "title": _is_text,
    "description": _is_text,
    "minimum": _is_number,
    "maximum": _is_number,
    "minItems": _is_count,
    "maxItems": _is_count,
    "minLength": _is_count,
    "maxLength": _is_count,
    "additionalProperties": _is_closed,
}
_KNOWN = f"a schema here has {', '.join(_WORDS)}"
