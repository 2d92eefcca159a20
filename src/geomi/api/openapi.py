"""The OpenAPI document, `/openapi.json`, and `/docs`, the same document as a page.

FastAPI writes the document. This module adds who may call an operation, the problems it answers
with, and its rate headers. The page is rendered once from the document, runs no script and loads
nothing from another server. Both are served without a key.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, cast

from fastapi import APIRouter, FastAPI, Request
from fastapi.openapi.utils import get_openapi
from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.responses import HTMLResponse, JSONResponse, Response

from geomi.api.problems import MEDIA_TYPE, ProblemDetails

Document = dict[str, Any]  # JSON, as FastAPI makes it
ABOUT = """\
geomi turns websites into clean, searchable markdown, politely.

Send `Authorization: Bearer geomi_…` with every request; `geomi keys create` makes a key, and the
tenant is the key's own. Whatever belongs to another tenant does not exist for you.

Lists come in parts: `limit` says how many, `nextCursor` leads to the next part. A `POST` with an
`Idempotency-Key` is carried out once in 24 hours. Answers to reads carry an `ETag`. Every answer
tells what is left of the key's rate (`RateLimit-Remaining`). Errors are problems (RFC 9457) that
name the fields.
"""
_READS, _METHODS = ("get",), ("get", "post", "put", "patch", "delete")
_PROBLEMS = {
    "400": "The request does not have the documented shape.",
    "401": "The key is missing or not valid.",
    "403": "The key may not do this.",
    "404": "Nothing has this name.",
    "409": "The operation is impossible in this state.",
    "413": "The body is too large.",
    "422": "The request has the right shape, but the service cannot carry it out.",
    "429": "Too many requests, or a quota is used up; `Retry-After` says how long to wait.",
    "503": "The service cannot answer now; `Retry-After` says how long to wait.",
}
_OPEN_PROBLEMS = ("503",)
_RATE_HEADERS = {
    name: {"schema": {"type": "integer"}, "description": told}
    for name, told in {
        "RateLimit-Limit": "Requests that the tenant's keys may send in a minute.",
        "RateLimit-Remaining": "Requests left.",
        "RateLimit-Reset": "Seconds until the full allowance is back.",
    }.items()
}
_IDEMPOTENCY = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "The service carries out the same request under the same key once in 24 hours.",
    "schema": {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]+$"},
}
CSP = "default-src 'none'; style-src 'self'; frame-ancestors 'none'; base-uri 'none'"
router = APIRouter(include_in_schema=False)


def describe(app: FastAPI) -> None:
    """Let an app describe itself as it is: FastAPI knows neither the guard nor the problems."""

    def openapi() -> Document:
        if app.openapi_schema is None:
            app.openapi_schema = _document(app)
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]  # FastAPI's own way to change it


def _document(app: FastAPI) -> Document:
    document = get_openapi(
        title=app.title,
        version=app.version,
        openapi_version="3.1.0",
        description=ABOUT,
        routes=app.routes,
    )
    schemas = document["components"]["schemas"]
    for name in ("HTTPValidationError", "ValidationError"):
        schemas.pop(name, None)
    problem = ProblemDetails.model_json_schema(
        by_alias=True, ref_template="#/components/schemas/{model}"
    )
    schemas.update(problem.pop("$defs", {}))
    schemas["ProblemDetails"] = problem
    document["components"]["securitySchemes"] = {
        "key": {
            "type": "http",
            "scheme": "bearer",
            "description": "`geomi keys create` creates one.",
        }
    }
    for path in document["paths"].values():
        for method, operation in path.items():
            if method in _METHODS:
                _complete(operation, method)
    return document


def _complete(operation: Document, method: str) -> None:
    """Say of an operation what the guard makes of it."""
    responses = operation["responses"]
    is_guarded = "x-required-scope" in operation
    operation["security"] = [{"key": []}] if is_guarded else []
    for status, told in _PROBLEMS.items():
        if is_guarded or status in _OPEN_PROBLEMS:
            responses[status] = {
                "description": told,
                "content": {
                    MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/ProblemDetails"}}
                },
            }
    if not is_guarded:
        responses.pop("422", None)
        return
    if method in _READS:
        responses["304"] = {"description": "It has not changed since the `If-None-Match` version."}
    if method == "post":
        operation.setdefault("parameters", []).append(_IDEMPOTENCY)
    for status, response in responses.items():
        if status.startswith("2"):
            response.setdefault("headers", {}).update(_RATE_HEADERS)


@dataclass(frozen=True, slots=True)
class DocumentedField:
    """A parameter, or a field of a body."""

    name: str
    kind: str
    about: str
    is_needed: bool


@dataclass(frozen=True, slots=True)
class DocumentedOperation:
    """One operation as the page shows it."""

    id: str
    tag: str
    method: str
    path: str
    title: str
    about: str
    access: str
    parameters: tuple[DocumentedField, ...]
    body: tuple[DocumentedField, ...]
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
    groups: dict[str, list[DocumentedOperation]] = {}
    for operation in operations(document):
        groups.setdefault(operation.tag, []).append(operation)
    page = _templates().get_template("reference.html")
    return page.render(info=document["info"], groups=groups)


def operations(document: Document) -> Iterator[DocumentedOperation]:
    """Read the operations of a document."""
    for path, methods in document["paths"].items():
        for method, told in methods.items():
            body = _body(document, told)
            scope = told.get("x-required-scope")
            role = " of an administrator" if told.get("x-required-role") == "admin" else ""
            yield DocumentedOperation(
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


def _fields(document: Document, schema: Document, prefix: str = "") -> Iterator[DocumentedField]:
    """Read the fields of a body, those of the objects in it after them."""
    needed = schema.get("required", ())
    for name, raw in schema.get("properties", {}).items():
        inner = _resolved(document, raw)
        yield DocumentedField(
            prefix + name, _kind(inner), str(raw.get("description", "")), name in needed
        )
        if "properties" in inner:
            yield from _fields(document, inner, f"{prefix}{name}.")


def _parameter(told: Document) -> DocumentedField:
    schema = told.get("schema", {})
    about = told.get("description") or schema.get("description", "")
    return DocumentedField(told["name"], _kind(schema), str(about), bool(told.get("required")))


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
