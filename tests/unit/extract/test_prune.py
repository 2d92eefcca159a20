"""What is never part of the content."""

from __future__ import annotations

import pytest

from geomi.extract import prune as room
from geomi.extract.dom import parse_html, text_of
from geomi.extract.prune import prune

TEXT = "The main text of this page is long enough to be the page. " * 3


def left(html: str, remove: tuple[str, ...] = ()) -> str:
    body = parse_html(html.encode(), "text/html").select_one("body")
    assert body is not None
    prune(body, remove)
    return text_of(body)


def around(unwanted: str) -> str:
    return f"<main><p>{TEXT}</p>{unwanted}<p>END</p></main>"


TAGS = ["script", "style", "noscript", "object", "nav", "footer", "aside", "button", "svg"]
CLASSES = (
    "ad ads advertisement sidebar toc table-of-contents breadcrumb breadcrumbs pagination pager "
    "cta banner announcement alert-banner promo feedback feedback-widget thumbs-up-down "
    "was-helpful cookie-banner cookie-consent gdpr-banner site-footer share-bar headerlink "
    "linenos copybtn"
).split()


@pytest.mark.req("CLN-01", "CLN-02")
@pytest.mark.parametrize("tag", TAGS)
def test_elements_that_go(tag: str) -> None:
    assert "UNWANTED" not in left(around(f"<{tag}>UNWANTED</{tag}>"))


@pytest.mark.req("CLN-03", "CLN-04", "CLN-05", "CLN-06", "CLN-07")
@pytest.mark.parametrize("name", CLASSES)
def test_class_names_that_go(name: str) -> None:
    assert "UNWANTED" not in left(around(f'<div class="x {name}">UNWANTED</div>'))


@pytest.mark.parametrize(
    "unwanted",
    [
        "<div data-ad>UNWANTED</div>",
        "<div hidden>UNWANTED</div>",
        '<div style="color:red;display: none">UNWANTED</div>',
        '<div aria-hidden="true">UNWANTED</div>',
        '<div role="navigation">UNWANTED</div>',
        '<div id="sidebar">UNWANTED</div>',
        '<div id="SideBar">UNWANTED</div>',
    ],
)
def test_marks_that_go(unwanted: str) -> None:
    assert "UNWANTED" not in left(around(unwanted))


@pytest.mark.parametrize(
    "wanted",
    [
        "<header><h1>WANTED</h1></header>",
        '<div class="content-with-sidebar-left">WANTED</div>',
        '<section id="editing-and-navigation">WANTED</section>',
        '<pre class="toc">WANTED</pre>',
        '<div hidden id="S:1">WANTED</div>',
        '<div class="page-nav"><h1>Title</h1>WANTED</div>',
    ],
)
def test_what_only_looks_unwanted_stays(wanted: str) -> None:
    assert "WANTED" in left(around(wanted))


def test_a_page_header_goes_and_an_articles_own_stays() -> None:
    html = f"<header>SITE</header><article><header>OWN</header>{TEXT}</article>"
    assert left(html).startswith("OWN")


@pytest.mark.req("CLN-08")
def test_the_jobs_own_selectors_are_removed() -> None:
    html = around('<p class="x">UNWANTED</p>')
    assert "UNWANTED" in left(html)
    assert "UNWANTED" not in left(html, (".x",))
    assert "UNWANTED" not in left(html, ("p[", ".x"))


@pytest.mark.parametrize("tag", ["noscript", "aside", "div class=sidebar", "div hidden"])
def test_what_holds_the_page_is_the_page(tag: str) -> None:
    assert "main text" in left(f"<{tag}><p>{TEXT}</p></{tag.split()[0]}><p>short</p>")


def test_a_menu_goes_even_if_it_is_longer_than_the_page() -> None:
    menu = "<li><a href=x>entry of the menu</a></li>" * 50
    assert left(f"<nav>{menu}</nav><p>{TEXT}</p>") == TEXT.strip()


def test_a_table_of_contents_that_is_the_page_stays() -> None:
    entries = "<dt><a href=x>1.1. Section of this chapter</a></dt>" * 20
    assert "Section" in left(f'<h1>Chapter 1</h1><div class="toc"><dl>{entries}</dl></div>')


def test_beyond_the_limit_elements_go_unmeasured(monkeypatch: pytest.MonkeyPatch) -> None:
    html = f"<aside>short</aside><aside>{TEXT}</aside>"
    monkeypatch.setattr(room, "MAX_MEASURED", 2)
    assert "main text" in left(html)
    monkeypatch.setattr(room, "MAX_MEASURED", 1)
    assert left(html) == ""


@pytest.mark.parametrize("extra", [0, 1])
def test_only_the_first_part_of_a_class_is_read(extra: int) -> None:
    name = "sidebar".rjust(room.MAX_CLASS_CHARS + extra)
    assert ("UNWANTED" in left(around(f'<div class="{name}">UNWANTED</div>'))) == bool(extra)
