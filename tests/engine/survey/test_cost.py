"""What a crawl may cost: the catalogue's prices, and those of whoever runs it."""

from __future__ import annotations

import pytest

from geomi.engine.survey.cost import MODELS, UNIT_PRICES, estimate
from geomi.settings.prices import read_unit_prices


@pytest.mark.req("COST-01", "C-62")
def test_models_cost_a_quarter_of_a_cent_a_page() -> None:
    parts = dict(estimate(1, UNIT_PRICES).parts)
    assert parts["classify"] == pytest.approx(0.000018)  # not 0.000035
    assert parts["quality"] == pytest.approx(0.001)
    assert parts["extract"] == pytest.approx(0.0015)  # 0.003, for half of the pages
    assert parts["embed"] == pytest.approx(0.00003)
    assert estimate(1, UNIT_PRICES).models == pytest.approx(0.0025, abs=0.00005)


@pytest.mark.req("COST-02")
def test_machines_cost_some_four_dollars_for_a_thousand_pages() -> None:
    reckoned = estimate(1000, UNIT_PRICES)
    parts = dict(reckoned.parts)
    assert [round(parts[name], 2) for name in parts if name not in MODELS] == [
        3.00, 0.50, 0.25, 0.02, 0.05,
    ]  # fmt: skip
    assert reckoned.total - reckoned.models == pytest.approx(3.82)


@pytest.mark.req("COST-03", "C-62")
def test_a_thousand_pages() -> None:
    """The seed rounds a page to 0.0025 $ on the way, and says 6.32 $."""
    reckoned = estimate(1000, UNIT_PRICES)
    assert reckoned.total == pytest.approx(6.368)
    rounded = 1000 * round(reckoned.models / 1000, 4)
    assert reckoned.total - reckoned.models + rounded == pytest.approx(6.32)


@pytest.mark.req("COST-05", "C-62")
def test_prices_of_ones_own() -> None:
    prices = read_unit_prices(["classify=0.000035", "fetch=0", "functions=0", "workflow=0"])
    reckoned = estimate(1_000_000, prices)
    assert dict(reckoned.parts)["classify"] == pytest.approx(35.0)
    assert dict(reckoned.parts)["fetch"] == 0
    assert reckoned.pages == 1_000_000


@pytest.mark.parametrize("pages", [0, 1, 7, 1_000_000_000])
def test_pages_cost_in_proportion(pages: int) -> None:
    assert estimate(pages, UNIT_PRICES).total == pytest.approx(
        pages * estimate(1, UNIT_PRICES).total
    )


def test_the_parts_are_the_whole() -> None:
    reckoned = estimate(1234, UNIT_PRICES)
    assert reckoned.total == pytest.approx(sum(dollars for _, dollars in reckoned.parts))
    assert {name for name, _ in reckoned.parts} == set(UNIT_PRICES)
    assert set(MODELS) < set(UNIT_PRICES)
