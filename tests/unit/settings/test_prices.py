"""Prices as people write them, of models by the token and of pages by the part."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geomi.engine.survey.cost import UNIT_PRICES
from geomi.errors import ConfigError
from geomi.model.index.language_model import FREE, MICROS, ModelPrice
from geomi.settings.options import Settings
from geomi.settings.prices import LISTED, prices_here, read_prices, read_unit_prices

TOKENS = st.integers(0, 10**9)
MONEY = st.integers(0, 10**9)


class TestModels:
    """`name=IN/OUT`, in dollars for a million tokens."""

    @pytest.mark.req("COST-05")
    def test_what_is_written_is_what_is_paid(self) -> None:
        price = read_prices(["tiny=0.15/0.60"])["tiny"]
        assert price == ModelPrice(150_000, 600_000)
        assert price.of(1_000_000, 1_000_000) == 750_000
        assert price.of(100, 20) == 27

    @pytest.mark.req("COST-05")
    def test_the_catalogues_models_are_listed_and_can_be_changed(self) -> None:
        assert len(read_prices([])) == len(LISTED) == 4
        name = "amazon.nova-micro-v1:0"
        assert read_prices([])[name].of(500, 0) == 18  # COST-01: 500 tokens for 0.000018 $
        assert read_prices([f"{name}=1/2"])[name] == ModelPrice(1_000_000, 2_000_000)

    def test_a_later_price_counts(self) -> None:
        assert read_prices(["a=1/1", "a=2/2"])["a"] == ModelPrice(2_000_000, 2_000_000)

    def test_a_name_may_hold_signs(self) -> None:
        assert read_prices(["org/model:7b=q4=1/2"])["org/model:7b=q4"] == ModelPrice(
            1_000_000, 2_000_000
        )

    @pytest.mark.parametrize(
        "text",
        ["", "tiny", "tiny=", "tiny=1", "tiny=1/", "tiny=/1", "=1/2", "tiny=a/b", "tiny=-1/2",
         "tiny=1/nan", "tiny=inf/1", "tiny=1/2/3", "tiny=1000001/0", "tiny 1/2"],
    )  # fmt: skip
    def test_what_is_no_price(self, text: str) -> None:
        with pytest.raises(ConfigError, match="is not a price of a model") as caught:
            read_prices([text])
        assert f"`{text}`" in caught.value.message
        assert "name=0.15/0.60" in caught.value.hint

    @given(tokens_in=TOKENS, tokens_out=TOKENS, price_in=MONEY, price_out=MONEY)
    def test_rounding_never_favours_the_budget(
        self, tokens_in: int, tokens_out: int, price_in: int, price_out: int
    ) -> None:
        exact = tokens_in * price_in + tokens_out * price_out
        paid = ModelPrice(price_in, price_out).of(tokens_in, tokens_out)
        assert exact <= paid * MICROS < exact + MICROS

    def test_nothing_costs_nothing(self) -> None:
        assert FREE.of(10**9, 10**9) == 0
        assert ModelPrice(1, 1).of(0, 0) == 0
        assert ModelPrice(1, 0).of(1, 0) == 1  # a part of a millionth is one


class TestPages:
    """`part=DOLLARS` a page."""

    @pytest.mark.req("COST-05")
    def test_over_the_catalogues_prices(self) -> None:
        prices = read_unit_prices(["fetch=0.5", "fetch=0.25", "embed=0"])
        assert prices == {**UNIT_PRICES, "fetch": 0.25, "embed": 0.0}
        assert read_unit_prices([]) == dict(UNIT_PRICES)

    @pytest.mark.parametrize(
        "text",
        ["", "fetch", "fetch=", "fetch=a", "fetch=-1", "fetch=nan", "fetch=inf", "coffee=1", "=1",
         "fetch=1000001"],
    )  # fmt: skip
    def test_what_is_no_price(self, text: str) -> None:
        with pytest.raises(ConfigError, match="is not a price of a page") as caught:
            read_unit_prices([text])
        assert "classify" in caught.value.hint


class TestPricesHere:
    """What is not rented is not paid for."""

    def test_without_models_and_on_ones_own_machine_nothing_is_paid(self) -> None:
        assert set(prices_here(Settings()).values()) == {0.0}
        assert prices_here(Settings()).keys() == UNIT_PRICES.keys()
        assert prices_here(Settings(embedder="onnx:folder"))["embed"] == 0.0

    @pytest.mark.req("COST-05")
    def test_what_is_named_is_paid(self) -> None:
        asked = prices_here(Settings(model="qwen3"))
        assert {name for name, price in asked.items() if price} == {
            "classify",
            "quality",
            "extract",
        }
        for embedder in ("titan", "openai:small"):
            embedding = prices_here(Settings(embedder=embedder))
            assert {name for name, price in embedding.items() if price} == {"embed"}
        rented = prices_here(Settings(unit_prices=("fetch=0.5",)))
        assert {name: price for name, price in rented.items() if price} == {"fetch": 0.5}
