"""The OpenAPI document: who may do what, what errors look like, and where things are."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from geomi.api.problems import MEDIA_TYPE, Problem

Document = dict[str, Any]  # JSON, as FastAPI makes it

ABOUT = """\
geomi turns websites into clean, searchable knowledge, politely.

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
    "401": "No key, or none that is valid.",
    "403": "The key may not do this.",
    "404": "There is nothing of this name.",
    "409": "It cannot be done in this state.",
    "413": "The body is too large.",
    "422": "The request has the right shape and cannot be carried out.",
    "429": "Too many requests, or a quota is reached; `Retry-After` says how long to wait.",
    "503": "Not now; `Retry-After` says how long to wait.",
}
_OPEN_PROBLEMS = ("503",)
_RATE_HEADERS = {
    name: {"schema": {"type": "integer"}, "description": told}
    for name, told in {
        "RateLimit-Limit": "Requests that the key may send in a minute.",
        "RateLimit-Remaining": "Requests that are left.",
        "RateLimit-Reset": "Seconds until all of them are there again.",
    }.items()
}
_IDEMPOTENCY = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "The same request under the same key is carried out once in 24 hours.",
    "schema": {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]+$"},
}


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
    problem = Problem.model_json_schema(by_alias=True, ref_template="#/components/schemas/{model}")
    schemas.update(problem.pop("$defs", {}))
    schemas["Problem"] = problem
    document["components"]["securitySchemes"] = {
        "key": {"type": "http", "scheme": "bearer", "description": "`geomi keys create` makes one."}
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
                "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
            }
    if not is_guarded:
        responses.pop("422", None)
        return
    if method in _READS:
        responses["304"] = {"description": "It is as `If-None-Match` has it."}
    if method == "post":
        operation.setdefault("parameters", []).append(_IDEMPOTENCY)
    for status, response in responses.items():
        if status.startswith("2"):
            response.setdefault("headers", {}).update(_RATE_HEADERS)
