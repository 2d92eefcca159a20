"""Text that is its own markdown."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geomi.extract import document as room
from geomi.extract.page import extract
from geomi.model.config import Extraction
from geomi.model.page import Article

URL = "http://a.test/docs/readme.md"


def read(text: str, kind: str = "text/markdown") -> Article:
    return extract(text.encode("utf-8", "surrogatepass"), URL, kind, Extraction())


PAGE = """---
title: "A guide"
author: Kim
date: 2024-05-06
tags:
  - x
---

# Heading *one*

Text with [a link](../other.md "title") and `[no](link)`, an ![image](x.png),
[![badge](b.png)](https://b.test/ci), <https://c.test/x>, [p](/x_(y)) and [here](#part).

```python
# no heading
[code](/no)
```

[named]: https://d.test/
[^1]: /footnote
"""


def test_markdown_is_taken_as_it_is() -> None:
    article = read(PAGE)
    assert (article.title, article.author) == ("A guide", "Kim")
    assert article.published_at == "2024-05-06"
    assert article.markdown == PAGE.partition("---\n\n")[2].strip()
    assert article.outline == ((1, "Heading *one*"),)
    assert article.strategy == "markdown"
    assert [(link.url, link.text) for link in article.links] == [
        ("http://a.test/other.md", "a link"),
        ("https://b.test/ci", ""),
        ("http://a.test/x_(y)", "p"),
        ("https://c.test/x", "https://c.test/x"),
        ("https://d.test/", "named"),
    ]


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("# One #\n\ntext", "One"),
        ("text\n\n## Two", "Two"),
        ("only text", "readme.md"),
        ("---\nno end", "readme.md"),
        ("---\ntitle: 'T'\n---\ntext", "T"),
        ("~~~\n# no\n~~~\n# Yes", "Yes"),
    ],
)
@pytest.mark.parametrize("kind", ["text/markdown", "text/plain"])
def test_a_title_is_found(text: str, title: str, kind: str) -> None:
    assert read(text, kind).title == title


def test_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "[a](/a) [b](/b)\n# x\n# y\n"
    assert len(extract(text.encode(), URL, "text/markdown", Extraction(), max_links=1).links) == 1
    monkeypatch.setattr(room, "MAX_HREFS", 1)
    monkeypatch.setattr(room, "MAX_HEADINGS", 1)
    assert len(read(text).links) == 1
    assert read(text).outline == ((1, "x"),)
    monkeypatch.setattr(room, "MAX_LINK_CHARS", 3)
    assert read(text).links == ()
    monkeypatch.setattr(room, "MAX_FRONT_CHARS", 5)
    assert read("---\ntitle: T\n---\n").title == "readme.md"


@given(st.text(alphabet="[]()<>!`#:-\n ax/", max_size=200))
def test_any_text_gives_an_article(text: str) -> None:
    assert isinstance(read(text), Article)


def test_hostile_lines_take_no_time() -> None:
    for piece in (
        "[" * 4000,
        "](" * 2000,
        "[a](" * 1000,
        "](a(" * 1000,
        "`a" * 2000,
        "<http" * 800,
    ):
        assert len(read(f"{piece}\n" * 100).links) <= 10_000


def test_where_a_file_says_that_it_comes_from_is_kept() -> None:
    long = "x" * (room.MAX_TITLE_CHARS + 1)
    front = f"---\nsource: https://s.test\nlibrary: {long}\nsidebar: 4\n---\ntext"
    assert read(front).metadata == (("source", "https://s.test"), ("library", long[:-1]))
    assert read("---\ntitle: T\n---\ntext").metadata == ()
