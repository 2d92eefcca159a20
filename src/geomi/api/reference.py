"""`/openapi.json`, and `/docs`: the same document for people, without a script or another's server.

The page is made once from the document, because nothing else decides what it says.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import cast

from fastapi import APIRouter, Request
from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.responses import HTMLResponse, JSONResponse, Response

from geomi.api.document import Document

CSP = "default-src 'none'; style-src 'self'; frame-ancestors 'none'; base-uri 'none'"

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True, slots=True)
class Field:
    """A parameter, or a field of a body."""

    name: str
    kind: str
    about: str
    is_needed: bool


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation as the page shows it."""

    id: str
    tag: str
    method: str
    path: str
    title: str
    about: str
    access: str
    parameters: tuple[Field, ...]
    body: tuple[Field, ...]
    example: str
    answers: tuple[tuple[str, str], ...]


@router.get("/openapi.json")
async def document(request: Request) -> Response:
    """Return the document; it says nothing about anybody's data."""
    if not hasattr(request.app.state, "document"):  # nobody needs a key to have it written
        request.app.state.document = JSONResponse(request.app.openapi()).body
    return Response(request.app.state.document, media_type="application/json")


@router.get("/docs")
async def page(request: Request) -> Response:
    """Show the document to a person."""
    if not hasattr(request.app.state, "reference"):
        request.app.state.reference = render(request.app.openapi())
    return HTMLResponse(request.app.state.reference, headers={"Content-Security-Policy": CSP})


@router.get("/docs/style.css")
async def style() -> Response:
    """Return the page's style."""
    text = resources.files("geomi.api").joinpath("templates/reference.css").read_text("utf-8")
    return Response(text, media_type="text/css")


def render(document: Document) -> str:
    """Write the document as a page."""
    groups: dict[str, list[Operation]] = {}
    for operation in operations(document):
        groups.setdefault(operation.tag, []).append(operation)
    page = _templates().get_template("reference.html")
    return page.render(info=document["info"], groups=groups)


def operations(document: Document) -> Iterator[Operation]:
    """Read the operations of a document."""
    for path, methods in document["paths"].items():
        for method, told in methods.items():
            body = _body(document, told)
            scope = told.get("x-required-scope")
            role = " of an administrator" if told.get("x-required-role") == "admin" else ""
            yield Operation(
                id=told["operationId"],
                tag=told["tags"][0],
                method=method.upper(),
                path=path,
                title=told.get("summary", ""),
                about=told.get("description", ""),
                access=f"a key{role} with the scope `{scope}`" if scope else "no key",
                parameters=tuple(_parameter(one) for one in told.get("parameters", ())),
                body=tuple(_fields(document, body)),
                example=_example(body),
                answers=tuple(
                    (status, answer.get("description", ""))
                    for status, answer in sorted(told["responses"].items())
                ),
            )


@cache
def _templates() -> Environment:
    return Environment(
        loader=PackageLoader("geomi.api"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _body(document: Document, told: Document) -> Document:
    content = told.get("requestBody", {}).get("content", {})
    return _resolved(document, content.get("application/json", {}).get("schema", {}))


def _resolved(document: Document, schema: Document) -> Document:
    name = schema.get("$ref", "").rpartition("/")[2]
    return cast(Document, document["components"]["schemas"][name]) if name else schema


def _fields(document: Document, schema: Document, prefix: str = "") -> Iterator[Field]:
    """Read the fields of a body, those of the objects in it after them."""
    needed = schema.get("required", ())
    for name, raw in schema.get("properties", {}).items():
        inner = _resolved(document, raw)
        yield Field(prefix + name, _kind(inner), str(raw.get("description", "")), name in needed)
        if "properties" in inner:
            yield from _fields(document, inner, f"{prefix}{name}.")


def _parameter(told: Document) -> Field:
    schema = told.get("schema", {})
    about = told.get("description") or schema.get("description", "")
    return Field(told["name"], _kind(schema), str(about), bool(told.get("required")))


def _kind(schema: Mapping[str, object]) -> str:
    """Say in a few words what a value looks like."""
    options = schema.get("anyOf")
    if isinstance(options, list):
        return " or ".join(dict.fromkeys(_kind(one) for one in options if _is_value(one)))
    if isinstance(enum := schema.get("enum"), list):
        return " | ".join(map(str, enum))
    kind = str(schema.get("type", "object"))
    low, high = schema.get("minimum"), schema.get("maximum")
    span = f" {low}–{high}" if low is not None and high is not None else ""
    default = schema.get("default")
    told = f", otherwise {json.dumps(default)}" if default not in (None, [], {}) else ""
    items = schema.get("items")
    of = f" of {_kind(items)}" if isinstance(items, dict) else ""
    return f"{kind}{of}{span}{told}"


def _is_value(schema: Mapping[str, object]) -> bool:
    return schema.get("type") != "null"


def _example(schema: Document) -> str:
    examples = schema.get("examples")
    return json.dumps(examples[0], indent=2, ensure_ascii=False) if examples else ""
