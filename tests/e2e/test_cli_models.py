"""Which model a page is shown to, and what that costs, as the commands tell."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from tests.conftest import missing_part
from tests.e2e.command import LOCAL, run
from tests.support.advising import product_told, quality_told, type_told
from tests.support.crawl import page
from tests.support.models import ModelServer, Scripted
from tests.support.prose import prose
from tests.support.server import Reply, Site

pytestmark = pytest.mark.slow

SHOP = {
    "/": page("Kits", "/kit", "/lamp", "/tale", text=prose("the kits")),
    "/tale": page("A tale", text=f"{prose('the orb kit')} It is made of beech."),
    # Its structured data tells all that a model could.
    "/lamp": Reply(
        b'<html lang=en><title>Brass Lamp</title><script type="application/ld+json">'
        b'{"@type": "Product", "name": "Brass Lamp", "sku": "L-1", "brand": {"name": "Ember"}, '
        b'"description": "A lamp of brass for the window sill.", "offers": {"price": "49.50", '
        b'"priceCurrency": "EUR", "availability": "https://schema.org/InStock"}}</script><main>'
        b"<h1>Brass Lamp</h1><p>49.50 EUR. A lamp of brass for the window sill, with a switch of "
        b"beech and a cord of two metres that is long enough for any room.</p><button>Add to cart"
        b"</button><h2>Customer reviews</h2><p>4 of 5 stars. It is bright, and heavy.</p></main>"
    ),
    "/kit": Reply(
        b'<html lang=en><title>Orb Kit</title><script type="application/ld+json">'
        b'{"@type": "Product", "name": "Orb Kit"}</script><main><h1>Orb Kit</h1>'
        b"<p>A frame of beech, two hooks and a booklet that explains how an orb is spun. It fits "
        b"on any window sill.</p><button>Add to cart</button><h2>Customer reviews</h2>"
        b"<p>5 of 5 stars. My neighbour bought one, too, and is happy with it.</p></main>"
    ),
}
# What each model of the catalogue is asked, and what a call of that many tokens costs.
JUDGES = {
    "amazon.nova-micro-v1:0": ("Say what kind of page it is.", (600, 100), 35),
    "anthropic.claude-3-haiku-20240307-v1:0": ("Rate the page", (3000, 200), 1000),
    "anthropic.claude-3-5-sonnet-20240620-v1:0": ("Read the fields", (500, 100), 3000),
}
CLASSIFIER, CRITIC, EXTRACTOR = JUDGES


@pytest.mark.req("ANA-06", "ANA-12", "ANA-18", "COST-01")
@pytest.mark.parametrize("quality", [True, False])
def test_each_task_has_the_model_of_the_catalogue_and_its_price(
    tmp_path: Path, quality: bool
) -> None:
    """A cheap one for types, a small one for quality, a larger one for fields of products alone."""
    folder = ["-o", str(tmp_path)]
    rules = ["--set", "analysis.quality_threshold=0"]
    if not quality:
        rules += ["--set", "analysis.quality=false"]
    with Site(SHOP) as site:
        done = run("crawl", site.url("/"), *folder, *LOCAL, *rules, "--delay", "0")
        assert done.returncode == 0, done.stderr
    with bedrock(tmp_path) as (env, asked):
        done = run("enrich", "--once", *folder, env=env)
        assert done.returncode == 0, done.stderr
    told = json.loads(run("cost", *folder, "--json").stdout)
    expected = {(CRITIC, url) for url in SHOP} if quality else set()
    assert {(model, url) for model, url in asked if model == CRITIC} == expected
    assert {url for model, url in asked if model == EXTRACTOR} == {"/kit"}
    assert any(model == CLASSIFIER for model, _ in asked)
    calls = Counter(model for model, _ in asked)
    lines = {line["model"]: (line["calls"], line["micros"]) for line in told["lines"]}
    assert lines == {model: (many, many * JUDGES[model][2]) for model, many in calls.items()}


@contextmanager
def bedrock(root: Path) -> Iterator[tuple[dict[str, str], list[tuple[str, str]]]]:
    """Lend the way to a cloud on loopback, and which model was asked about which page."""
    if find_spec("boto3") is None:
        missing_part("no boto3: pip install '.[bedrock]'")
    asked: list[tuple[str, str]] = []

    def answer(question: dict[str, Any]) -> Scripted:
        model = unquote(question["path"].split("/")[2])
        task, used, _ = JUDGES[model]
        assert task in question["system"][0]["text"]
        shown = question["messages"][0]["content"][0]["text"]
        url = re.findall(r"http://[^/]+(/\S*)", shown)[0]  # the page's own comes first
        asked.append((model, url))
        told = {CLASSIFIER: type_told("article"), CRITIC: quality_told(7)}
        text = told.get(model) or product_told(name="Orb Kit")
        return {
            "output": {"message": {"role": "assistant", "content": [{"text": text}]}},
            "stopReason": "end_turn",
            "usage": {"inputTokens": used[0], "outputTokens": used[1], "totalTokens": sum(used)},
        }

    with ModelServer(answer) as server:
        yield (
            {
                "GEOMI_MODEL": "bedrock",
                "AWS_ACCESS_KEY_ID": "key-of-tests",
                "AWS_SECRET_ACCESS_KEY": "secret-of-tests",
                "AWS_DEFAULT_REGION": "us-east-1",
                "AWS_EC2_METADATA_DISABLED": "true",
                "AWS_CONFIG_FILE": str(root / "none"),
                "AWS_SHARED_CREDENTIALS_FILE": str(root / "none"),
                "AWS_ENDPOINT_URL_BEDROCK_RUNTIME": server.endpoint.removesuffix("/v1"),
            },
            asked,
        )
