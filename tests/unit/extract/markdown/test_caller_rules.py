"""Markdown rules of the caller's own."""

from __future__ import annotations

import pytest

from geomi.extract.markdown import converters as room
from geomi.extract.page import extract
from geomi.model.config import Extraction
from geomi.model.markdown import Tag
from tests.unit.extract.markdown.written import write


def shout(tag: Tag, markdown: str) -> str:
    return markdown.upper() if tag.attr("class") == "loud" else markdown


def broken(tag: Tag, markdown: str) -> str:
    raise ValueError(f"no {markdown}")


@pytest.mark.req("MD-12", "FUT-04")
@pytest.mark.parametrize(
    ("html", "tag", "expected"),
    [
        ("<p>a <span class=loud>b <i>c</i></span> d</p>", "span", "a B *C* d"),
        ("a<section class=loud><p>b</p></section>c", "section", "a\n\nB\n\nc"),
        ("<table class=loud><tr><td>a<td>b</table>", "table", "| A | B |\n| --- | --- |"),
        ("<pre class=loud>a\n  b</pre>", "PRE", "```\na\n  b\n```"),
        ("<section><section class=loud>b</section></section>", "section", "B"),
        ("<p>a</p>", "span", "a"),
    ],
)
def test_a_rule_is_given_what_would_be_written(html: str, tag: str, expected: str) -> None:
    assert write(html, own={tag: shout}) == expected


@pytest.mark.req("MD-12")
@pytest.mark.parametrize(
    ("rule", "told"),
    [(broken, "p: ValueError: no a"), (lambda _, __: None, "p: returned no text")],
)
def test_a_rule_that_fails_leaves_the_page_and_is_told(rule: object, told: str) -> None:
    rules = {"p": rule}
    article = extract(
        b"<p>a</p><p>b</p>",
        "http://a.test/",
        "text/html",
        Extraction(),
        own=rules,  # type: ignore[arg-type]  # what a caller may do wrong
    )
    assert article.markdown == "a\n\nb"
    assert dict(article.metadata)["markdown_rule_failed"] == told


def test_only_so_many_elements_are_asked_about(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "MAX_OWN", 1)
    assert write("<p class=loud>a</p><p class=loud>b</p>", own={"p": shout}) == "A\n\nb"
