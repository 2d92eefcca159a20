"""The fields of a product."""

from __future__ import annotations

import json

import pytest

from geomi.analyse.fields.by_type import MAX_SPECIFICATIONS, read_product
from geomi.model.index.analysis import Money, ProductFields
from tests.unit.analyse.made import URL, article, reading


def read(markdown: str, thing: object = None, **known: object) -> ProductFields:
    things = (json.dumps(thing),) if thing is not None else ()
    page = article(markdown, things=things, **known)  # type: ignore[arg-type]  # as in `made`
    return read_product(URL, page, reading(markdown))[0]


KIT = {
    "@type": "Product",
    "name": "Orb Kit",
    "sku": "GSW-1",
    "brand": {"@type": "Brand", "name": "Silk Works"},
    "category": "Kits",
    "description": "A frame,<br> a hook &amp; a booklet.",
    "image": ["/kit.jpg", {"url": "https://cdn.test/kit2.jpg"}],
    "offers": {
        "price": "39.50",
        "priceCurrency": "EUR",
        "availability": "https://schema.org/InStock",
    },
    "additionalProperty": [{"name": "Frame", "value": "beech"}, {"name": "Pages", "value": 32}],
}


@pytest.mark.req("ANA-16")
def test_every_field_of_json_ld() -> None:
    assert read("# Orb Kit", KIT) == ProductFields(
        name="Orb Kit",
        description="A frame, a hook & a booklet.",
        price=Money(39.5, "EUR"),
        sku="GSW-1",
        brand="Silk Works",
        category="Kits",
        in_stock=True,
        specifications=(("Frame", "beech"), ("Pages", "32")),
        images=("https://silk.test/kit.jpg", "https://cdn.test/kit2.jpg"),
    )


@pytest.mark.req("ANA-17")
def test_what_is_missing_is_none() -> None:
    assert read("Some words.") == ProductFields()
    assert read("x", {"@type": "Product", "name": 7, "offers": [], "brand": {}}) == ProductFields(
        name="7"
    )


@pytest.mark.req("ANA-16")
@pytest.mark.parametrize(
    ("offers", "price", "sale_price"),
    [
        ({"lowPrice": 10, "highPrice": 20, "priceCurrency": "USD"}, Money(10.0, "USD"), None),
        ([{"price": "1.299,00", "priceCurrency": "EUR"}], Money(1299.0, "EUR"), None),
        ({"offers": [{}, {"price": 5, "priceCurrency": "KRW"}]}, Money(5.0, "KRW"), None),
        ({"price": 5}, Money(5.0, None), None),
        ([{"price": 0, "priceCurrency": "EUR"}, {"price": 5}], Money(0.0, "EUR"), None),
        (
            {
                "price": 15,
                "priceCurrency": "USD",
                "priceSpecification": {"price": 20, "priceType": "https://schema.org/ListPrice"},
            },
            Money(20.0, "USD"),
            Money(15.0, "USD"),
        ),
        (
            {"priceSpecification": [{"price": 20, "priceCurrency": "GBP"}]},
            Money(20.0, "GBP"),
            None,
        ),
    ],
)
def test_prices_of_offers(offers: object, price: Money | None, sale_price: Money | None) -> None:
    found = read("x", {"@type": "Product", "offers": offers})
    assert (found.price, found.sale_price) == (price, sale_price)


@pytest.mark.req("ANA-16")
def test_microdata_and_open_graph_are_read_where_there_is_no_json_ld() -> None:
    found = read(
        "# x",
        metadata=(
            ("item:Product.name", "Lens"),
            ("item:Product.price", "18.00"),
            ("item:Product.priceCurrency", "EUR"),
            ("item:Product.availability", "OutOfStock"),
            ("og:image", "/lens.jpg"),
        ),
    )
    assert (found.name, found.price, found.in_stock) == ("Lens", Money(18.0, "EUR"), False)
    assert found.images == ("https://silk.test/lens.jpg",)


@pytest.mark.req("ANA-17")
@pytest.mark.parametrize(
    ("markdown", "price"),
    [
        ("# Lens\n\n€18.00\n\nFolds.", Money(18.0, "EUR")),
        ("# 리본\n\n24,000원", Money(24000.0, "KRW")),
        ("# Lens\n\n€18.00\n\nYou may also like: loom €900", None),
    ],
)
def test_a_shown_price_is_told_where_it_is_the_only_one(markdown: str, price: Money | None) -> None:
    assert read(markdown).price == price


@pytest.mark.req("ANA-16")
@pytest.mark.parametrize(
    ("said", "in_stock"),
    [
        ("https://schema.org/InStock", True),
        ("in_stock", True),
        ("http://schema.org/PreOrder", False),
        ("SoldOut", False),
        ("perhaps", None),
    ],
)
def test_stock_as_an_offer_says_it(said: str, in_stock: bool | None) -> None:
    assert read("x", {"@type": "Product", "offers": {"availability": said}}).in_stock is in_stock


@pytest.mark.parametrize(
    ("markdown", "in_stock"),
    [
        ("# Lens\n\nIn stock", True),
        ("# Lens\n\nSold out", False),
        ("# 리본\n\n품절", False),
        ("# Lens\n\nIn stock, the blue one sold out", None),
        ("# Lens", None),
    ],
)
def test_stock_as_the_page_says_it(markdown: str, in_stock: bool | None) -> None:
    assert read(markdown).in_stock is in_stock


def test_properties_of_tables_and_labelled_items() -> None:
    found = read("# Lens\n\n| Width | 24 cm |\n\n- Glass: crown\n- just words\n\n| a | b | c |")
    assert found.specifications == (("Width", "24 cm"), ("Glass", "crown"))


def test_properties_of_json_ld() -> None:
    node = {
        "@type": "Product",
        "color": "indigo",
        "additionalProperty": [{"name": "Frame"}, {"name": "Pages", "value": 32}],
    }
    assert read("x", node).specifications == (("Pages", "32"), ("color", "indigo"))


@pytest.mark.req("ANA-16")
def test_limits() -> None:
    long = read("x", {"@type": "Product", "description": "word " * 200})
    assert long.description is not None
    assert len(long.description) <= 500
    rows = "\n".join(f"| k{number} | v |" for number in range(MAX_SPECIFICATIONS + 1))
    assert len(read(rows).specifications) == MAX_SPECIFICATIONS
