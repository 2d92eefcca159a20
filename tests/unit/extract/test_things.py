"""JSON-LD objects that are kept whole."""

from __future__ import annotations

import json

import pytest

from geomi.extract.dom import parse_html
from geomi.extract.structured import (
    MAX_LIST,
    MAX_TEXT_CHARS,
    MAX_THING_CHARS,
    MAX_THING_DEPTH,
    MAX_THINGS,
    keep_whole,
    read_structured,
)


def things(*values: object) -> list[object]:
    blocks = (
        f'<script type="application/ld+json">{json.dumps(value)}</script>' for value in values
    )
    kept = read_structured(parse_html("".join(blocks).encode(), "text/html")).things
    return [json.loads(thing) for thing in kept]


@pytest.mark.req("ANA-14")
def test_products_and_questions_are_kept_whole() -> None:
    faq = {"@type": "FAQPage", "mainEntity": [{"name": "Why?"}, {"name": "How?"}]}
    product = {"@type": ["https://schema.org/Product", "Thing"], "offers": [{"price": 1}, None]}
    assert things(faq, {"@graph": [product, {"@type": "WebPage"}]}) == [faq, product]


def test_the_type_of_an_author_is_told() -> None:
    node = {"@type": "Article", "author": {"@type": "Organization", "name": "Silk Works"}}
    html = f'<script type="application/ld+json">{json.dumps(node)}</script>'
    pairs = dict(read_structured(parse_html(html.encode(), "text/html")).pairs)
    assert pairs["ld:Article.author.@type"] == "Organization"


def test_what_is_out_of_bounds_is_cut() -> None:
    assert len(things(*[{"@type": "Product"}] * (MAX_THINGS + 1))) == MAX_THINGS
    assert json.loads(keep_whole({"a": "x" * (MAX_TEXT_CHARS + 1)})) == {"a": "x" * MAX_TEXT_CHARS}
    assert len(json.loads(keep_whole({"a": [1] * (MAX_LIST + 1)}))["a"]) == MAX_LIST
    many = keep_whole({"a": ["x" * MAX_TEXT_CHARS] * MAX_LIST})
    assert len(many) < MAX_THING_CHARS * 1.1
    deep: dict[str, object] = {}
    for _ in range(MAX_THING_DEPTH + 1):
        deep = {"a": deep}
    assert keep_whole(deep).count("{") == MAX_THING_DEPTH
