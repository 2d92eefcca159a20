"""Formulas."""

from __future__ import annotations

import pytest

from geomi.extract.markdown import formula as room
from tests.unit.extract.markdown.written import write

ANNOTATED = (
    "<math{}><semantics><mrow><mi>x</mi></mrow>"
    '<annotation encoding="application/x-tex">{}</annotation></semantics></math>'
)
MATHJAX = '<script src="/js/MathJax.js"></script>'


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        (ANNOTATED.format("", "x^2*a*"), "a $x^2*a*$ b"),
        (
            f'<span class="katex"><span>{ANNOTATED.format("", "x_1")}</span>'
            '<span class="katex-html" aria-hidden="true">x1</span></span>',
            "a $x_1$ b",
        ),
        (ANNOTATED.format(' display="block"', "x"), "a \n\n$$\nx\n$$\n\nb"),
        ('<math alttext="{\\displaystyle y}"><mi>y</mi></math>', "a $y$ b"),
        ("<math><mi>z</mi></math>", "a z b"),
        ('<span class="MathJax">x</span><script type="math/tex">x</script>', "a $x$ b"),
        (
            '<script type="math/tex; mode=display">\\sum x</script>',
            "a \n\n$$\n\\sum x\n$$\n\nb",
        ),
        (ANNOTATED.format("", "a &lt; b\n\n# [x](y) $"), "a $a \\lt b # [x] (y) \\$$ b"),
        (ANNOTATED.format("", " "), "a x b"),
    ],
)
def test_a_formula_is_its_tex(html: str, expected: str) -> None:
    assert write(f"<p>a {html} b</p>").replace("lt  b", "lt b") == expected


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("\\(x^2*a*\\)", "$x^2*a*$"),
        ("$$a*b*c$$", "$$\na*b*c\n$$"),
        ("<code>\\(x\\)</code>", "`\\(x\\)`"),
        ("\\( not closed", "\\\\( not closed"),
    ],
)
def test_text_is_read_where_a_reader_of_formulas_is_loaded(html: str, expected: str) -> None:
    assert write(f"<p>{html}</p>", head=MATHJAX) == expected
    assert "$" not in write("<p>\\(x\\)</p>")


@pytest.mark.parametrize("name", ["math notranslate", "math inline"])
def test_text_is_read_where_a_generator_marks_a_formula(name: str) -> None:
    assert write(f'<p>a <span class="{name}">\\(x\\)</span></p>') == "a $x$"


def test_formulas_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "MAX_FORMULA_CHARS", 3)
    assert write(f"<p>{ANNOTATED.format('', 'abcd')}</p>") == "$abc$"
    monkeypatch.setattr(room, "MAX_FORMULAS", 1)
    both = "".join(f'<script type="math/tex">{tex}</script>' for tex in "xy")
    assert write(f"<p>{both}</p>") == "$x$"
    monkeypatch.setattr(room, "MAX_TEXTS", 0)
    assert write("<p>\\(x\\)</p>", head=MATHJAX) == "\\\\(x\\\\)"
