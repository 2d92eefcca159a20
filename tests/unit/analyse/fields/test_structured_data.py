"""What structured data says."""

from __future__ import annotations

import json

import pytest

from geomi.analyse.fields.structured_data import (
    MAX_LIST,
    MAX_TEXT_CHARS,
    objects_in,
    pair,
    text_from,
    things_of,
)
from tests.unit.analyse.made import article


@pytest.mark.req("ANA-17")
@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("<b>Silk</b> &amp;\n thread", "Silk & thread"),
        (7, "7"),
        ({"@type": "Brand", "name": "Silk"}, "Silk"),
        ({"value": 24, "unitCode": "CMT"}, "24"),
        (["first", "second"], "first"),
        ([["nested"]], None),
        (True, None),
        ({"name": 7}, None),
        ([], None),
        ("", None),
        (None, None),
    ],
)
def test_a_value_is_one_line_of_plain_text_or_nothing(value: object, text: str | None) -> None:
    assert text_from(value) == text


def test_limits() -> None:
    assert text_from("x" * (MAX_TEXT_CHARS + 1)) == "x" * MAX_TEXT_CHARS
    assert len(objects_in([{}] * (MAX_LIST + 1))) == MAX_LIST


def test_things_are_found_by_any_of_their_types() -> None:
    kept = tuple(json.dumps({"@type": said}) for said in ("Product", ["Thing", "Product"], "Car"))
    found = things_of(article("x", things=(*kept, "{broken", "[]")), "Product")
    assert [node["@type"] for node in found] == ["Product", ["Thing", "Product"]]


def test_a_pair_is_found_however_it_was_written_down() -> None:
    page = article("x", metadata=(("ld:Product.name", ""), ("item:Product.sku", "7")))
    assert pair(page, "Product.name") is None
    assert pair(page, "Product.gtin", "Product.sku") == "7"
    assert pair(page, "sku") is None
