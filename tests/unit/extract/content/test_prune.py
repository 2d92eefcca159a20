"""What is never part of the content."""

from __future__ import annotations

import pytest

from geomi.extract.content import prune as room
from geomi.extract.content.prune import (
    clear,
    drop_boilerplate,
    drop_frame,
    drop_named,
    drop_tooling,
    is_boilerplate,
)
from geomi.extract.dom import parse_html, text_of

TEXT = "The main text of this page is long enough to be the page. " * 3


def left(html: str, remove: tuple[str, ...] = ()) -> str:
    body = parse_html(html.encode(), "text/html").select_one("body")
    assert body is not None
    clear(body, remove)
    drop_boilerplate(body)
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


def test_the_frame_goes_and_the_rest_stays() -> None:
    html = f"<nav>MENU</nav><header>TOP</header><p>{TEXT}</p><aside>BESIDE</aside><footer>END"
    body = parse_html(html.encode(), "text/html").select_one("body")
    assert body is not None
    drop_frame(body)
    assert text_of(body).split() == ["TOP", *TEXT.split(), "BESIDE"]


def test_tooling_is_taken_out_of_the_content() -> None:
    html = (
        "<h2>Use<a class='x headerlink'>#</a></h2><span class=linenos>1</span><p class=gut>kept</p>"
    )
    body = parse_html(html.encode(), "text/html").select_one("body")
    assert body is not None
    drop_tooling(body)
    assert text_of(body) == "Use kept"


def test_the_frame_goes_and_the_semantic_elements_are_told() -> None:
    html = f"<nav>menu</nav><main><article>{TEXT}</article></main><footer>end</footer>"
    body = parse_html(html.encode(), "text/html").select_one("body")
    assert body is not None
    chars = len(body.text)
    semantic, measured = drop_frame(body)
    assert [element.tag for element in semantic] == ["main", "article"]
    assert measured == chars
    assert text_of(body) == TEXT.strip()


def test_only_so_many_anchors_are_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    menu = f"<nav>{'<a>Topic</a>' * 20}</nav><p>x</p>"
    assert left(menu) == "x"
    monkeypatch.setattr(room, "MAX_ANCHORS", 9)
    assert "Topic" in left(menu)


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ("", False),
        ("post-body", False),
        ("x sidebar", True),
        ("x site-footer", True),
        ("x TOC", True),
        ("main navigation", True),
        ("content-with-sidebar-left", False),
    ],
)
def test_names_that_tell_furniture(names: str, expected: bool) -> None:
    assert is_boilerplate(names) is expected


def test_names_are_all_it_takes() -> None:
    html = f"<p>{TEXT}</p><div class=share-bar>UNWANTED</div><nav>kept</nav>"
    body = parse_html(html.encode(), "text/html").select_one("body")
    assert body is not None
    drop_named(body)
    assert text_of(body) == f"{TEXT.strip()} kept"
