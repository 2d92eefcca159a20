"""Write a description of an API (OpenAPI 3, Swagger 2) as readable markdown (CTY-03).

Each operation becomes one section: method and path, summary, description, parameters, request
body, responses. A schema is written as its fields, one a line, down to `MAX_DEPTH`. References are
resolved in the same document and nowhere else; a circular reference ends where it repeats.

JSON needs no extra. YAML needs the extra `yaml`, because a reader for a part of YAML would
read some descriptions wrongly. Any other JSON or YAML is refused with a reason.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import TypeAlias

import orjson

from geomi.errors import DISTRIBUTION

MAX_OPERATIONS = 2000
MAX_PATHS = 5000
MAX_LINE_CHARS = 4000
MAX_RESPONSES = 50
MAX_SERVERS = 20
METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace")
NOT_JSON = "unreadable JSON"
NOT_YAML = "unreadable YAML"
NO_YAML = f"YAML needs the extra `{DISTRIBUTION}[yaml]`"
TOO_DEEP = "nests without an end"
NO_API = "describes no API (no `openapi` or `swagger` at its root)"
MAX_DEPTH = 4
MAX_FIELDS = 100  # of one schema
MAX_LINES = 20_000  # of one document
MAX_PARAMETERS = 200
MAX_ENUM = 20
MAX_CELL_CHARS = 500
MAX_HOPS = 10  # references to references
Value: TypeAlias = object
_EMPTY: Mapping[str, Value] = {}


@dataclass(frozen=True, slots=True)
class Described:
    """An API as text: `problem` says why there is none."""

    title: str = ""
    description: str = ""
    markdown: str = ""
    outline: tuple[tuple[int, str], ...] = ()
    problem: str = ""


def looks_described(text: str) -> bool:
    """Tell from a text's beginning whether it may describe an API; a cheap look, for text/plain."""
    start = text[:2000].lower()
    return "openapi" in start or "swagger" in start


def describe_json(text: str) -> Described:
    """Read a description in JSON."""
    try:
        return _describe(orjson.loads(text))
    except (orjson.JSONDecodeError, UnicodeEncodeError):
        return Described(problem=NOT_JSON)
    except RecursionError:
        return Described(problem=TOO_DEEP)


def describe_yaml(text: str) -> Described:
    """Read a description in YAML, or in JSON, which is YAML too."""
    if text.lstrip()[:1] == "{":
        return describe_json(text)
    if importlib.util.find_spec("yaml") is None:
        return Described(problem=NO_YAML)
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        return _describe(yaml.load(text, Loader=loader))
    except (yaml.YAMLError, RecursionError, ValueError):
        return Described(problem=NOT_YAML)


def _describe(value: object) -> Described:
    root = mapping(value)
    if not ("openapi" in root or "swagger" in root) or "info" not in root:
        return Described(problem=NO_API)
    document = OpenApiDocument(root)
    info = mapping(root.get("info"))
    title = text_of(info.get("title")) or "API"
    lines = [f"# {title}", *_head(root, info)]
    outline = [(1, title)]
    for heading, part in _operations(document):
        outline.append((2, heading))
        lines += [f"## {heading}", *part]
    text = "\n\n".join(line for line in lines if line)
    return Described(title, text_of(info.get("description")), text, tuple(outline))


def _head(root: Mapping[str, Value], info: Mapping[str, Value]) -> Iterator[str]:
    if version := text_of(info.get("version")):
        yield f"Version {version}"
    yield _prose(info.get("description"))
    servers = root.get("servers")
    if isinstance(servers, list):
        urls = [text_of(mapping(server).get("url")) for server in servers[:MAX_SERVERS]]
        yield "\n".join(f"- `{url}`" for url in urls if url)
    elif host := text_of(root.get("host")):
        yield f"- `{host}{text_of(root.get('basePath'))}`"


def _operations(document: OpenApiDocument) -> Iterator[tuple[str, list[str]]]:
    left = MAX_OPERATIONS
    paths = mapping(document.root.get("paths"))
    for path in list(paths)[:MAX_PATHS]:
        item = document.resolved(paths[path])
        shared = item.get("parameters")
        for method in METHODS:
            if method in item and left > 0:
                left -= 1
                operation = document.resolved(item[method])
                heading = f"{method.upper()} {path}"[:MAX_LINE_CHARS]
                yield heading, _operation(document, operation, shared)


def _operation(
    document: OpenApiDocument, operation: Mapping[str, Value], shared: Value
) -> list[str]:
    summary = _line(operation.get("summary"))
    parts = [f"**{summary}**" if summary else "", _prose(operation.get("description"))]
    if operation.get("deprecated") is True:
        parts.append("Deprecated.")
    if rows := parameter_rows(document, (shared, operation.get("parameters"))):
        parts += ["### Parameters", rows]
    if body := body_lines(document, operation.get("requestBody")):
        parts += ["### Request body", body]
    if answers := _responses(document, operation.get("responses")):
        parts += ["### Responses", answers]
    return parts


def _responses(document: OpenApiDocument, value: Value) -> str:
    responses = mapping(value)
    lines: list[str] = []
    for status in list(responses)[:MAX_RESPONSES]:
        response = document.resolved(responses[status])
        lines.append(f"- `{status}`: {_line(response.get('description'))}".rstrip(": "))
        if shape := document.shape_of_content(response):
            lines.append(f"  {shape}")
    return "\n".join(lines)


def _line(value: Value) -> str:
    return " ".join(text_of(value)[:MAX_LINE_CHARS].split())


def _prose(value: Value) -> str:
    """Return a description, which is markdown by the specification, with headings made plain."""
    lines = text_of(value).strip().split("\n")
    return "\n".join(f"**{line.strip('# ')}**" if line[:1] == "#" else line for line in lines)


def mapping(value: Value) -> Mapping[str, Value]:
    """Return an object's fields; anything else has none. In YAML a key may be a number."""
    return value if isinstance(value, dict) else _EMPTY


def text_of(value: Value) -> str:
    """Return a text or a number as text; anything else is none."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    return str(value)


@dataclass(slots=True)
class OpenApiDocument:
    """A description whose references can be followed; it says so much and no more."""

    root: Mapping[str, Value]
    lines_left: int = field(default=MAX_LINES)

    def resolved(self, value: Value) -> Mapping[str, Value]:
        """Return an object, or what its reference leads to."""
        found = mapping(value)
        for _ in range(MAX_HOPS):
            reference = found.get("$ref")
            if not isinstance(reference, str):
                return found
            found = self._at(reference)
        return _EMPTY

    def shape_of_content(self, holder: Mapping[str, Value]) -> str:
        """Name the media types and the type of a body, in one line."""
        content = mapping(holder.get("content"))
        if not content:
            return self.name(holder.get("schema"))
        kinds = ", ".join(f"`{kind}`" for kind in list(content)[:MAX_ENUM])
        first = mapping(next(iter(content.values())))
        return f"{kinds} {self.name(first.get('schema'))}".strip()

    def fields(self, value: Value, depth: int = 0, seen: tuple[str, ...] = ()) -> Iterator[str]:
        """Write a schema's fields as a list, each with its type and its description."""
        reference = text_of(mapping(value).get("$ref"))
        if depth >= MAX_DEPTH or (reference and reference in seen):
            return
        schema = self.resolved(value)
        seen = (*seen, reference) if reference else seen
        if "items" in schema:
            yield from self.fields(schema["items"], depth, seen)
            return
        required = schema.get("required")
        for name, inner in self._properties(schema):
            if self.lines_left <= 0:
                return
            self.lines_left -= 1
            is_required = isinstance(required, list) and name in required
            yield f"{'  ' * depth}- {self._field(name, inner, is_required=is_required)}"
            yield from self.fields(inner, depth + 1, seen)

    def name(self, value: Value) -> str:
        """Return the type of a schema in a few words: `string (uuid)`, `array of Pet`."""
        reference = text_of(mapping(value).get("$ref"))
        if reference:
            return reference.rpartition("/")[2][:MAX_CELL_CHARS]
        schema = mapping(value)
        kind = schema.get("type")
        words = " or ".join(map(text_of, kind)) if isinstance(kind, list) else text_of(kind)
        if words == "array":
            return f"array of {self.name(schema.get('items')) or 'anything'}"
        if layout := text_of(schema.get("format")):
            words = f"{words} ({layout})"
        return words or ("object" if "properties" in schema else "")

    def _at(self, reference: str) -> Mapping[str, Value]:
        if not reference.startswith("#/"):
            return _EMPTY  # another document, which is not fetched
        found: Value = self.root
        for part in reference[2:].split("/")[:MAX_HOPS]:
            found = mapping(found).get(part.replace("~1", "/").replace("~0", "~"))
        return mapping(found)

    def _properties(self, schema: Mapping[str, Value]) -> Iterator[tuple[str, Value]]:
        parts = [schema]
        for key in ("allOf", "oneOf", "anyOf"):
            several = schema.get(key)
            parts += map(self.resolved, several[:MAX_ENUM]) if isinstance(several, list) else ()
        pairs = chain.from_iterable(mapping(part.get("properties")).items() for part in parts)
        for name, value in islice(pairs, MAX_FIELDS):
            yield str(name), value

    def _field(self, name: str, value: Value, *, is_required: bool) -> str:
        told = ", ".join(filter(None, (self.name(value), "required" if is_required else "")))
        kind = f" ({told})" if told else ""
        described = cell(self.resolved(value).get("description"))
        return f"`{name[:MAX_CELL_CHARS]}`{kind}" + (f": {described}" if described else "")


def parameter_rows(document: OpenApiDocument, groups: tuple[Value, ...]) -> str:
    """Write parameters as a table; those of an operation replace those of its path."""
    found: dict[tuple[str, str], Mapping[str, Value]] = {}
    for group in groups:
        for value in group[:MAX_PARAMETERS] if isinstance(group, list) else ():
            parameter = document.resolved(value)
            found[text_of(parameter.get("name")), text_of(parameter.get("in"))] = parameter
    rows = [_row(document, *key, parameter) for key, parameter in found.items() if key[0]]
    if not rows:
        return ""
    head = "| name | in | type | required | description |\n| --- | --- | --- | --- | --- |"
    return "\n".join([head, *rows])


def body_lines(document: OpenApiDocument, value: Value) -> str:
    """Write a request's body: its media types, its type, its fields."""
    body = document.resolved(value)
    content = mapping(body.get("content"))
    first = mapping(next(iter(content.values()), None))
    lines = [cell(body.get("description")), document.shape_of_content(body)]
    lines.append("\n".join(document.fields(first.get("schema"))))
    return "\n\n".join(line for line in lines if line)


def _row(document: OpenApiDocument, name: str, place: str, parameter: Mapping[str, Value]) -> str:
    schema = parameter.get("schema", parameter)
    required = "yes" if parameter.get("required") is True else ""
    choice = document.resolved(schema).get("enum")
    described = cell(parameter.get("description"))
    if isinstance(choice, list):
        described = f"{described} One of {', '.join(map(cell, choice[:MAX_ENUM]))}.".strip()
    cells = (f"`{cell(name)}`", cell(place), cell(document.name(schema)), required, described)
    return "| " + " | ".join(cells) + " |"


def cell(value: Value) -> str:
    """Write a value on one line that can stand in a table."""
    words = " ".join(text_of(value)[: 2 * MAX_CELL_CHARS].split())[:MAX_CELL_CHARS]
    return words.replace("|", "\\|")
