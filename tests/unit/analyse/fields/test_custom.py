"""Fields of a job's own schema: from structured data, from an answer, and what is left open."""

from __future__ import annotations

import json

import pytest

from geomi.analyse.fields.custom import (
    ENGINE,
    NO_MODEL,
    filled,
    missing_in,
    read_answered_custom,
    read_custom,
)
from geomi.analyse.fields.custom_schema import MAX_ITEMS, MAX_VALUE_CHARS, read_schema
from geomi.analyse.page import analyse
from geomi.model.index.analysis import AnalysisRules, Engine
from tests.unit.analyse.made import article, subject

SCHEMA = json.dumps(
    {
        "type": "object",
        "required": ["name", "color"],
        "properties": {
            "name": {"type": "string"},
            "offers": {
                "type": "object",
                "properties": {"price": {"type": "number"}, "count": {"type": "integer"}},
            },
            "inStock": {"type": "boolean"},
            "brand": {"type": "array", "items": {"type": "string"}},
            "color": {"type": "string", "enum": ["red", "blue"]},
            "year": {"type": "integer", "minimum": 1900},
        },
    }
)
READ = read_schema(SCHEMA)
MODEL = Engine("tiny", "test")


def said(*pairs: tuple[str, str]) -> dict[str, object]:
    return dict(read_custom(article("text", metadata=pairs), READ).data)


@pytest.mark.req("FUT-14")
def test_without_a_model_only_structured_data_of_the_same_name_counts() -> None:
    page = article(
        "A red thing of 1999.",
        metadata=(
            ("ld:Product.name", "Scarf"),
            ("ld:Offer.name", "Another"),
            ("item:Product.offers.price", "39.5"),
            ("ld:Product.inStock", "True"),
            ("ld:Product.brand", "Lumière"),
            ("og:color", "red"),
            ("name", "not structured"),
        ),
    )
    custom = read_custom(page, READ)
    assert custom.data == {
        "name": "Scarf",
        "offers": {"price": 39.5, "count": None},
        "inStock": True,
        "brand": ["Lumière"],
        "color": None,
        "year": None,
    }
    assert (custom.missing, custom.problem, custom.engine) == (("color",), NO_MODEL, ENGINE)


@pytest.mark.parametrize(
    ("pair", "name"),
    [
        (("ld:Product.offers.price", "about 39"), "offers"),
        (("ld:Product.offers.count", "1.5"), "offers"),
        (("ld:Product.inStock", "yes"), "inStock"),
        (("ld:Product.color", "green"), "color"),
        (("ld:Product.year", "1899"), "year"),
    ],
)
def test_what_does_not_fit_is_not_taken(pair: tuple[str, str], name: str) -> None:
    assert said(pair)[name] is None


@pytest.mark.parametrize(
    ("told", "problem"),
    [
        ([], "the answer is a JSON list"),
        ({"name": 1}, "`/name` is a JSON int, not string"),
        ({"inStock": "yes"}, "`/inStock` is a JSON str"),
        ({"offers": {"count": 1.5}}, "`/offers/count`"),
        ({"offers": {"price": True}}, "`/offers/price`"),
        ({"color": "green"}, "`/color` is not one of the allowed values"),
        ({"year": 1899}, "`/year` is outside of minimum and maximum"),
        ({"brand": "x"}, "`/brand` is a JSON str, not array"),
        ({"brand": [1]}, "`/brand/0`"),
    ],
)
def test_an_answer_of_another_form_is_refused(told: object, problem: str) -> None:
    with pytest.raises(ValueError) as caught:
        read_answered_custom(told, READ)
    assert problem in str(caught.value)


def test_limits_of_an_answer() -> None:
    told = {"name": " x\u200b" + "y" * MAX_VALUE_CHARS, "brand": ["b"] * (MAX_ITEMS + 1), "more": 1}
    data = read_answered_custom(told, READ)
    assert len(str(data["name"])) == MAX_VALUE_CHARS and "\u200b" not in str(data["name"])
    assert data["brand"] == ["b"] * MAX_ITEMS
    assert data.keys() == {"name", "offers", "inStock", "brand", "color", "year"}
    few = read_schema(
        '{"type":"object","properties":{"a":{"type":"array","minItems":1,"maxItems":2,'
        '"items":{"type":"string","minLength":2,"maxLength":3}}}}'
    )
    assert read_answered_custom({"a": ["xx"] * 9}, few) == {"a": ["xx", "xx"]}
    for wrong in (["xx"][:0], ["x"], ["xxxx"]):
        with pytest.raises(ValueError):
            read_answered_custom({"a": wrong}, few)


def test_an_answer_fills_gaps_and_says_which_texts_are_its_own() -> None:
    known = read_custom(article("text", metadata=(("ld:Product.name", "Scarf"),)), READ)
    told = {"name": "Hat", "brand": ["Maison  LUMIÈRE", "Invented"], "color": "red", "year": 1921}
    full = filled(known, told, "by maison lumière since 1921, red", MODEL)
    assert full.data["name"] == "Scarf"
    assert (full.data["year"], full.data["offers"]) == (1921, None)
    assert full.not_on_page == ("/brand/1",)
    assert (full.problem, full.engine) == ("", MODEL)
    assert missing_in(full.data, READ) == ()


def test_an_analysis_has_them_where_they_are_asked_for() -> None:
    page = subject("Words of a page. " * 20, metadata=(("ld:Product.name", "Scarf"),))
    assert analyse(page, AnalysisRules()).custom is None
    custom = analyse(page, AnalysisRules(schema=SCHEMA)).custom
    assert custom is not None and custom.data["name"] == "Scarf"
