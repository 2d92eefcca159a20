"""A content tree as markdown."""

from __future__ import annotations

import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from geomi.extract.dom import parse_html
from geomi.extract.markdown import writer as room
from geomi.extract.markdown.writer import CUT_MARK, cut, tidy, to_markdown
from geomi.model.config import Extraction, ImageStyle, LinkStyle, TableStyle
from tests.unit.extract.markdown.written import BASE, write

TEXT_ONLY = Extraction(links=LinkStyle.TEXT, images=ImageStyle.ALT)


def code(html: str) -> str:
    return write(f"<p>Some text before the code.</p>{html}").partition("\n\n")[2]


@pytest.mark.req("MD-01")
@pytest.mark.parametrize(
    ("html", "expected"),
    [
        (
            '<pre><code class="language-python">a = 1\n\n\n\nb</code></pre>',
            "```python\na = 1\n\n\n\nb\n```",
        ),
        ('<pre class="lang-js">a &lt; b</pre>', "```js\na < b\n```"),
        ('<pre class="brush: ruby;">x</pre>', "```ruby\nx\n```"),
        ('<pre data-lang="c++">x</pre>', "```c++\nx\n```"),
        (
            '<div class="highlight-python3 x"><div class="y"><pre><i>de</i>f\n</pre></div></div>',
            "```python3\ndef\n```",
        ),
        ('<pre class="language-x!y">x</pre>', "```\nx\n```"),
        ('<pre class="language-none">x</pre>', "```\nx\n```"),
        ("<pre>```\nx\n```</pre>", "````\n```\nx\n```\n````"),
        ("<pre>  a\n\n\tb</pre>", "```\n  a\n\n\tb\n```"),
        (
            "<table><tr><td class=linenos><pre>1\n2</pre></td><td><pre>x\ny</pre></td></table>",
            "```\nx\ny\n```",
        ),
        (
            '<pre><span class="lineno">1 </span>x\n<span class="lineno">2 </span>y</pre>',
            "```\nx\ny\n```",
        ),
        ("<pre>x<button>Copy</button></pre>", "```\nx\n```"),
    ],
)
def test_code_blocks(html: str, expected: str) -> None:
    assert code(html) == expected


@pytest.mark.req("MD-02", "MD-04", "MD-05", "MD-09", "MD-10")
@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<p><code>foo_bar</code> and <code>a`b</code></p>", "`foo_bar` and ``a`b``"),
        ("<h1>a</h1><h3>b <code>c</code></h3><h6>d</h6>", "# a\n\n### b `c`\n\n###### d"),
        ("<ul><li>a<ul><li>b</ul><li>c</ul>", "- a\n  - b\n- c"),
        (
            "<ol><li>one<pre>x\n  y</pre><li>two</ol>",
            "1. one\n   ```\n   x\n     y\n   ```\n\n2. two",
        ),
        ("<p><strong>a</strong> <b>b</b> <em>c</em> <i>d</i></p>", "**a** **b** *c* *d*"),
        ("<p>한국어 <b>굵게</b>입니다 <em>c</em>x</p>", "한국어 **굵게**입니다 *c*x"),
        ("<p><b>a<b>b</b></b></p>", "**ab**"),
        ("<p>a</p><div></div><p> </p><span></span><h2> </h2><b></b><p>b</p>", "a\n\nb"),
        ("<h2>Name<a class=headerlink href='#x'>¶</a></h2>", "## Name"),
        ("<h2><a href='#x'>#</a> Name</h2><h2><a>C#</a></h2>", "## Name\n\n## C#"),
        ("<blockquote><p>a</p><p>b</p></blockquote>", "> a\n>\n> b"),
        ("<dl><dt>term<dd>meaning<dd><p>p</p>q</dl>", "term\n\n: meaning\n\n: p\n\nq"),
        ("<dl><dt>term<dd><pre>x</pre><dd> <b>b</b></dl>", "term\n\n```\nx\n```\n\n: **b**"),
        (
            "<p>10<sup>6</sup> 1<sup>st</sup> x<sup>2</sup> 5<sup> -3 </sup></p>",
            "10^6 1st x2 5^ -3",
        ),
        ("<details><summary>More</summary><p>x</p></details>", "**More**\n\nx"),
        ("<details><summary><h3>a</h3></summary><p>x</p></details>", "### a\n\nx"),
        ("<p><tt>a_b</tt> <kbd>Ctrl</kbd></p>", "`a_b` `Ctrl`"),
        ("<ruby>漢<rp>(</rp><rt>kan</rt><rp>)</rp></ruby>", "漢(kan)"),
        ("<ol start=5><li>a<li>b</ol>", "5. a\n6. b"),
        ("<p>a<br>b</p><hr><p>c</p>", "a  \nb\n\n---\n\nc"),
        (
            "<figure><img src=/i alt=x><figcaption>C</figcaption></figure>",
            "![x](http://a.test/i)\n\nC",
        ),
        ("<h2>44.1.&nbsp;Overview</h2><p>9.8&nbsp;of 10</p>", "## 44.1. Overview\n\n9.8 of 10"),
        ("<p>1. not a list</p>", "1\\. not a list"),
    ],
)
def test_blocks_and_emphasis(html: str, expected: str) -> None:
    assert write(html) == expected


@pytest.mark.req("MD-03")
@pytest.mark.parametrize(
    ("html", "expected"),
    [
        (
            "<table><tr><th>a<th>b<tr><td>c|d<td>e</table>",
            "| a | b |\n| --- | --- |\n| c\\|d | e |",
        ),
        ("<table><tr><td colspan=2>a<tr><td>b<td>c</table>", "| a |  |\n| --- | --- |\n| b | c |"),
        ("<table><tr><td>a<td><p>b</p><p>c</p></table>", "| a | b c |\n| --- | --- |"),
        ("<table><tr><td><h2>a</h2><p>b</p></table>", "## a\n\nb"),
    ],
)
def test_tables(html: str, expected: str) -> None:
    assert write(html) == expected


@pytest.mark.req("MD-03")
@pytest.mark.parametrize(
    ("html", "expected"),
    [
        (
            "<table><tr><th>a<th>b<tr><td>c|d<td>e</table>",
            "| a | b |\n| --- | --- |\n| c\\|d | e |",
        ),
        ("<table><tr><td colspan=1>a<td>b</table>", "| a | b |\n| --- | --- |"),
        (
            "<table><caption>T</caption><thead><tr><th colspan=2>a <b>b</b></thead>"
            "<tr><td rowspan=2>c<br>d<td><p>e</p><ul><li>f</ul><tr><td><td>g</table>",
            "T\n\na b\n\nc d · e f\n\ng",
        ),
        (
            "<table><tr><td colspan=2>x<sup>1</sup><td>y<sup><a href=#n>2</a></sup></table>",
            "x 1 · y 2",
        ),
        ("<table><tr><td colspan=2><h2>a</h2><p>b</p></table>", "## a\n\nb"),
    ],
)
def test_a_table_whose_cells_span_others_may_become_text(html: str, expected: str) -> None:
    assert write(html, Extraction(tables=TableStyle.TEXT)) == expected


@pytest.mark.parametrize(
    ("html", "kept", "text_only"),
    [
        ('<a href="x?q=1">a_b</a>', "[a_b](http://a.test/docs/x?q=1)", "a_b"),
        ('<a href="/x#part">a</a>', "[a](http://a.test/x#part)", "a"),
        ('<a href="/x#a)b">a</a>', "[a](http://a.test/x)", "a"),
        ('<a href="/x_(y)">a</a>', "[a](<http://a.test/x_(y)>)", "a"),
        ('<a href="#part">a</a> <a href="page#part">b</a>', "a b", "a b"),
        ('<a href="javascript:f()">a</a> <a href="http://[">b</a> <a>c</a>', "a b c", "a b c"),
        ('x <a href="/x"></a>', "x", "x"),
        ('<a href="/x"><h3>a</h3><p>b</p></a>', "### a\n\nb", "### a\n\nb"),
    ],
)
@pytest.mark.req("MD-07", "MD-08", "G-12")
def test_links(html: str, kept: str, text_only: str) -> None:
    assert write(html) == kept
    assert write(html, TEXT_ONLY) == text_only


@pytest.mark.parametrize(
    ("html", "kept", "alt_only"),
    [
        (
            '<img src="i.png" alt="An  image">',
            "![An image](http://a.test/docs/i.png)",
            "[이미지: An image]",
        ),
        ('x <img src="i.png"> <img src="i.png" alt=" ">', "x", "x"),
        ('x <img src="data:image/gif;base64,xx" alt="a">', "x", "x [이미지: a]"),
        ('<img src="/i" alt="[a] <b>">', "![(a) \\<b>](http://a.test/i)", "[이미지: (a) \\<b>]"),
    ],
)
@pytest.mark.req("MD-06", "G-13")
def test_images(html: str, kept: str, alt_only: str) -> None:
    assert write(html) == kept
    assert write(html, TEXT_ONLY) == alt_only


def test_text_cannot_become_markup() -> None:
    assert write("<p>&lt;script&gt; *x* [y](z)</p><p># h</p>") == (
        "\\<script> \\*x\\* \\[y\\](z)\n\n\\# h"
    )


@pytest.mark.req("MD-11")
def test_gaps_are_closed_outside_code() -> None:
    text = "a\n\n\n\nb\n  \n  \n```\nx\n\n\n\ny\n```\n\n\nc\n> d\n>\n>\n> e"
    assert tidy(text) == "a\n\nb\n  \n```\nx\n\n\n\ny\n```\n\nc\n> d\n>\n> e"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("9\\.8 m\n10\\. x\n\n1\\.5", "9.8 m\n10\\. x\n\n1.5"),
        ("a\xa0b\n```\nc\xa0d\n```\ne\xa0f", "a b\n```\nc\xa0d\n```\ne f"),
        ("````\n```\n1\\.5\n````\n1\\.5", "````\n```\n1\\.5\n````\n1.5"),
        ("> ```py\n> 1\\.5\n>\n>\n> ```\n>\n>\n> b", "> ```py\n> 1\\.5\n>\n>\n> ```\n>\n> b"),
        ("```\n\n\n\n1\\.5", "```\n\n\n\n1\\.5"),
    ],
)
def test_spaces_and_numbers_are_plain_outside_code(text: str, expected: str) -> None:
    assert tidy(text) == expected


@given(st.text(alphabet="`\n\n\n >a1\\.\xa0", max_size=60))
def test_tidying_reads_line_by_line(text: str) -> None:
    assume(all(line.strip(" \t>") != "\\" for line in text.split("\n")))  # a break, see below
    lines: list[str] = []
    fence, after_blank = "", False
    for line in text.split("\n"):
        bare = line.strip(" \t>")
        if fence:
            fence = "" if bare == fence else fence
        elif bare.startswith("```"):
            fence = bare[: len(bare) - len(bare.lstrip("`"))]
        elif not bare and after_blank:
            continue
        start = re.match(r"(?:[ >]|\d+\. )*\xa0+", line)
        at = start.end() if start else 0
        spaced = line[:at] + line[at:].replace("\xa0", " ")
        plain = re.sub(r"^(\d{1,9})\\\.(?=\d)", r"\1.", spaced)
        lines.append(line if fence else plain)
        after_blank = not bare and not fence
    assert tidy(text) == "\n".join(lines)


@pytest.mark.req("MD-11")
@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<p>a<br>b</p>", "a  \nb"),
        ("<p>a<br><br>b<br><br><br>c</p>", "a\n\nb\n\nc"),
        ("<p>a</p><br><br><br><br><p>b</p>", "a\n\nb"),
        ("<blockquote>a<br><br>b</blockquote>", "> a\n>\n> b"),
        ("<ul><li>a<br><br>b</li></ul>", "- a\n\n  b"),
        ("<pre>a\n\\\nb</pre>", "```\na\n\\\nb\n```"),
    ],
)
def test_line_breaks_in_a_row_are_one_gap(html: str, expected: str) -> None:
    assert write(html) == expected


def test_a_long_text_is_cut_at_a_line_and_says_so() -> None:
    text = "0123456789\n" * 10
    assert cut(text, len(text)) == text
    short = cut(text, len(text) - 1)
    assert len(short) < len(text)
    assert short.endswith("0123456789" + CUT_MARK)
    assert cut("```\n" + text, 80).endswith("\n```" + CUT_MARK)


def test_markdown_is_limited() -> None:
    text = write("<p>words words words</p>" * 100, Extraction(max_markdown_chars=1000))
    assert len(text) <= 1000
    assert text.endswith(CUT_MARK)


def test_headings_are_listed_as_they_are_written(monkeypatch: pytest.MonkeyPatch) -> None:
    html = "<h2>b <a href='#x'>¶</a></h2><div><h1>a\n <i>c</i></h1></div><h3> </h3><h4>d</h4>"
    body = parse_html(html.encode(), "text/html").select_one("body")
    assert body is not None
    monkeypatch.setattr(room, "MAX_HEADINGS", 2)
    assert to_markdown(body, BASE, {}, Extraction(), {}).outline == ((2, "b"), (1, "a c"))


def test_only_so_many_blocks_are_prepared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "MAX_PREPARED", 1)
    blocks = '<pre class="lang-a">x</pre><pre class="lang-b">y</pre>'
    assert code(blocks) == "```a\nx\n```\n\n```\ny\n```"


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<p>now <del>€5</del> €4</p>", "now ~~€5~~ €4"),
        ("<p><s>(a)</s>b</p>", "~~(a)~~b"),
        ("<p>x <strike></strike></p>", "x"),
    ],
)
def test_what_is_struck_out_is_marked(html: str, expected: str) -> None:
    assert write(html) == expected


@pytest.mark.parametrize(
    "attributes",
    [
        'src="data:image/gif;base64,R0" data-src="/a.png"',
        'data-src="/a.png"',
        'srcset="/a.png 1x, /b.png 2x"',
        'src="/a.png" data-src="/b.png"',
    ],
)
def test_an_image_that_is_loaded_late_is_found(attributes: str) -> None:
    html = f'<p>See <img alt="a map" {attributes}></p>'
    assert write(html) == "See ![a map](http://a.test/a.png)"


@pytest.mark.parametrize("text", ["# head", "- item", "> quoted", "1. first", "\xa0\xa0\xa0code"])
def test_a_no_break_space_makes_no_markup_of_a_line(text: str) -> None:
    assert write(f"<p>\xa0{text}\xa0end</p>") == f"\xa0{text} end"


def test_the_words_of_an_image_cannot_end_it() -> None:
    assert (
        write('<p>See <img alt="a ] b\\" src=/a.png></p>') == "See ![a ) b/](http://a.test/a.png)"
    )
