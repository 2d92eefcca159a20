"""Boilerplate is what many pages of a site repeat; what only looks alike stays."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from geomi.extract.content.template import (
    LESSON_EVERY,
    LESSON_PAGES,
    MAX_SECTIONS,
    REPEATED_PAGES,
    learned,
    needs_sections,
)
from geomi.extract.page import extract
from geomi.model.config import Extraction
from geomi.model.page import NO_TEMPLATE, Article, Template

BANNER = "<div>Join 40 friends of the Acme newsletter, every Monday at 9.</div>"
RULES = Extraction()


def page(number: int, *, banner: str = BANNER, extra: str = "") -> bytes:
    own = "".join(
        f"<p>Paragraph {word} of story {number} tells what no other page tells.</p>"
        for word in ("first", "second", "third", "fourth", "fifth", f"of{number}")
    ).replace(f"story {number}", f"story {'abcdefghijklmnopqrstuvwxyz'[number % 26] * 3}")
    return f"<main><h1>Story {number}</h1>{banner}{own}{extra}</main>".encode()


def read(body: bytes, template: Template = NO_TEMPLATE, rules: Extraction = RULES) -> Article:
    return extract(body, "http://a.test/", "text/html", rules, template=template)


def lesson(pages: int = LESSON_PAGES, *, banner: str = BANNER, extra: str = "") -> Template:
    template = NO_TEMPLATE
    for number in range(pages):
        body = page(number, banner=banner, extra=extra)
        template = learned(template, read(body, template).sections)
    return template


def test_what_a_site_repeats_is_left_out() -> None:
    article = read(page(30), lesson())
    assert "newsletter" not in article.text
    assert "newsletter" not in article.markdown
    assert article.text.count("tells what no other page tells") == 6
    assert article.repeated == 1


def test_a_number_makes_it_another_section() -> None:
    """Prices and sizes are what pages of one layout differ by."""
    article = read(page(30, banner=BANNER.replace("40", "71")), lesson())
    assert "newsletter" in article.text


def test_nothing_goes_before_the_lesson_is_over() -> None:
    assert "newsletter" in read(page(30), lesson(LESSON_PAGES - 1)).text


def test_what_comes_on_few_pages_stays() -> None:
    template = NO_TEMPLATE
    for number in range(LESSON_PAGES):
        banner = BANNER if number < REPEATED_PAGES - 1 else ""
        template = learned(template, read(page(number, banner=banner)).sections)
    assert template.known == ()
    assert not needs_sections(template)


def test_code_tables_and_titles_stay_however_often_they_come() -> None:
    kept = "<div><p>Install it like this, always:</p><pre>pip install acme-client</pre></div>"
    kept += "<table><tr><td>the first cell of all</td><td>and the second</td></tr></table>"
    article = read(page(30, extra=kept), lesson(extra=kept))
    assert "pip install acme-client" in article.text
    assert "the first cell of all" in article.text


def test_a_warning_stays_however_often_it_comes() -> None:
    note = "<div class='admonition warning'><p>This is not safe for threads at all.</p></div>"
    assert "not safe for threads" in read(page(30, extra=note), lesson(extra=note)).text


def test_the_larger_part_of_a_page_is_never_left_out() -> None:
    """Pages with one sentence of their own: what they share is what they are for."""
    shared = "".join(f"<p>Paragraph {word} comes on every page of it.</p>" for word in "abcdefgh")
    template = NO_TEMPLATE
    for number in range(LESSON_PAGES):
        body = f"<main>{shared}<p>The page called {'abcdefghi'[number]} is this.</p></main>"
        template = learned(template, read(body.encode(), template).sections)
    assert template.known
    article = read(f"<main>{shared}<p>And this is another.</p></main>".encode(), template)
    assert article.text.count("comes on every page") == 8
    assert article.repeated == 0


def test_a_copy_teaches_nothing() -> None:
    template = learned(NO_TEMPLATE, (1, 2, 3))
    assert learned(template, (1, 2, 3)) == template
    assert learned(template, ()) == template
    assert learned(template, (1, 4)).pages == 2


def test_a_site_is_learned_anew_now_and_then() -> None:
    template = Template(LESSON_EVERY - 1, known=(1,))
    template = learned(template, ())
    assert template == Template(0, known=(1,))
    for number in range(LESSON_PAGES):
        template = learned(template, (2, 1000 + number))
    assert template == Template(LESSON_PAGES, known=(2,))


def test_who_names_the_content_gets_all_of_it() -> None:
    article = read(page(30), lesson(), Extraction(content="main"))
    assert "newsletter" in article.text


def test_it_can_be_switched_off() -> None:
    article = read(page(30), lesson(), Extraction(template=False))
    assert "newsletter" in article.text
    assert article.sections == ()


def test_sections_are_bounded() -> None:
    many = "".join(f"<p>paragraph {'x' * (n % 50)} that is long enough</p>" for n in range(500))
    assert len(read(f"<main>{many}</main>".encode()).sections) == MAX_SECTIONS


@given(st.lists(st.lists(st.integers(0, 9), max_size=5), max_size=30))
def test_only_what_was_seen_often_is_ever_known(pages: list[list[int]]) -> None:
    template = NO_TEMPLATE
    for sections in pages:
        template = learned(template, sections)
    often = {mark for mark in range(10) if sum(mark in page for page in pages) >= REPEATED_PAGES}
    assert set(template.known) <= often
