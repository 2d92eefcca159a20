"""`geomi analyse` of a file: what each part makes of a page, and what it needs of the others."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from geomi.cli.program import main
from tests.support.prose import prose

Analysed = Callable[..., dict[str, Any]]

TEXT = f"<h1>The mill</h1><p>{prose('the mill')}</p>"
MENU = "".join(f"<li><a href=/{n}>Department number {n}</a></li>" for n in range(40))
CHEAP = "Cheap looms! Buy cheap looms, cheap looms online, best cheap looms near me. " * 20
KIT = {
    "@context": "https://schema.org",
    "@type": "Product",
    "name": "Orb Kit",
    "offers": {"price": "39.50", "priceCurrency": "EUR"},
}
PRODUCT = (
    f'<title>Orb Kit</title><script type="application/ld+json">{json.dumps(KIT)}</script>'
    "<main><h1>Orb Kit</h1><p>€39.50</p><button>Add to cart</button><ul><li>In stock</li>"
    "<li>Free shipping</li></ul><h2>Description</h2><p>A frame of beech, two hooks and a booklet "
    "that explains how an orb is spun. It fits on any window sill.</p><h2>Customer reviews</h2>"
    "<p>5 of 5 stars. My neighbour bought one, too, and is happy with it.</p></main>"
)


@pytest.fixture
def analysed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Analysed:
    """Return what has the command analyse a page, under settings."""

    def ask(html: str, *settings: str) -> dict[str, Any]:
        file = tmp_path / "page.html"
        file.write_text(f"<html lang=en>{html}", "utf-8")
        flags = [part for one in settings for part in ("--set", one)]
        monkeypatch.setattr(sys, "argv", ["geomi", "analyse", str(file), "--json", *flags])
        assert main() == 0
        told: dict[str, Any] = json.loads(capsys.readouterr().out)
        return told

    return ask


@pytest.mark.req("ANA-10")
@pytest.mark.parametrize(
    ("html", "flag"),
    [
        (f"<title>The mill</title><main>{TEXT}</main>", ""),
        ("<title>A mill</title><main><h1>A mill</h1><p>It stands by a river.</p></main>",
         "thin_content"),
        (f"<title>Looms</title><main><h1>Looms</h1><p>{CHEAP}</p></main>", "keyword_stuffing"),
        (f"<title>A shop</title><main><h1>A shop</h1><ul>{MENU}</ul></main>", "boilerplate_heavy"),
        (f"<title>Best mills of 2018</title><main>{TEXT}</main>", "outdated"),
        (f"<title>The mill</title><main>{TEXT}<p>{'{{name}} {{price}} ' * 9}</p></main>",
         "broken_formatting"),
    ],
    ids=["good", "thin", "stuffed", "menu", "old", "broken"],
)  # fmt: skip
def test_a_page_has_the_flags_of_what_is_wrong_with_it(
    analysed: Analysed, html: str, flag: str
) -> None:
    raised = analysed(html)["quality"]["flags"]
    assert flag in raised if flag else raised == []


@pytest.mark.req("ANA-01", "ANA-24")
def test_each_part_uses_those_before_it(analysed: Analysed) -> None:
    """Type, quality, fields, summary, decision: without one, what follows is told without it."""
    whole = analysed(PRODUCT)
    names = ("quality", "extraction", "summary", "decision")
    engines = [whole[name]["engine"]["version"] for name in names]
    assert len(set(engines)) == len(names)
    assert (whole["classification"]["pageType"], whole["extraction"]["modelUsed"]) == (
        ("product", "product")
    )
    untyped = analysed(PRODUCT, "analysis.classify=false")
    assert untyped["classification"] is untyped["extraction"] is None
    assert untyped["quality"]["depth"] < whole["quality"]["depth"]  # a product needs few words
    assert untyped["summary"]["short"] == whole["summary"]["short"]
    kinds = [{one["type"] for one in told["summary"]["entities"]} for told in (whole, untyped)]
    assert "product" in kinds[0] - kinds[1]
    assert analysed(PRODUCT, "analysis.page_types=faq")["decision"]["reason"] == "page_type"
    strict = "analysis.quality_threshold=10"
    assert analysed(PRODUCT, strict)["decision"]["reason"] == "quality"
    unrated = analysed(PRODUCT, strict, "analysis.quality=false")
    assert unrated["quality"] is None and unrated["decision"]["shouldIndex"]
    for name in ("classification", "extraction", "summary"):
        assert unrated[name] == whole[name]
    short = analysed(PRODUCT, "analysis.summary=false")
    assert short["summary"] is None and short["quality"] == whole["quality"]


CASINO = "Our online casino has roulette, blackjack and free spins. Claim your welcome bonus! "
NOTICE = "<footer>© 2026 Silk Works. All rights reserved.</footer>"


@pytest.mark.req("SAF-03", "LEG-13")
@pytest.mark.parametrize(
    ("html", "setting", "found"),
    [
        (f"<main>{TEXT}<p>{CASINO * 4}</p></main>", "analysis.sensitive", "sensitive"),
        (f"<main>{TEXT}</main>{NOTICE}", "analysis.copyright", "copyright"),
    ],
    ids=["sensitive", "copyright"],
)
def test_what_is_found_is_told_or_keeps_a_page_out_or_is_not_looked_for(
    analysed: Analysed, html: str, setting: str, found: str
) -> None:
    flagged = analysed(html, f"{setting}=flag")
    assert flagged[found] and flagged["decision"]["shouldIndex"]
    skipped = analysed(html, f"{setting}=skip")["decision"]
    assert (skipped["shouldIndex"], skipped["reason"]) == (False, found)
    assert not analysed(html, f"{setting}=off")[found]
