"""The document of the API: it can be had without anything, and says what the app does."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from geomi.api.app import make_app
from geomi.api.openapi import render
from geomi.asgi import app
from tests.api.asking import Client, Json
from tests.support.waiting import waits

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def document() -> Json:
    """Return the document of an app that serves nothing."""
    return make_app().openapi()


def operations(document: Json) -> Iterator[tuple[str, str, Json]]:
    """Return every operation: its path, its method, and what is said of it."""
    for path, methods in document["paths"].items():
        for method, told in methods.items():
            yield path, method, told


def test_the_document_needs_no_data_and_no_environment(tmp_path: Path) -> None:
    code = "import json; from geomi.asgi import app; print(json.dumps(app.openapi())[:40])"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT / "src"), "HOME": "/nonexistent"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith('{"openapi": "3.1.0"')
    assert list(tmp_path.iterdir()) == []


@pytest.mark.req("API-01", "API-08", "API-09", "API-10", "API-11")
def test_operations_have_the_catalogues_names(document: Json) -> None:
    named = {told["operationId"]: (method, path) for path, method, told in operations(document)}
    assert named["startCrawl"] == ("post", "/api/v1/crawls")
    assert named["getCrawl"] == ("get", "/api/v1/crawls/{jobId}")
    assert named["listCrawls"] == ("get", "/api/v1/crawls")
    assert named["cancelCrawl"] == ("post", "/api/v1/crawls/{jobId}/cancel")
    assert named["getCrawlUrls"] == ("get", "/api/v1/crawls/{jobId}/urls")
    assert named["previewUrl"] == ("post", "/api/v1/preview")
    assert len(named) == len(list(operations(document)))


def test_every_operation_says_who_may_use_it_and_what_can_go_wrong(document: Json) -> None:
    for path, method, told in operations(document):
        if path in ("/healthz", "/readyz"):
            assert told["security"] == []
            continue
        assert told["security"] == [{"key": []}], path
        assert told["x-required-scope"] in ("read", "write", "admin")
        is_operators = "/admin/" in path or path == "/metrics"
        assert is_operators == (told["x-required-role"] == "admin"), path
        for status in ("400", "401", "403", "404", "422", "429"):
            assert "application/problem+json" in told["responses"][status]["content"]
        assert told["summary"] and told["description"]
        assert method != "get" or "304" in told["responses"]


def test_every_body_has_an_example_and_refuses_strangers(document: Json) -> None:
    schemas = document["components"]["schemas"]
    for path, _, told in operations(document):
        if "requestBody" in told:
            ref = told["requestBody"]["content"]["application/json"]["schema"]["$ref"]
            schema = schemas[ref.rpartition("/")[2]]
            assert schema["examples"], path
            assert schema["additionalProperties"] is False


@waits
async def test_the_page_for_people_is_inert_and_complete(document: Json) -> None:
    client = Client(make_app(), prefix="")
    page = await client.get("/docs")
    text = page.body.decode()
    assert page.status == 200 and page.headers["content-type"].startswith("text/html")
    assert page.headers["content-security-policy"].startswith("default-src 'none'")
    assert "<script" not in text and "http://" not in text and 'src="' not in text
    for _, _, told in operations(document):
        assert f'id="{told["operationId"]}"' in text
    style = await client.get("/docs/style.css")
    assert style.headers["content-type"].startswith("text/css")
    assert (await client.get("/openapi.json")).json["info"] == document["info"]


def test_what_a_document_says_is_text(document: Json) -> None:
    """Whatever stands in a description is shown and not carried out."""
    info = {**document["info"], "description": "<script>alert(1)</script>"}
    text = render({**document, "info": info})
    assert "<script>" not in text and "&lt;script&gt;" in text


@waits
async def test_whoever_brings_a_server_gets_the_same_service(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`uvicorn geomi.asgi:app` opens the directory that the environment names, and closes it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GEOMI_CRAWL_OUTPUT", str(tmp_path / "served"))

    client = Client(app, prefix="")
    assert (await client.get("/readyz")).status == 503
    async with app.router.lifespan_context(app):
        assert (await client.get("/readyz")).status == 200
        assert (await client.get("/api/v1/crawls")).status == 401  # no key is made unasked
    assert (await client.get("/readyz")).status == 503
    assert (tmp_path / "served" / "geomi.db").is_file()
