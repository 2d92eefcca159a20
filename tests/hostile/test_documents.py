"""Each page that is dear to read, given to the reader: it costs no more than its size."""

from __future__ import annotations

import asyncio
import time

import pytest

from geomi.adapters.compute.child import ChildCompute
from geomi.extract import dom
from geomi.extract.dom import parse_html
from geomi.extract.links import base_url
from geomi.extract.page import extract
from geomi.model.config import Extraction
from geomi.model.page import Article
from tests.hostile.documents import INLINE_BYTES, MIB, SMALL, charsets, document

URL = "http://a.test/page"
HTML = "text/html; charset=utf-8"
RULES = Extraction()
# The worker does nothing else meanwhile. The dearest take 0.6 s, of which the machine's load may
# make several times as much; without their limits they took up to 27.
MAX_CPU_S = 4.0


@pytest.mark.parametrize("shape", SMALL)
def test_a_small_page_is_read_at_once(shape: str) -> None:
    body = document(shape, INLINE_BYTES)
    assert len(body) <= INLINE_BYTES
    started_s = time.process_time()
    article = extract(body, URL, HTML, RULES)
    assert time.process_time() - started_s < MAX_CPU_S
    assert article.title == shape
    assert len(article.markdown) <= RULES.max_markdown_chars


@pytest.mark.parametrize(
    ("body", "kind", "text"),
    [pytest.param(body, kind, text, id=name) for name, body, kind, text in charsets()],
)
def test_a_page_is_read_in_its_charset_whatever_it_is_called(
    body: bytes, kind: str, text: str
) -> None:
    """G-11."""
    assert text in extract(body, URL, kind, RULES).text


def in_child(body: bytes, *, deadline_s: float) -> bool:
    """Say whether the child can read a page, and whether it is there for the next."""

    async def ask() -> bool:
        compute = ChildCompute()
        try:
            small = b"<title>small</title>"
            answers = [
                await compute.extract(
                    page, URL, HTML, RULES, max_links=10_000, deadline_s=max(deadline_s, still_s)
                )
                for page, still_s in ((small, 60.0), (body, 0.0), (small, 60.0))
            ]
        finally:
            await compute.aclose()
        first, asked, last = answers
        assert isinstance(first, Article) and first == last
        return isinstance(asked, Article)

    return asyncio.run(ask())


@pytest.mark.slow
def test_a_page_that_outgrows_the_child_ends_there() -> None:
    """512 MiB are enough for a million siblings, and not for twice as many."""
    assert in_child(document("siblings", 4 * MIB), deadline_s=60.0)
    assert not in_child(document("siblings", 9 * MIB), deadline_s=60.0)


def test_a_page_that_outlasts_its_deadline_ends_there() -> None:
    assert not in_child(document("columns-by-rows", 4 * MIB), deadline_s=0.2)


def test_tags_that_open_the_page_again_are_bounded() -> None:
    """Attributes of the first ones count, those of the others are of no page."""
    filler = "x" * dom.GUARDED_CHARS
    for tags in (dom.MAX_ROOTS, dom.MAX_ROOTS + 1):
        html = "".join(f"<BODY a{n}=1>" for n in range(tags)) + filler
        for body in (html.encode(), html.encode("utf-16"), html.encode() + b"\xff\xe9" * 9):
            element = parse_html(body, "text/html").select_one("body")
            assert element is not None
            assert len(element.attrs) == dom.MAX_ROOTS
            assert filler in element.text


def test_a_base_is_bounded() -> None:
    """Every relative link becomes as long as it."""
    for chars in (dom.MAX_BASE_CHARS, dom.MAX_BASE_CHARS + 1):
        href = "/" + "x" * (chars - 2) + "/"
        document = parse_html(f"<base><base href={href}><p>hi".encode(), "text/html")
        base = base_url(document, URL)
        assert base == (f"http://a.test{href}" if chars == dom.MAX_BASE_CHARS else URL)
