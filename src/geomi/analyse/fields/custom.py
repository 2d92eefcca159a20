"""Fill a job's own schema for a page: from structured data if the page has it, or by a model.

A value that the page's JSON-LD or microdata has under the same name comes first. A model fills the
rest, and unknown fields are null. Every answer is checked against the schema again, whatever a
server promises. Texts that are not on the page are listed but kept, because a schema may ask for
words of the model's own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from geomi.analyse.fields.custom_schema import (
    MAX_ITEMS,
    MAX_VALUE_CHARS,
    items_of,
    properties_of,
    types_of,
)
from geomi.analyse.fields.structured_data import STRUCTURED
from geomi.analyse.language_model import visible
from geomi.model.index.analysis import CustomFields, Engine
from geomi.model.index.language_model import JsonSchema
from geomi.model.page import Article

ENGINE = Engine("rules", "custom-1")
NO_MODEL = "no model was asked; geomi used structured data alone"

Value = object  # JSON


def read_custom(article: Article, schema: JsonSchema) -> CustomFields:
    """Fill a schema from a page's structured data alone."""
    said: dict[str, str] = {}
    for key, value in article.metadata:
        if key.startswith(STRUCTURED):
            said.setdefault(key.partition(".")[2].lower(), value)
    data = {name: _told(said, name, one) for name, one in properties_of(schema).items()}
    return CustomFields(data, missing_in(data, schema), (), NO_MODEL, ENGINE)


def read_answered_custom(told: object, schema: JsonSchema) -> dict[str, Value]:
    """Read an answer by its schema; raise `ValueError` with what does not fit."""
    if not isinstance(told, dict):
        raise ValueError(f"the answer is a JSON {type(told).__name__}, not an object")
    data = _fit(told, schema, "")
    assert isinstance(data, dict), "an object fits as an object"
    return data


def filled(
    known: CustomFields, told: Mapping[str, Value], page: str, engine: Engine
) -> CustomFields:
    """Let an answer fill what structured data has left open."""
    data = {name: told.get(name) if value is None else value for name, value in known.data.items()}
    taken = {name: value for name, value in data.items() if known.data[name] is None}
    text = _plain(page)
    strange = tuple(place for place, said in _texts(taken, "") if said and _plain(said) not in text)
    return replace(known, data=data, not_on_page=strange, problem="", engine=engine)


def missing_in(data: Mapping[str, Value], schema: JsonSchema) -> tuple[str, ...]:
    """Name the properties that are required and not known."""
    required = schema.get("required")
    names = required if isinstance(required, list) else []
    return tuple(name for name in names if data.get(name) is None)


def _told(said: Mapping[str, str], path: str, schema: JsonSchema) -> Value:
    """Return what is said at a path, as its schema has it; None where that does not fit."""
    kinds = types_of(schema)
    if "object" in kinds:
        inner = properties_of(schema)
        found = {name: _told(said, f"{path}.{name}", one) for name, one in inner.items()}
        return found if any(value is not None for value in found.values()) else None
    if "array" in kinds:
        one = _told(said, path, items_of(schema))
        return None if one is None else [one]
    if (text := said.get(path.lower())) is None:
        return None
    for kind in kinds:
        try:
            return _fit(_read_as(kind, text), schema, path)
        except ValueError:
            continue
    return None


def _read_as(kind: str, text: str) -> Value:
    match kind:
        case "integer":
            return int(text)
        case "number":
            return float(text)
        case "boolean" if text.lower() in ("true", "false"):
            return text.lower() == "true"
        case "string":
            return text
    raise ValueError(f"`{text}` is no {kind}")


def _fit(value: Value, schema: JsonSchema, place: str) -> Value:
    """Return a value as its schema has it; what is too much is left out, what is wrong refused."""
    if value is None:
        return None
    match value:
        case dict() if "object" in types_of(schema):
            inner = properties_of(schema)
            return {
                name: _fit(value.get(name), one, f"{place}/{name}") for name, one in inner.items()
            }
        case list() if "array" in types_of(schema):
            return _fit_list(value, schema, place)
        case str() if "string" in types_of(schema):
            value = visible(value).strip()[:MAX_VALUE_CHARS]
        case bool() if "boolean" in types_of(schema):
            pass
        case int() | float() if not isinstance(value, bool) and _is_number(value, schema):
            pass
        case _:
            kinds = " or ".join(types_of(schema))
            raise ValueError(f"`{place}` is a JSON {type(value).__name__}, not {kinds}")
    _check_bounds(value, schema, place)
    return value


def _fit_list(values: list[Value], schema: JsonSchema, place: str) -> list[Value]:
    most, least = _bound(schema, "maxItems", MAX_ITEMS), _bound(schema, "minItems", 0)
    items = items_of(schema)
    taken = values[: int(min(most, MAX_ITEMS))]
    fitting = [_fit(one, items, f"{place}/{at}") for at, one in enumerate(taken)]
    if len(fitting) < least:
        raise ValueError(f"`{place}` has {len(fitting)} items; it has at least {least:g}")
    return fitting


def _check_bounds(value: Value, schema: JsonSchema, place: str) -> None:
    values = schema.get("enum")
    if isinstance(values, list) and value not in values:
        raise ValueError(f"`{place}` is not one of the allowed values")
    size: float
    if isinstance(value, str):
        size, low, high = len(value), "minLength", "maxLength"
    elif isinstance(value, int | float) and not isinstance(value, bool):
        size, low, high = value, "minimum", "maximum"
    else:
        return
    if not _bound(schema, low, float("-inf")) <= size <= _bound(schema, high, float("inf")):
        raise ValueError(f"`{place}` is outside of {low} and {high}")


def _is_number(value: float, schema: JsonSchema) -> bool:
    kinds = types_of(schema)
    return "number" in kinds or ("integer" in kinds and float(value).is_integer())


def _bound(schema: JsonSchema, name: str, otherwise: float) -> float:
    value = schema.get(name)
    return value if isinstance(value, int | float) else otherwise


def _texts(value: Value, place: str) -> Iterator[tuple[str, str]]:
    """Yield every text of a value, with where it stands."""
    match value:
        case str():
            yield place, value
        case dict():
            for name, inner in value.items():
                yield from _texts(inner, f"{place}/{name}")
        case list():
            for at, inner in enumerate(value):
                yield from _texts(inner, f"{place}/{at}")


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())
