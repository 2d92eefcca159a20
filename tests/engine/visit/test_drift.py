"""A selector that no longer finds the content is told; the pages are kept all the same."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from geomi.engine.visit.parsing import MAX_WATCHED_HOSTS, WINDOW_PAGES, SelectorDrift
from geomi.model.event import Warned
from geomi.model.page import Article
from tests.support.crawl import Ear, crawl_site, page
from tests.support.server import Reply, Site

FOUND = Article("t", "m", "text", (), strategy="selector")
MISSED = Article("t", "m", "text", (), strategy="main")


def told(articles: list[Article], *, selector: str = ".doc", host: str = "a.test:80") -> list[str]:
    ear = Ear()
    drift = SelectorDrift(ear, "job", selector)
    for article in articles:
        drift.note(host, article)
    return [event.message for event in ear.of(Warned)]


@pytest.mark.parametrize(
    ("matched", "missed", "warnings"),
    [(10, 0, 0), (6, 4, 0), (5, 5, 1), (0, 10, 1), (0, 9, 0), (0, 40, 1)],
)
def test_half_of_a_window_is_too_little(matched: int, missed: int, warnings: int) -> None:
    assert len(told([FOUND] * matched + [MISSED] * missed)) == warnings


def test_a_site_that_changes_later_is_noticed() -> None:
    (message,) = told([FOUND] * 5 * WINDOW_PAGES + [MISSED] * WINDOW_PAGES)
    assert message == "`extract.content` (.doc) matched 0 of the last 10 pages of `a.test:80`"


def test_without_a_selector_there_is_nothing_to_miss() -> None:
    assert told([MISSED] * 50, selector="") == []


def test_what_has_no_elements_is_not_missed() -> None:
    assert told([replace(MISSED, strategy="openapi")] * 50) == []


def test_hosts_under_watch_are_bounded() -> None:
    ear = Ear()
    drift = SelectorDrift(ear, "job", ".doc")
    for number in range(MAX_WATCHED_HOSTS + 1):
        drift.note(f"{number}.test:80", MISSED)
    for _ in range(WINDOW_PAGES - 1):
        drift.note("0.test:80", MISSED)  # its first page was forgotten
    assert ear.events == []
    drift.note("0.test:80", MISSED)
    assert len(ear.events) == 1


def test_a_crawl_warns_and_keeps_the_pages(tmp_path: Path) -> None:
    names = [f"/{number}" for number in range(WINDOW_PAGES)]
    routes: dict[str, Reply] = {name: page(name) for name in names} | {"/": page("home", *names)}
    with Site(routes) as site:
        crawled = crawl_site(tmp_path, site.url("/"), assignments=["extract.content=.gone"])
    assert [warned for warned in crawled.ear.of(Warned) if ".gone" in warned.message]
    assert len(crawled.records) == WINDOW_PAGES + 1
