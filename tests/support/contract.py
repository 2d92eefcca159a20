"""Checks answers against the shapes of the contract, which stand in `contract.schema.json`."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import jsonschema_rs
import orjson

SCHEMA = Path(__file__).with_suffix(".schema.json")


@cache
def shapes() -> dict[str, Any]:
    """Return every shape by its name."""
    found: dict[str, Any] = orjson.loads(SCHEMA.read_bytes())["$defs"]
    return found


def assert_shape(answer: object, name: str) -> None:
    """Fail where an answer has not the shape of that name; say where."""
    schema = {"$ref": f"#/$defs/{name}", "$defs": shapes()}
    check = jsonschema_rs.Draft202012Validator(schema, validate_formats=True)
    wrong = [f"{list(one.instance_path)}: {one.message}" for one in check.iter_errors(answer)]
    assert not wrong, f"this is no {name}: {'; '.join(wrong)}"
