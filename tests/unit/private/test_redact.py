"""What is left of a text and of a page."""

from __future__ import annotations

import json
from dataclasses import fields, replace

import pytest
from hypothesis import given

from geomi.model.page import Article, PageLink
from geomi.model.personal_data import PiiKind
from geomi.private.detect import find
from geomi.private.redact import counted, mask, redacted
from tests.unit.private.labelled import examples
from tests.unit.private.test_detect import ALL, PIECES

EMAIL, PHONE = "jane@example.com", "010-1234-5678"
PLAIN = Article(title="t", markdown="m", text="x", links=())


@given(PIECES)
def test_nothing_is_left_to_be_found(text: str) -> None:
    once = mask(text, ALL)
    assert mask(once, ALL) == once


def test_no_example_keeps_its_value() -> None:
    for example in examples():
        masked = mask(example.text, ALL)
        for place in example.gold:
            assert example.text[place.start : place.end] not in masked


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("Write to jane@example.com.", "Write to [redacted:email]."),
        ("[j@a.test](mailto:j@a.test)", "[[redacted:email]](mailto:[redacted:email])"),
        ("| 010-1234-5678 | 02-123-4567 |", "| [redacted:phone] | [redacted:phone] |"),
        ("SSN 212-09-7694", "SSN [redacted:ssn]"),
        ("nobody", "nobody"),
    ],
)  # fmt: skip
def test_a_value_gives_way_to_a_word(text: str, masked: str) -> None:
    assert mask(text, ALL) == masked


@pytest.mark.req("SAF-01", "C-47")
def test_every_part_of_a_page_is_looked_at() -> None:
    """A new field of text has to be taken into account here, or the test fails."""
    full = _filled()
    assert EMAIL not in repr(redacted(full, ALL))
    assert PHONE not in repr(redacted(full, ALL))


def test_links_that_hold_a_value_are_dropped_and_others_stay() -> None:
    links = (
        PageLink("https://a.test/1", f"call {PHONE}"),
        PageLink(f"https://a.test/u/{EMAIL}", "profile"),
        PageLink("https://a.test/2?to=jane%40example.com", "mail"),
        PageLink("https://a.test/3", "three", "next"),
    )
    assert redacted(replace(PLAIN, links=links), ALL).links == (
        PageLink("https://a.test/1", "call [redacted:phone]"),
        PageLink("https://a.test/3", "three", "next"),
    )


def test_values_in_things_give_way_and_the_things_can_still_be_read() -> None:
    thing = {
        EMAIL: True,
        "text": f"Mail:\n{EMAIL}",
        "offers": [{"card": 4111111111111111, "price": 5}],
    }
    article = replace(PLAIN, things=(json.dumps(thing),))
    clean = redacted(article, ALL)
    assert json.loads(clean.things[0]) == {
        "[redacted:email]": True,
        "text": "Mail:\n[redacted:email]",
        "offers": [{"card": "[redacted:credit_card]", "price": 5}],
    }
    assert clean.personal == counted(article, ALL).personal
    assert dict(clean.personal) == {PiiKind.EMAIL: 1, PiiKind.CREDIT_CARD: 1}


def test_a_page_without_values_is_the_same() -> None:
    article = replace(PLAIN, links=(PageLink("https://a.test/", "a"),), feeds=("https://a.test/f",))
    assert redacted(article, ALL) == article
    assert counted(article, ALL) is article


@pytest.mark.parametrize("see", [counted, redacted])
def test_values_are_counted_once_each_wherever_they_stand(see: type) -> None:
    article = replace(
        PLAIN,
        title=f"Write {EMAIL}",
        markdown=f"{EMAIL} and {PHONE}",
        text=f"{EMAIL} and {PHONE}",
        metadata=(("ld:Person.telephone", "02-123-4567"),),
    )
    expected = ((PiiKind.EMAIL, 1), (PiiKind.PHONE, 2))
    assert see(article, ALL).personal == expected


def test_counting_changes_nothing_else() -> None:
    article = replace(PLAIN, markdown=EMAIL)
    assert replace(counted(article, ALL), personal=()) == article


def test_kinds_that_nobody_asked_for_stay() -> None:
    article = redacted(replace(PLAIN, markdown=f"{EMAIL} {PHONE}"), [PiiKind.EMAIL])
    assert article.markdown == f"[redacted:email] {PHONE}"


def _filled() -> Article:
    """Put a value into every field that can hold text; what is no text of the page is left out."""
    value = f"{EMAIL} {PHONE}"
    made: dict[str, object] = {
        "links": (PageLink(f"https://a.test/{EMAIL}"), PageLink("https://a.test/", value, value)),
        "rights": ((value, value),),
        "outline": ((1, value),),
        "types": (value,),
        "alternates": (("en", f"https://a.test/{EMAIL}"),),
        "feeds": (f"https://a.test/{EMAIL}",),
        "metadata": ((value, value),),
        "things": (json.dumps({"a": [value]}),),
        "mail_links": ((value, EMAIL),),
    }
    # Our own words, numbers, and what is compared with known words and never written.
    ours = {
        "robots", "strategy", "confidence", "kind", "kinds", "words", "links_left_out",
        "sections", "repeated", "personal", "needs_browser", "unreadable", "detected_language",
    }  # fmt: skip
    names = {each.name for each in fields(Article)} - ours
    assert find(value, ALL)
    return Article(**{name: made.get(name, value) for name in names})  # type: ignore[arg-type]  # by name


@pytest.mark.req("SAF-02")
def test_a_name_that_a_page_declares_is_one_wherever_it_stands() -> None:
    """By its structured data, as its author, or by a link to write to; organisations stay."""
    page = replace(
        PLAIN,
        title="Ada Quill wins",
        markdown="Ada Quill met Bo Brandt. 나유리가 Acme Press와 [Cy Doyle](mailto:doyle@x.test). "
        "Cy Doyle left Ida Moss at Blue Ocean.",
        author="Bo Brandt, Acme Press",
        people=("Ada Quill", "Acme Press", "나유리", "Editor"),
        mail_links=(("Ida Moss", "moss@x.test"), ("Blue Ocean", "blue@x.test")),
    )
    kinds = (PiiKind.NAME,)
    clean = redacted(page, kinds)
    gone = "[redacted:name]"
    assert clean.title == f"{gone} wins"
    assert clean.markdown == (
        f"{gone} met {gone}. {gone}가 Acme Press와 [{gone}](mailto:doyle@x.test). {gone} left "
        f"{gone} at Blue Ocean."
    )
    assert clean.author == f"{gone}, Acme Press"
    assert (clean.people, clean.mail_links) == ((), ())
    assert clean.personal == counted(page, kinds).personal == ((PiiKind.NAME, 5),)
    assert redacted(page, (PiiKind.EMAIL,)).author == page.author
