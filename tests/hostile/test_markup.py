"""Markup that is dear to read, in every form of markdown: it costs no more than its size."""

from __future__ import annotations

import time

import pytest

from geomi.extract.page import extract
from geomi.model.config import Extraction
from geomi.model.markdown import MarkdownForm, Tag

URL = "http://a.test/docs/page"
RULES = Extraction()

HOSTILE = {
    "nested div": "<div>" * 100_000 + "x",
    "attributes": "<p " + " ".join(f"a{n}=1" for n in range(100_000)) + ">x",
    "nested bold": "<b>x" * 20_000,
    "nested navigation": "<nav>x" * 20_000,
    "nested article": "<article>x" * 20_000,
    "nested condemned": "<div class=ad>x" * 20_000,
    "nested table": "<table><tr><td>x" * 10_000,
    "nested heading": "<h1><div>x" * 10_000,
    "nested link": "".join(f"<a href=/{n}><table><tr><td>x" for n in range(5_000)),
    "giant table": "<table>" + ("<tr>" + "<td>x" * 100) * 1000,
    "ragged table": "<table>" + "".join("<tr>" + "<td>x" * (n % 50) for n in range(2000)),
    "spanning table": "<table>" + "<tr><td colspan=1000 rowspan=1000>x" * 1000,
    "nested list": "<ul><li>x" * 3000,
    "links": "".join(f"<a href=/{n}>x</a>" for n in range(30_000)),
    "notes": "<pre>x</pre>" + "<div class=note>x" * 10_000,
    "references": "".join(f'<sup><a href="#n{n}">{n}</a></sup>' for n in range(5000))
    + "".join(f"<p id=n{n}>x" for n in range(5000)),
    "nested references": "<sup><a href='#x'>1" * 10_000 + "<p id=x>",
    "nested formulas": "<math>" * 10_000 + "<annotation encoding=application/x-tex>x",
    "open formulas": "<script src=mathjax.js></script><p>" + "\\[" * 100_000,
    "formulas": "<script src=mathjax.js></script><p>" + "$$ a " * 100_000,
    "nested code": "<pre>" * 10_000 + "x",
    "tabled code": "<table><tr>" + "<td><pre>x</pre>" * 10_000,
    "meanings": "<dl>" + "<dd>x" * 30_000,
    "nested details": "<details><summary>x" * 10_000,
    "boxes": "<ul>" + "<li><input type=checkbox disabled>x" * 20_000,
    "nested lists of json": '<script type="application/ld+json">{"a":'
    + "[" * 900
    + "]" * 900
    + "}</script>x",
    "nested items": "<meta itemprop=x><div itemscope><span itemprop=x>y" * 5000,
    "alternates": "<link rel=alternate hreflang=x href=y>" * 20_000,
    "deep json": '<script type="application/ld+json">' + "[" * 100_000 + "</script>",
}

# CI reads these in every form, and `make prove` all of them.
DEAREST = frozenset({"nested code", "nested link", "nested table", "ragged table"})


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_pages_are_read_in_bounds(name: str) -> None:
    started_s = time.process_time()
    article = extract(HOSTILE[name].encode(), URL, "text/html; charset=utf-8", RULES)
    assert time.process_time() - started_s < 3  # measured: 0.3 s at most
    assert len(article.markdown) <= RULES.max_markdown_chars
    assert len(article.links) <= 10_000


@pytest.mark.parametrize("content_type", ["text/html", "text/plain"])
def test_thirty_megabytes_of_text_are_read_in_bounds(content_type: str) -> None:
    started_s = time.process_time()
    article = extract(b"some words \n" * 2_500_000, URL, content_type, RULES)
    assert time.process_time() - started_s < 10  # measured: 0.3 s
    assert len(article.markdown) <= RULES.max_markdown_chars
    assert len(article.text) <= RULES.max_markdown_chars


@pytest.mark.parametrize("form", MarkdownForm)
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=() if name in DEAREST else pytest.mark.prove) for name in HOSTILE],
)
def test_no_form_of_markdown_takes_longer(name: str, form: MarkdownForm) -> None:
    started_s = time.process_time()
    extract(HOSTILE[name].encode(), URL, "text/html", Extraction(markdown=form), own={"div": keep})
    assert time.process_time() - started_s < 5


def keep(_: Tag, markdown: str) -> str:
    return markdown
