"""Code blocks made fit for a fence."""

from __future__ import annotations

import pytest

from geomi.extract.markdown import code as room
from tests.unit.extract.markdown.written import write

BLOCK = "<p>Some text before the code.</p>"


def fence(html: str) -> str:
    return write(BLOCK + html).partition("\n\n")[2]


@pytest.mark.req("MD-01")
@pytest.mark.parametrize(
    ("html", "language"),
    [
        ('<pre><code class="hljs language-js"><b>x</b></code></pre>', "js"),
        ('<pre><code class="hljs python">x</code></pre>', "python"),
        ('<pre class="sourceCode haskell"><code>x</code></pre>', "haskell"),
        ('<pre class="python">x</pre>', "python"),
        ('<pre class="python big">x</pre>', ""),
        ('<pre class="highlight main">x</pre>', ""),
        ('<pre data-language="C#">x</pre>', "c#"),
        ('<div class="highlight highlight-source-shell"><pre>x</pre></div>', "shell"),
        ('<div class="language-ruby x"><div class="highlight"><pre>x</pre></div></div>', "ruby"),
        ('<div class="language-py highlight"><pre><span></span><code>x</code></pre></div>', "py"),
        ('<div class="lang-en"><div><div><pre>x</pre></div></div></div>', ""),
    ],
)
def test_a_language_is_found_where_highlighters_write_it(html: str, language: str) -> None:
    assert fence(html) == f"```{language}\nx\n```"


@pytest.mark.req("MD-01")
@pytest.mark.parametrize(
    "html",
    [
        pytest.param(
            '<figure class="highlight js"><table><tr><td class="gutter"><pre>1<br>2<br></pre></td>'
            '<td class="code"><pre><span>x</span><br><span>y</span></pre></td></table></figure>',
            id="hexo",
        ),
        pytest.param(
            '<figure class="highlight"><pre><code class="language-js" data-lang="js">'
            '<table class="rouge-table"><tr><td class="rouge-gutter gl"><pre class="lineno">1\n2'
            '</pre></td><td class="rouge-code"><pre>x\ny\n</pre></td></table></code></pre>',
            id="rouge",
        ),
        pytest.param(
            '<div class="highlight-js"><table class="highlighttable"><tr><td class="linenos">'
            '<div class="linenodiv"><pre>1\n2</pre></div></td><td class="code">'
            '<div class="highlight"><pre>x\ny</pre></div></td></table></div>',
            id="pygments",
        ),
        pytest.param(
            '<table class="lntable"><tr><td class="lntd"><pre class="chroma"><code>'
            '<span class="lnt">1\n</span><span class="lnt">2\n</span></code></pre></td>'
            '<td class="lntd"><pre class="chroma"><code class="language-js" data-lang="js">'
            '<span class="line">x\n</span><span class="line">y</span></code></pre></td></table>',
            id="hugo",
        ),
        pytest.param(
            '<pre class="line-numbers language-js"><code>x\ny<span class="line-numbers-rows">'
            "<span>1</span><span>2</span></span></code></pre>",
            id="prism",
        ),
        pytest.param(
            '<pre class="sourceCode js"><code><a data-line-number="1">x</a>\n'
            '<a data-line-number="2">y</a></code></pre>',
            id="pandoc",
        ),
    ],
)
def test_line_numbers_are_no_code(html: str) -> None:
    assert fence(html) == "```js\nx\ny\n```"


@pytest.mark.parametrize("extra", [0, 1])
def test_only_the_first_part_of_a_class_is_read(extra: int) -> None:
    name = "lang-py".rjust(room.MAX_CLASS_CHARS + extra)
    language = "p" if extra else "py"
    assert fence(f'<pre class="{name}">x</pre>') == f"```{language}\nx\n```"


def test_a_language_is_limited() -> None:
    name = "x" * (room.MAX_LANGUAGE_CHARS + 1)
    assert fence(f'<pre class="lang-{name}">x</pre>') == f"```{name[:-1]}\nx\n```"
