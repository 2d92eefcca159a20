"""The forms of markdown."""

from __future__ import annotations

import pytest

from geomi.model.config import Extraction
from geomi.model.markdown import MarkdownForm
from tests.unit.extract.markdown.written import write

SEMANTIC = Extraction(markdown=MarkdownForm.SEMANTIC)
COMPACT = Extraction(markdown=MarkdownForm.COMPACT)


@pytest.mark.parametrize(
    ("html", "standard", "semantic", "compact"),
    [
        ("H<sub>2</sub>O", "H2O", "H<sub>2</sub>O", "H2O"),
        ("<kbd>Ctrl</kbd>", "`Ctrl`", "<kbd>Ctrl</kbd>", "`Ctrl`"),
        (
            '<abbr title="a &quot;b">c</abbr>',
            "c",
            '<abbr title="a &quot;b">c</abbr>',
            "c",
        ),
        ("<b>a</b> <i>b</i>", "**a** *b*", "**a** *b*", "a b"),
        ("<p>a</p><hr><p>b</p>", "a\n\n---\n\nb", "a\n\n---\n\nb", "a\n\nb"),
        (
            "<p>a <img src=/i alt=x></p>",
            "a ![x](http://a.test/i)",
            "a ![x](http://a.test/i)",
            "a",
        ),
        (
            "<details><summary>More</summary><p>x</p></details>",
            "**More**\n\nx",
            "<details>\n<summary>More</summary>\n\nx\n\n</details>",
            "More\n\nx",
        ),
        ("<mark>a<mark>b</mark></mark>", "ab", "<mark>ab</mark>", "ab"),
    ],
)
def test_forms(html: str, standard: str, semantic: str, compact: str) -> None:
    assert write(html) == standard
    assert write(html, SEMANTIC) == semantic
    assert write(html, COMPACT) == compact
