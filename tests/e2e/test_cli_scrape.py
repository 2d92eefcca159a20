"""What documentation becomes as markdown, seen by whoever asks for one page."""

from __future__ import annotations

import pytest

from tests.e2e.command import run
from tests.support.server import Reply, Site

MARKS = (
    "ad ads advertisement sidebar toc table-of-contents breadcrumb breadcrumbs pagination pager "
    "cta banner announcement alert-banner promo feedback feedback-widget thumbs-up-down "
    "was-helpful cookie-banner cookie-consent gdpr-banner own"
).split()
TAGS = (
    "script style noscript iframe object nav header footer aside".split()
)  # `embed` holds nothing
UNWANTED = "".join(
    [
        *(f"<div class={name}>class {name}</div>" for name in MARKS),
        "<div data-ad=1>data ad</div><div data-adunit=1>data adunit</div>",
        *(f"<{tag}>tag {tag}</{tag}>" for tag in TAGS),
    ]
)
PAGE = f"""<html lang=en><head><title>Calls</title></head><body>{UNWANTED}
<main><p>{"There is more text around it. " * 80}</p>
<article>{UNWANTED}<h1>Calls</h1><h3>One call</h3>
<p>See <a href="https://other.test/x">the manual</a>, <a href="/b">the next page</a> and
<a href="#end">the end</a>. It is <strong>not</strong> <em>hard</em>: use <code>call()</code>.</p>
<div></div><p></p><p><img src=loom.png alt="A loom"></p>
<pre><code class="language-python">call()</code></pre>
<ul><li>first<ul><li>below it</li></ul></li></ul>
<table><tr><th>name</th><th>type</th></tr><tr><td>id</td><td>text</td></tr></table>
</article></main></body></html>"""
MARKDOWN = """# Calls

### One call

See the manual, the next page and the end. It is **not** *hard*: use `call()`.

[이미지: A loom]

```python
call()
```

- first
  - below it

| name | type |
| --- | --- |
| id | text |"""


@pytest.fixture(scope="module")
def markdown() -> str:
    """Ask for a page as the profile `docs` reads it, with a selector of the provider's own."""
    with Site({"/": Reply(PAGE.encode())}) as site:
        local = (
            "--allow-private",
            "--set",
            "url.force_https=false",
            "--set",
            "extract.remove=.own",
        )
        done = run("scrape", site.url("/"), "--profile", "docs", *local)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.req("MD-01", "MD-02", "MD-04", "MD-05", "MD-10")
def test_documentation_is_written_by_the_rules_of_the_catalogue(markdown: str) -> None:
    assert markdown.strip() == MARKDOWN


@pytest.mark.req("MD-06", "MD-07", "MD-08", "MD-09", "EXT-02")
def test_links_and_images_of_documentation_are_their_words(markdown: str) -> None:
    """The `article` is what is read, though it is the smaller part of the `main`."""
    assert "See the manual, the next page and the end." in markdown
    assert "\n[이미지: A loom]\n" in markdown
    assert "**not** *hard*" in markdown
    assert "around it" not in markdown


@pytest.mark.req("CLN-01", "CLN-02", "EXT-05")
@pytest.mark.parametrize("tag", TAGS)
def test_elements_of_the_list_are_left_out(markdown: str, tag: str) -> None:
    assert f"tag {tag}" not in markdown


@pytest.mark.req("CLN-03", "CLN-04", "CLN-05", "CLN-06", "CLN-07")
@pytest.mark.parametrize("name", MARKS[:-1])
def test_names_of_the_list_are_left_out(markdown: str, name: str) -> None:
    assert f"class {name}" not in markdown
    assert "data ad" not in markdown


@pytest.mark.req("CLN-08")
def test_what_the_providers_selector_names_is_left_out(markdown: str) -> None:
    assert "class own" not in markdown
