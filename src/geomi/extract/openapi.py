"""A description of an API (OpenAPI 3, Swagger 2) as readable markdown (CTY-03).

One section for each operation: method and path, summary, description, parameters, request body,
responses. References are followed inside the document alone, and so deep as a reader would look.
JSON is always read; YAML needs the extra `geomi[yaml]`, because a reader for less than all of YAML
would read some descriptions wrongly. Anything else in JSON or YAML is no page.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import orjson

from geomi.extract.schema import Document, Value, body_lines, mapping, parameter_rows, text_of

MAX_OPERATIONS = 2000
MAX_PATHS = 5000
MAX_LINE_CHARS = 4000
MAX_RESPONSES = 50
MAX_SERVERS = 20

METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace")
NOT_JSON = "JSON that cannot be read"
NOT_YAML = "YAML that cannot be read"
NO_YAML = "YAML needs the extra `geomi[yaml]`"
TOO_DEEP = "describes things inside things without an end"
NO_API = "describes no API (no `openapi` or `swagger` at its root)"


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
    document = Document(root)
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


def _operations(document: Document) -> Iterator[tuple[str, list[str]]]:
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


def _operation(document: Document, operation: Mapping[str, Value], shared: Value) -> list[str]:
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


def _responses(document: Document, value: Value) -> str:
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
