"""The catalogue's rules to the letter."""

from __future__ import annotations

import pytest

from geomi.extract.content.strategy import Choice, find_literally
from geomi.extract.dom import parse_html, text_of
from geomi.model.config import Extraction

RULES = Extraction()
TAGS = "script style noscript iframe object embed nav header footer aside".split()
CLASSES = (
    "ad ads advertisement sidebar toc table-of-contents breadcrumb breadcrumbs pagination pager "
    "cta banner announcement alert-banner promo feedback feedback-widget thumbs-up-down "
    "was-helpful cookie-banner cookie-consent gdpr-banner"
).split()


def found(html: str, rules: Extraction = RULES) -> Choice:
    body = parse_html(html.encode(), "text/html").select_one("body")
    assert body is not None
    return find_literally(body, rules)


@pytest.mark.req("EXT-01", "EXT-02", "EXT-03", "EXT-04")
@pytest.mark.parametrize(
    ("html", "selector", "strategy"),
    [
        ("<p class=own>x</p><article>-</article>", ".own", "selector"),
        ("<article>x</article><p>-</p>", ".none", "article"),
        ("<main>-<article>x</article></main>", "", "article"),
        ("<article>x</article><article>- and longer</article>", "", "article"),
        ("<div role=main>-</div><main>x</main>", "", "main"),
        ("<div class=content>-</div><div role=main>x</div>", "", "role"),
        ("<div id=content>-</div><div class=docs-body>-</div><div class=content>x</div>", "",
         "common"),
        ("<div id=content>-</div><div class=docs-body>x</div>", "", "common"),
        ("<div class=markdown-body>-</div><div id=content>x</div>", "", "common"),
        ("<div class=markdown-body>x</div><p>-</p>", "", "common"),
        ("<nav>-</nav><header>-</header><p>x</p><aside>-</aside><footer>-</footer>", "", "body"),
    ],
)  # fmt: skip
def test_the_first_rung_that_matches(html: str, selector: str, strategy: str) -> None:
    choice = found(html, Extraction(content=selector))
    assert (text_of(choice.content), choice.strategy) == ("x", strategy)


@pytest.mark.req("CLN-01", "CLN-02", "EXT-05")
@pytest.mark.parametrize("tag", TAGS)
@pytest.mark.parametrize("around", ["article", "main", "div class=content", "div"])
def test_elements_that_go_whatever_they_hold(tag: str, around: str) -> None:
    choice = found(f"<{around}>x<{tag}>UNWANTED and longer than anything else here</{tag}>")
    assert not choice.content.select(tag)


@pytest.mark.req("CLN-03", "CLN-04", "CLN-05", "CLN-06", "CLN-07")
@pytest.mark.parametrize("mark", [*(f"class='x {name}'" for name in CLASSES), "data-ad=1",
                                  "data-adunit=1"])  # fmt: skip
def test_marks_that_go(mark: str) -> None:
    assert text_of(found(f"<article>x<div {mark}>UNWANTED</div></article>").content) == "x"


def test_what_the_lists_do_not_name_stays() -> None:
    page = "<article>x<div class=site-footer>y</div><div hidden>z</div></article>"
    assert text_of(found(page).content) == "x y z"


@pytest.mark.req("CLN-08")
def test_the_jobs_own_selectors_go_as_well() -> None:
    page = "<article>x<p class=own>UNWANTED</p></article>"
    assert text_of(found(page, Extraction(remove=(".own",))).content) == "x"
