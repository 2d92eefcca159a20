"""A job can say how well its pages came out, and what somebody should look at."""

from __future__ import annotations

from pathlib import Path

import pytest

from geomi.engine.inspect.quality import SiteReport, _remarks, quality
from tests.support.crawl import Ear, crawl_seeds, home_in, page
from tests.support.server import Reply, Site
from tests.support.waiting import waits


def site(
    *,
    strategies: dict[str, int],
    confidence: float = 0.9,
    thin: int = 0,
    duplicates: int = 0,
    empty: int = 0,
) -> SiteReport:
    pages = sum(strategies.values())
    lost = {"empty": empty} if empty else {}
    return SiteReport("a.test:80", pages, strategies, confidence, thin, duplicates, lost)


@pytest.mark.parametrize(
    ("found", "selector", "words"),
    [
        (site(strategies={"main": 9}), "", ()),
        (site(strategies={"main": 6, "selector": 4}), ".doc", ("matched 4 of 10",)),
        (site(strategies={"main": 4, "selector": 6}), ".doc", ()),
        (site(strategies={"body": 9}, confidence=0.4), "", ("guessed",)),
        (site(strategies={"main": 9}, thin=5), "", ("5 of 9 pages have fewer than 50 words",)),
        (site(strategies={"main": 9}, duplicates=5), "", ("5 of 9 pages repeat another",)),
        (site(strategies={"main": 9}, empty=5), "", ("5 pages have no text",)),
        (site(strategies={"main": 900}, empty=5), "", ()),
        (site(strategies={"body": 4}, confidence=0.1, thin=4), ".doc", ()),
    ],
)
def test_what_looks_wrong_is_told(found: SiteReport, selector: str, words: tuple[str, ...]) -> None:
    remarks = list(_remarks(found, selector))
    assert len(remarks) == len(words)
    assert all(word in remark for word, remark in zip(words, remarks, strict=True))


@waits
async def test_a_crawl_says_how_it_found_its_content(tmp_path: Path) -> None:
    paragraphs = "".join(f"<p>{'words ' * 30}{number}</p>" for number in range(5))
    routes: dict[str, Reply] = {
        "/": page("home", "/a", "/b", "/c"),
        "/a": Reply(f"<article>{paragraphs}</article>".encode()),
        "/b": Reply(b"<article></article>"),
    }
    with Site(routes) as running:
        crawled = await crawl_seeds(tmp_path, running.url("/"))

    async with home_in(tmp_path, Ear()) as home:
        (found,) = await quality(home.world, crawled.report.job)
    assert found.pages == 2
    assert found.strategies == crawled.report.strategies
    assert sum(found.strategies.values()) == 2
    assert found.strategies["article"] == 1
    assert found.lost == {"empty": 1, "gone": 1}
    assert 0 < found.confidence <= 1
