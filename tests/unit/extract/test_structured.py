"""Structured data of a page."""

from __future__ import annotations

import json

import pytest

from geomi.extract import structured as room
from geomi.extract.dom import parse_html
from geomi.extract.structured import Structured, read_structured


def read(html: str) -> Structured:
    return read_structured(parse_html(html.encode(), "text/html"))


def json_ld(value: object) -> str:
    return f'<script type="application/ld+json">{json.dumps(value)}</script>'


PRODUCT = {
    "@context": "https://schema.org",
    "@type": "Product",
    "name": "Chair",
    "offers": [{"@type": "Offer", "price": 12.5, "available": True}, {"price": 13}],
    "color": ["red", "blue"],
    "description": "x" * (room.MAX_PAIR_CHARS + 1),
}


@pytest.mark.req("META-01")
def test_json_ld_becomes_types_and_pairs() -> None:
    said = read(json_ld({"@graph": [PRODUCT, {"@type": ["BreadcrumbList", "x"]}]}))
    assert said.types == ("Product", "BreadcrumbList")
    assert dict(said.pairs) == {
        "ld:Product.name": "Chair",
        "ld:Product.offers.price": "12.5",
        "ld:Product.offers.available": "true",
        "ld:Product.color": "red, blue",
    }


@pytest.mark.req("META-01")
def test_microdata_is_read_where_there_is_no_json_ld() -> None:
    html = (
        '<div itemscope itemtype="https://schema.org/Product"><b itemprop="name"> A  chair </b>'
        '<meta itemprop="sku" content="7"><div itemprop="offers" itemscope itemtype="x/Offer">'
        '<span itemprop="price" content="12">12 €</span></div></div>'
    )
    said = read(html)
    assert said.types == ("Product",)
    assert dict(said.pairs) == {
        "item:Product.name": "A chair",
        "item:Product.sku": "7",
        "item:Product.price": "12",
    }
    assert read(json_ld({"@type": "WebPage"}) + html).types == ("WebPage",)


def test_nothing_is_made_of_nothing() -> None:
    assert read("<p>x") == Structured((), (), {})
    assert read(json_ld([[], None, 1, "x", {"a": None, "b": [], "c": {}}])).pairs == ()


def test_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    deep: object = "x"
    for _ in range(room.MAX_DEPTH + 2):
        deep = {"a": deep}
    assert read(json_ld(deep)).pairs == ()
    assert read(json_ld({"a": deep["a"]["a"]})).pairs != ()  # type: ignore[index]  # made above
    lists: object = "x"
    for _ in range(500):  # more than a function can call itself
        lists = [lists]
    assert read(json_ld({"a": lists, "headline": "x", "author": lists})).facts == {"headline": "x"}
    many = read(json_ld({f"k{n}": n for n in range(room.MAX_PAIRS + 1)}))
    assert len(many.pairs) == room.MAX_PAIRS
    types = read(json_ld([{"@type": f"T{n}"} for n in range(room.MAX_TYPES + 1)]))
    assert len(types.types) == room.MAX_TYPES
    block = json_ld([{"x": 1}, {"datePublished": "2024"}])
    monkeypatch.setattr(room, "MAX_NODES", 3)
    assert read(block).facts == {"datePublished": "2024"}
    monkeypatch.setattr(room, "MAX_NODES", 2)
    assert read(block).facts == {}
    monkeypatch.setattr(room, "MAX_BLOCK_CHARS", 10)
    assert read(json_ld({"headline": "x"})).facts == {}
    monkeypatch.setattr(room, "MAX_BLOCKS", 0)
    assert read(json_ld({"a": 1})).pairs == ()
