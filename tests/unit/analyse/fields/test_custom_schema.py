"""A job's own schema: what can be asked, and what is refused with its place."""

from __future__ import annotations

import json
from typing import Any

import pytest

from geomi.analyse.fields.custom_schema import (
    DRAFT,
    MAX_DEPTH,
    MAX_NAME_CHARS,
    MAX_PROPERTIES,
    MAX_SCHEMA_CHARS,
    MAX_TEXT_CHARS,
    MAX_VALUES,
    form_of,
    read_schema,
)


def schema(**properties: object) -> str:
    """Write a schema of an object."""
    return json.dumps({"type": "object", "properties": properties})


TEXT = {"type": "string"}


def nested(levels: int) -> dict[str, object]:
    """Make a list of lists."""
    inner: dict[str, object] = dict(TEXT)
    for _ in range(levels):
        inner = {"type": "array", "items": inner}
    return inner


@pytest.mark.req("FUT-14")
def test_what_describes_data_is_taken() -> None:
    told: dict[str, Any] = {
        "$schema": DRAFT,
        "title": "A release",
        "type": "object",
        "additionalProperties": False,
        "required": ["version"],
        "properties": {
            "version": {"type": "string", "description": "as written", "maxLength": 20},
            "stable": {"type": ["boolean", "null"]},
            "year": {"type": "integer", "minimum": 1990, "maximum": 2100},
            "level": {"type": "string", "enum": ["major", "minor"]},
            "changes": {"type": "array", "maxItems": 5, "items": TEXT},
            "by": {"type": "object", "properties": {"name": TEXT}},
        },
    }
    read = read_schema(json.dumps(told))
    form = form_of(read)
    assert form["required"] == list(told["properties"])
    inner = form["properties"]
    assert isinstance(inner, dict)
    assert inner["version"]["type"] == ["string", "null"]
    assert inner["stable"]["type"] == ["boolean", "null"]
    assert inner["level"]["enum"] == ["major", "minor", None]
    assert inner["by"]["additionalProperties"] is False and inner["by"]["required"] == ["name"]
    assert inner["changes"]["items"]["type"] == ["string", "null"]
    assert read["required"] == ["version"]  # the schema itself stays as it was


@pytest.mark.req("FUT-14")
@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "not JSON"),
        ("[" * 10_000, "not JSON"),
        ("[]", "at `/`: the root"),
        ('{"type": "string"}', "at `/`: the root"),
        ('{"type": "object"}', "in `properties`"),
        ('{"type": "object", "properties": {}}', "in `properties`"),
        (
            json.dumps({"$schema": "http://json-schema.org/draft-07/schema#", "type": "object"}),
            "only",
        ),
        (schema(a={"$ref": "file:///etc/passwd"}), "at `/properties/a/$ref`: `$ref` is not supp"),
        (schema(a={"$ref": "#/properties/a"}), "`$ref` is not supported"),
        (schema(a={"type": "string", "pattern": "(a+)+$"}), "`pattern` is not supported"),
        (schema(a={"anyOf": [TEXT]}), "`anyOf` is not supported"),
        (schema(a={}), "at `/properties/a`: it has no `type`"),
        (schema(a="string"), "at `/properties/a`: it is not an object"),
        (schema(a={"type": "text"}), "at `/properties/a/type`"),
        (schema(a={"type": []}), "at `/properties/a/type`"),
        (schema(a={"type": "array"}), "in `items`"),
        (schema(a={"type": "array", "items": {"type": "array"}}), "at `/properties/a/items`"),
        (schema(a={**TEXT, "enum": []}), "at `/properties/a/enum`"),
        (schema(a={**TEXT, "enum": [["x"]]}), "at `/properties/a/enum`"),
        (schema(a={**TEXT, "enum": ["x" * (MAX_TEXT_CHARS + 1)]}), "a value has at most"),
        (schema(a={**TEXT, "maxLength": -1}), "from 0"),
        (schema(a={**TEXT, "maxLength": True}), "from 0"),
        (schema(a={"type": "number", "minimum": "1"}), "a bound must be a number"),
        (schema(a={**TEXT, "description": 1}), "description is a text"),
        (schema(**{"": TEXT}), "a name must have 1 to"),
        (schema(**{"a\u200bb": TEXT}), "a name must have 1 to"),
        (json.dumps({"type": "object", "properties": {"a": TEXT}, "required": ["b"]}), "`b` is no"),
        (json.dumps({"type": "object", "properties": {"a": TEXT}, "required": "a"}), "list names"),
        (
            json.dumps({"type": "object", "properties": {"a": TEXT}, "additionalProperties": TEXT}),
            "true or false",
        ),
    ],
)
def test_anything_else_is_refused_with_its_place(text: str, problem: str) -> None:
    with pytest.raises(ValueError) as caught:
        read_schema(text)
    assert problem in str(caught.value)


@pytest.mark.parametrize(
    ("make", "most"),
    [
        (lambda n: schema(**{f"p{at}": TEXT for at in range(n)}), MAX_PROPERTIES),
        (lambda n: schema(a=nested(n - 1)), MAX_DEPTH),
        (lambda n: schema(a={**TEXT, "enum": [str(at) for at in range(n)]}), MAX_VALUES),
        (lambda n: schema(**{"n" * n: TEXT}), MAX_NAME_CHARS),
        (lambda n: schema(a={**TEXT, "description": "d" * n}), MAX_TEXT_CHARS),
        (lambda n: schema(a=TEXT).ljust(n), MAX_SCHEMA_CHARS),
    ],
    ids=["properties", "depth", "values", "name", "description", "characters"],
)
def test_limits(make: object, most: int) -> None:
    assert callable(make)
    read_schema(make(most))
    with pytest.raises(ValueError, match=r"at most|1 to"):
        read_schema(make(most + 1))
