"""One page's bytes become one article, whatever they are."""

from __future__ import annotations

import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from geomi.extract.page import extract
from geomi.model.config import Extraction, Ladder
from geomi.model.page import Article
from geomi.url.parse import absolute

URL = "http://a.test/docs/page"
RULES = Extraction()
PROSE = "A sentence of the page that somebody wants to read. " * 6


def read(html: str, content_type: str = "text/html; charset=utf-8") -> Article:
    return extract(html.encode("utf-8", "surrogatepass"), URL, content_type, RULES)


@pytest.mark.req("META-01", "EXT-05", "EXT-08", "CTY-11")
def test_a_page_becomes_an_article() -> None:
    article = read(
        f"<html lang=en-GB><title>T</title><link rel=canonical href=/c><nav><a href=/n>N</a></nav>"
        f"<article><h1>H</h1><p>{PROSE}<script>x()</script></p></article><footer>F</footer>"
    )
    assert (article.title, article.language) == ("T", "en")
    assert article.canonical == "http://a.test/c"
    assert article.markdown == f"# H\n\n{PROSE.strip()}"
    assert article.text == f"H {PROSE.strip()}"
    assert [link.url for link in article.links] == ["http://a.test/n"]
    assert article.strategy == "article"
    assert article.needs_browser == ""


@pytest.mark.req("EXT-06")
@pytest.mark.parametrize(
    "html", ["", " ", "<html>", "<nav><a href=x>x</a></nav>", "<frameset><frame src=x>", "\0"]
)
def test_nothing_gives_empty_text(html: str) -> None:
    assert read(html).text.strip("\ufffd") == ""


def test_an_application_shell_needs_a_browser() -> None:
    html = (
        '<div id="root"></div><noscript>You need to enable JavaScript.</noscript><script></script>'
    )
    assert read(html).needs_browser == "noscript asks for JavaScript"


@pytest.mark.parametrize(
    ("body", "url", "title"),
    [
        ("\n  First line \nsecond", URL, "First line"),
        ("", "http://a.test/notes.txt", "notes.txt"),
        ("x" * 300, URL, "x" * 200),
    ],
)
def test_plain_text_is_taken_as_it_is(body: str, url: str, title: str) -> None:
    article = extract(body.encode(), url, "Text/Plain; charset=utf-8", RULES)
    assert (article.title, article.markdown) == (title, body.strip())
    assert (article.text, article.links, article.strategy) == (body.strip(), (), "plain")


def test_text_and_markdown_are_limited() -> None:
    rules = Extraction(max_markdown_chars=1000)
    for kind in ("text/html", "text/plain"):
        article = extract(b"words of text\n" * 1000, URL, kind, rules)
        assert len(article.text) <= 1000
        assert len(article.markdown) <= 1000


@given(st.binary(max_size=2000), st.sampled_from(["text/html", "text/plain", "", "x; charset=\0"]))
def test_any_bytes_give_an_article(body: bytes, content_type: str) -> None:
    assert isinstance(extract(body, URL, content_type, RULES), Article)


TAGS = (
    "a b table tr td pre code h1 article nav ul li p div img script base meta noscript svg".split()
)
ATTRIBUTES = "href=/x class=toc id=root rel=nofollow alt=x src=y colspan=3 hidden role=main".split()
PIECES = st.one_of(
    st.builds("<{} {}>".format, st.sampled_from(TAGS), st.sampled_from(ATTRIBUTES)),
    st.builds("</{}>".format, st.sampled_from(TAGS)),
    st.text(max_size=20),
)


@settings(deadline=None)
@given(st.lists(PIECES, max_size=60).map("".join))
def test_any_markup_gives_the_same_article_twice(html: str) -> None:
    assert read(html) == read(html)


def generated(seed: int) -> str:
    """Make a page of random nesting whose links and title two parsers should agree on."""
    rng = random.Random(seed)
    parts = [f"<!doctype html><title>Page &amp; {seed}</title><body>"]
    for number in range(rng.randint(5, 60)):
        tag = rng.choice(["p", "div", "li", "td", "h2", "b", "table", "tr", "ul", "select", "form"])
        href = rng.choice(
            ["/a/%d", "b-%d.html?x=1&amp;y=2", "http://b.test/%d", "#x%d", "mailto:%d"]
        )
        parts.append(f"<{tag}><a href='{href % number}'>t{number}")
        parts.append(
            rng.choice(["</a>", "", f"</{tag}>", "</a></p>", "<!-- <a href=/no>no</a> -->"])
        )
    return "".join(parts)


@pytest.mark.parametrize("seed", range(40))
def test_another_parser_sees_the_same_links_and_title(seed: int) -> None:
    html = generated(seed)
    article, other = read(html), LexborHTMLParser(html)
    hrefs = [node.attributes.get("href") or "" for node in other.css("a[href]")]
    expected = dict.fromkeys(url for url in absolute(hrefs, URL) if url and url != URL)
    assert [link.url for link in article.links] == list(expected)
    title = other.css_first("title")
    assert title is not None
    assert article.title == re.sub(r"\s+", " ", title.text())


def test_a_selected_table_is_written_as_one() -> None:
    page = b"<main><table id=a><tr><th>k<th>v<tr><td rowspan=2>1<td>2<tr><td>3</table></main>"
    article = extract(page, URL, "text/html", Extraction(content="#a"))
    assert article.markdown.startswith("| k | v |")
    assert "<table" not in article.markdown


@pytest.mark.req("EXT-01")
@pytest.mark.parametrize("ladder", list(Ladder))
def test_the_jobs_own_selector_comes_before_every_other_rung(ladder: Ladder) -> None:
    page = f"<article><p>{PROSE}</p></article><div class=own><p>Beside it.</p></div>".encode()
    rules = Extraction(content=".own", ladder=ladder)
    article = extract(page, URL, "text/html", rules)
    assert (article.text, article.strategy) == ("Beside it.", "selector")
