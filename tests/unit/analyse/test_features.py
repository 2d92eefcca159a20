"""Facts and words of a page."""

from __future__ import annotations

import numpy as np
import pytest

from geomi.analyse.kinds import FACTS, MAX_LINKS, read_facts, read_words
from geomi.model.page import PageLink
from tests.unit.analyse.made import article, reading

MARKDOWN = "# Thread\n\nIt costs $5 since May 3, 2024. Why?\n\n- one\n\n```\nx\n```\n\n| a | b |"


def facts(url: str, markdown: str = MARKDOWN, links: tuple[PageLink, ...] = ()) -> dict[str, float]:
    page = article(markdown, title="Thread", links=links)
    return dict(zip(FACTS, read_facts(url, page, reading(markdown)).tolist(), strict=True))


def test_what_is_counted() -> None:
    told = facts("https://a.test/shop/red-thread")
    ones = ("headings", "items", "rows", "codes", "prices", "dates", "questions")
    assert {name: told[name] for name in ones} == dict.fromkeys(ones, 1.0)  # log2(1 + 1)
    assert told["depth"] == 2
    assert told["last_hyphens"] == 1
    assert told["share_items"] == pytest.approx(0.2)


def test_links_inside_outside_and_below() -> None:
    links = (
        PageLink("https://a.test/shop/x", "x"),
        PageLink("https://a.test/", "home"),
        PageLink("https://b.test/", "far"),
    )
    told = facts("https://a.test/shop", links=links)
    counted = [told[name] for name in ("links", "links_inside", "links_outside", "links_below")]
    assert counted == np.log2([4, 3, 2, 2]).astype(np.float32).tolist()


def test_a_hangul_syllable_says_twice_as_much_as_a_letter() -> None:
    assert (
        facts("https://a.test/", "가" * 100)["chars"]
        == facts("https://a.test/", "a" * 200)["chars"]
    )


def test_an_empty_page_without_a_url_has_facts() -> None:
    assert np.isfinite(list(facts("page.html", "").values())).all()


def test_words_say_where_they_stand() -> None:
    page = article(
        "# Weaving\n\nSpiders rest",
        title="Rest days",
        description="About spiders",
        types=("BlogPosting",),
        metadata=(("og:type", "Article"),),
        links=(PageLink("https://a.test/", "Reply"), PageLink("https://a.test/", "x" * 26)),
    )
    url = "https://forum.a.test/blog/2024/rest-days-1234.html?page=2"
    found = read_words(url, page, reading(page.markdown))
    assert {"h:forum", "p:blog", "l:rest", "l:days", "q:page", "t:rest", "d:spiders"} <= found
    assert {"o:weaving", "x:spiders", "a:reply", "c:blogposting", "c:og:article"} <= found
    assert {"k:og:type", "u:year", "u:number", "u:.html", "u:depth3", "u:hyphens2"} <= found
    assert not any(word.startswith("a:x") for word in found)


def test_only_so_many_links_are_read() -> None:
    links = tuple(PageLink("https://a.test/", f"n{number}") for number in range(MAX_LINKS + 1))
    found = read_words("https://a.test/", article("x", links=links), reading("x"))
    assert f"a:n{MAX_LINKS - 1}" in found
    assert f"a:n{MAX_LINKS}" not in found
