"""Footnotes."""

from __future__ import annotations

import pytest

from geomi.extract.markdown import notes as room
from tests.unit.extract.markdown.written import write


def page(reference: str, notes: str) -> str:
    return write(f"<p>text{reference} goes on</p>{notes}")


@pytest.mark.parametrize(
    ("reference", "notes"),
    [
        pytest.param(
            '<sup id="fnref:1"><a href="#fn:1" class="footnote-ref">1</a></sup>',
            '<ol><li id="fn:1"><p>Note. <a href="#fnref:1" class="reversefootnote">↩</a></p></ol>',
            id="kramdown",
        ),
        pytest.param(
            '<sup class="reference"><a href="#cite_note-1">[1]</a></sup>',
            '<ol><li id="cite_note-1"><span class="mw-cite-backlink"><a href="#cite_ref-1">^</a>'
            "</span> <span>Note.</span></li></ol>",
            id="mediawiki",
        ),
        pytest.param(
            '<a class="footnote-reference brackets" href="#id2"><span class="fn-bracket">[</span>1'
            '<span class="fn-bracket">]</span></a>',
            '<aside class="footnote brackets" id="id2"><span class="label">'
            '<span class="fn-bracket">[</span><a role="doc-backlink" href="#id1">1</a>'
            '<span class="fn-bracket">]</span></span><p>Note.</p></aside>',
            id="sphinx",
        ),
        pytest.param(
            '<a class="footnote-reference brackets" href="#id2">1</a>',
            '<dl class="footnote"><dt id="id2"><a class="fn-backref" href="#id1">1</a></dt>\n'
            "<dd><p>Note.</p></dd></dl>",
            id="docutils",
        ),
        pytest.param(
            '<a href="#fn1" role="doc-noteref"><sup>1</sup></a>',
            '<ol><li id="fn1"><p>Note.<a href="#fnref1" role="doc-backlink">↩</a></p></li></ol>',
            id="pandoc",
        ),
        pytest.param(
            '<sup><a href="#_ftn1">[1]</a></sup>',
            '<p><a id="_ftn1" href="#_ftnref1">[1]</a> Note.</p>',
            id="word",
        ),
    ],
)
def test_both_ends_are_marked(reference: str, notes: str) -> None:
    assert page(reference, notes) == "text[^1] goes on\n\n[^1]: Note."


@pytest.mark.parametrize(
    "reference",
    [
        '<sup><a href="#nowhere">1</a></sup>',
        '<sup><a href="#n1">a long text</a></sup>',
        '<sup><a href="#n1">*</a></sup>',
        '<a href="#n1">1</a>',
    ],
)
def test_one_end_alone_is_left_as_it_is(reference: str) -> None:
    assert "[^" not in page(reference, '<p id="n1">Note.</p><p><sup>x</sup></p>')


def test_two_notes_of_one_label_are_not_mixed_up() -> None:
    text = write(
        '<p>a<sup><a href="#a">1</a></sup> b<sup><a href="#b">1</a></sup></p>'
        '<p id="a">One.</p><p id="b">Two.</p>'
    )
    assert text == "a[^1] b1\n\n[^1]: One.\n\nTwo."


def test_a_page_cannot_write_marks_of_its_own() -> None:
    assert write('<p>a <g-note label="](x)">b</g-note></p>') == "a ](x)"


def test_notes_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "MAX_NOTES", 1)
    text = write(
        '<p>a<sup><a href="#a">1</a></sup> b<sup><a href="#b">2</a></sup></p>'
        '<p id="a">One.</p><p id="b">Two.</p>'
    )
    assert text == "a[^1] b2\n\n[^1]: One.\n\nTwo."
