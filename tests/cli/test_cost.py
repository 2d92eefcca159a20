"""`geomi cost --estimate`: what pages cost, as somebody asks for it."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from geomi.cli.program import main

Estimated = Callable[..., str]


@pytest.fixture
def estimated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Estimated:
    """Estimate the cost of a thousand pages where nothing is configured."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GEOMI_CONFIG", raising=False)

    def ask(*arguments: str) -> str:
        monkeypatch.setattr(sys, "argv", ["geomi", "cost", "--estimate", "1000", *arguments])
        assert main() == 0
        return capsys.readouterr().out

    return ask


@pytest.mark.req("COST-01", "COST-02", "COST-03")
def test_a_thousand_pages_at_the_catalogues_prices(estimated: Estimated) -> None:
    told = json.loads(estimated("--catalogue", "--json"))
    assert told == {
        "pages": 1000,
        "parts": {
            "classify": 0.018, "quality": 1.0, "extract": 1.5, "embed": 0.03,
            "fetch": 3.0, "functions": 0.5, "workflow": 0.25, "database": 0.02, "storage": 0.05,
        },
        "dollars": 6.368,
    }  # fmt: skip
    shown = estimated("--catalogue")
    assert "6.37 $ for 1,000 pages" in shown and "of it 2.55 $ is for models" in shown


@pytest.mark.req("COST-05")
def test_prices_can_be_set_and_what_nobody_pays_for_is_free(
    estimated: Estimated, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert json.loads(estimated("--json"))["dollars"] == 0
    monkeypatch.setenv("GEOMI_UNIT_PRICES", "fetch=0.01,storage=0.002")
    told = json.loads(estimated("--json"))
    assert {name: one for name, one in told["parts"].items() if one} == {
        "fetch": 10.0,
        "storage": 2.0,
    }
    rented = json.loads(estimated("--catalogue", "--json"))
    assert rented["dollars"] == pytest.approx(6.368 - 3.05 + 12)
