"""Descriptions of an API as markdown."""

from __future__ import annotations

import importlib.util
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geomi.extract import openapi
from geomi.extract import openapi as room
from geomi.extract.openapi import describe_json, describe_yaml
from geomi.extract.page import extract
from geomi.model.config import Extraction

URL = "http://a.test/openapi.json"
PETS: dict[str, object] = {
    "openapi": "3.1.0",
    "info": {"title": "Pets", "version": "1.2", "description": "All about pets.\n\n# Usage\nx"},
    "servers": [{"url": "https://api.test/v1"}],
    "paths": {
        "/pets/{id}": {
            "parameters": [{"$ref": "#/components/parameters/Id"}],
            "get": {
                "summary": "Get one",
                "description": "Returns a pet.",
                "parameters": [
                    {"name": "fields", "in": "query", "schema": {"enum": ["a", "b|c"]}},
                ],
                "responses": {
                    "200": {
                        "description": "A pet",
                        "content": {
                            "application/json": {"schema": {"$ref": "#/components/schemas/Pet"}}
                        },
                    },
                    "404": {"description": "None"},
                },
            },
            "put": {
                "deprecated": True,
                "requestBody": {
                    "content": {
                        "application/json": {"schema": {"$ref": "#/components/schemas/Pet"}}
                    }
                },
            },
        }
    },
    "components": {
        "parameters": {
            "Id": {
                "name": "id",
                "in": "path",
                "required": True,
                "description": "Its\nnumber",
                "schema": {"type": "string", "format": "uuid"},
            }
        },
        "schemas": {
            "Pet": {
                "type": "object",
                "required": ["name"],
                "properties": {
                    "name": {"type": "string", "description": "How it is called"},
                    "friends": {"type": "array", "items": {"$ref": "#/components/schemas/Pet"}},
                    "owner": {"properties": {"mail": {"type": ["string", "null"]}}},
                },
            }
        },
    },
}

WRITTEN = """# Pets

Version 1.2

All about pets.

**Usage**
x

- `https://api.test/v1`

## GET /pets/{id}

**Get one**

Returns a pet.

### Parameters

| name | in | type | required | description |
| --- | --- | --- | --- | --- |
| `id` | path | string (uuid) | yes | Its number |
| `fields` | query |  |  | One of a, b\\|c. |

### Responses

- `200`: A pet
  `application/json` Pet
- `404`: None

## PUT /pets/{id}

Deprecated.

### Parameters

| name | in | type | required | description |
| --- | --- | --- | --- | --- |
| `id` | path | string (uuid) | yes | Its number |

### Request body

`application/json` Pet

- `name` (string, required): How it is called
- `friends` (array of Pet)
- `owner` (object)
  - `mail` (string or null)"""


@pytest.mark.req("CTY-03")
def test_one_section_an_operation() -> None:
    described = describe_json(json.dumps(PETS))
    assert described.markdown == WRITTEN
    assert described.outline == ((1, "Pets"), (2, "GET /pets/{id}"), (2, "PUT /pets/{id}"))


def test_swagger_2_is_read_too() -> None:
    text = describe_json(
        json.dumps(
            {
                "swagger": "2.0",
                "info": {"title": "Old"},
                "host": "api.test",
                "basePath": "/v1",
                "paths": {
                    "/a": {
                        "post": {
                            "parameters": [
                                {"name": "n", "in": "query", "type": "integer"},
                                {"name": "body", "in": "body", "schema": {"$ref": "#/x/Pet"}},
                            ],
                            "responses": {"default": {"schema": {"type": "string"}}},
                        }
                    }
                },
            }
        )
    ).markdown
    assert "- `api.test/v1`" in text
    assert "| `n` | query | integer |  |  |" in text
    assert "| `body` | body | Pet |  |  |" in text
    assert "- `default`\n  string" in text


YAML = """
openapi: 3.0.0
info: {title: Pets, version: 1.0}
paths:
  /pets:
    get:
      summary: All
      responses:
        200: {description: Fine}
"""


@pytest.mark.req("CTY-03")
def test_yaml_through_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    text = describe_yaml(YAML).markdown
    assert text.endswith("## GET /pets\n\n**All**\n\n### Responses\n\n- `200`: Fine")
    assert describe_yaml(json.dumps(PETS)).markdown == WRITTEN
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    assert describe_yaml(YAML).problem == room.NO_YAML


@pytest.mark.req("CTY-03")
@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ("{}", room.NO_API),
        ("[1]", room.NO_API),
        ('{"openapi": "3"}', room.NO_API),
        ("{", room.NOT_JSON),
        ("[" * 100_000, room.NOT_JSON),
    ],
)
def test_any_other_json_is_no_page(body: str, problem: str) -> None:
    article = extract(body.encode(), URL, "application/json", Extraction())
    assert (article.unreadable, article.text) == (problem, "")


@pytest.mark.parametrize("body", ["a: [", "a: *b", "- x\n- y", "!!python/object:x {}", "\t\0"])
def test_broken_yaml_is_no_page(body: str) -> None:
    assert describe_yaml(body).problem in (room.NOT_YAML, room.NO_API)


def test_a_text_stays_a_text() -> None:
    for body in (b"just words", b"openapi words", b'{"a": 1}'):
        article = extract(body, "http://a.test/x.json", "text/plain", Extraction())
        assert (article.markdown, article.strategy) == (body.decode(), "plain")
    body = json.dumps(PETS).encode()
    assert extract(body, URL, "text/plain", Extraction()).strategy == "openapi"


def test_references_end() -> None:
    loop = {"$ref": "#/x/a"}
    root = {"openapi": "3", "info": {}, "x": {"a": loop}, "paths": {"/": {"post": loop}}}
    assert describe_json(json.dumps(root)).markdown == "# API\n\n## POST /"
    other = {"openapi": "3", "info": {}, "paths": {"/": {"get": {"$ref": "http://b.test/x"}}}}
    assert describe_json(json.dumps(other)).markdown == "# API\n\n## GET /"


def test_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    wide = {f"p{n}": {"$ref": "#/s"} for n in range(openapi.MAX_FIELDS + 1)}
    body = {"content": {"x": {"schema": {"$ref": "#/t"}}}}
    root = {
        "openapi": "3",
        "info": {},
        "s": {"properties": {"q": {"properties": {"r": {"properties": {"s": {}}}}}}},
        "t": {"properties": wide},
        "paths": {"/a": {"get": {"requestBody": body}, "put": {}}, "/b": {"get": {}}},
    }
    text = describe_json(json.dumps(root)).markdown
    assert text.count("- `p") == openapi.MAX_FIELDS
    assert "`r`" in text
    monkeypatch.setattr(openapi, "MAX_DEPTH", 2)
    assert "`r`" not in describe_json(json.dumps(root)).markdown
    monkeypatch.setattr(room, "MAX_PATHS", 1)
    assert "/b" not in describe_json(json.dumps(root)).markdown
    monkeypatch.setattr(room, "MAX_OPERATIONS", 1)
    assert "PUT" not in describe_json(json.dumps(root)).markdown


def test_a_document_says_so_much_and_no_more() -> None:
    node: dict[str, object] = {"properties": {f"p{n}": {"$ref": "#/s"} for n in range(100)}}
    root = {"openapi": "3", "info": {}, "s": {"properties": {f"q{n}": {} for n in range(100)}}}
    body = {"requestBody": {"content": {"x": {"schema": node}}}}
    paths = {f"/{n}": {"get": body} for n in range(10)}
    text = describe_json(json.dumps(root | {"paths": paths})).markdown
    assert text.count("\n") < openapi.MAX_LINES + 100


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                "paths / get parameters name in schema $ref requestBody content x properties items "
                "responses 200 description allOf enum required type".split()
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)


@given(VALUES)
def test_any_description_is_read(value: object) -> None:
    root = {"openapi": "3", "info": value, "paths": value, "servers": value, "host": value}
    assert describe_json(json.dumps(root)).problem == ""


def test_a_schema_without_an_end_is_no_page() -> None:
    """Arrays of arrays of arrays …: its name would never be finished."""
    deep = 1000
    schema = '{"type":"array","items":' * deep + '{"type":"string"}' + "}" * deep
    parameter = f'{{"name":"x","in":"query","schema":{schema}}}'
    paths = f'{{"/x":{{"get":{{"parameters":[{parameter}]}}}}}}'
    text = f'{{"openapi":"3.0.0","info":{{"title":"Deep"}},"paths":{paths}}}'
    assert describe_json(text).problem == room.TOO_DEEP
