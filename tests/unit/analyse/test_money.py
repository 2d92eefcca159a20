"""Prices."""

from __future__ import annotations

import pytest

from geomi.analyse.prices_and_dates import (
    MAX_PRICES,
    currency_code,
    find_prices,
    read_amount,
    read_money,
)
from geomi.model.index.analysis import Money


@pytest.mark.req("ANA-17")
@pytest.mark.parametrize(
    ("text", "amount", "currency"),
    [
        ("€39.50", 39.5, "EUR"),
        ("39,50 €", 39.5, "EUR"),
        ("$1,299.00", 1299.0, "USD"),
        ("US$ 5", 5.0, "USD"),
        ("C$20", 20.0, "CAD"),
        ("£3", 3.0, "GBP"),
        ("₩24,000", 24000.0, "KRW"),
        ("24,000원", 24000.0, "KRW"),
        ("1.299,00 €", 1299.0, "EUR"),
        ("1 299 zł", 1299.0, "PLN"),
        ("1\u202f299 €", 1299.0, "EUR"),
        ("CHF 1'250.50", 1250.5, "CHF"),
        ("99 SEK", 99.0, "SEK"),
        ("¥980", 980.0, None),
        ("₹499", 499.0, "INR"),
        ("980円", 980.0, "JPY"),
    ],
)
def test_a_price_is_found(text: str, amount: float, currency: str | None) -> None:
    prices = [price.money for price in find_prices(f"It costs {text} today")]
    assert prices == [Money(amount, currency)]


@pytest.mark.parametrize(
    "text",
    [
        "room 39.50",
        "100원칙",
        "v1.2.3",
        "call 02-123-4567",
        "$",
        "USD",
        "in 2024",
        "원 24",
        "TOP 10",
    ],
)
def test_what_is_no_price(text: str) -> None:
    assert list(find_prices(text)) == []


def test_nothing_costs_more_than_there_is() -> None:
    assert list(find_prices("$999,999,999,999,999")) == []
    assert read_money("9" * 15, "EUR") is None


def test_only_so_many_are_read() -> None:
    assert len(list(find_prices("$5 " * (MAX_PRICES + 1)))) == MAX_PRICES


@pytest.mark.parametrize(
    ("digits", "amount"),
    [
        ("1299", 1299.0),
        ("1,299", 1299.0),
        ("1.299", 1299.0),
        ("12.5", 12.5),
        ("12,5", 12.5),
        ("1,299,000.5", 1299000.5),
        ("1.299.000,50", 1299000.5),
        ("0.99", 0.99),
        ("", None),
        ("abc", None),
        ("1" * 26, None),
        ("..", None),
    ],
)
def test_both_ways_of_writing(digits: str, amount: float | None) -> None:
    assert read_amount(digits) == amount


@pytest.mark.req("ANA-17")
@pytest.mark.parametrize(
    ("amount", "currency", "expected"),
    [
        ("39.50", "EUR", Money(39.5, "EUR")),
        (39, "eur", Money(39.0, "EUR")),
        ("39.500", "KWD", Money(39.5, "KWD")),  # a stop holds decimals apart
        ("1.299,00", "EUR", Money(1299.0, "EUR")),
        (5, "GHS", Money(5.0, "GHS")),
        ("€39.50", None, Money(39.5, "EUR")),
        ("39.50", "credits", Money(39.5, None)),
        ("free", "EUR", None),
        (True, "EUR", None),
        (None, "EUR", None),
        (-1, "EUR", None),
        ([39], "EUR", None),
    ],
)
def test_what_structured_data_says(
    amount: object, currency: object, expected: Money | None
) -> None:
    assert read_money(amount, currency) == expected


def test_signs_and_codes() -> None:
    assert [currency_code(said) for said in ("€", "usd", "QQQ", "¥", 7)] == [
        "EUR",
        "USD",
        None,
        None,
        None,
    ]
