"""The dashboard in a real browser: crawls, reasons and search, for eyes, keys and small screens."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec

import pytest

from tests.conftest import missing_part

if find_spec("playwright") is None or find_spec("axe_playwright_python") is None:
    missing_part("Playwright and axe: pip install '.[dev]'")

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from tests.dashboard.stage import (
    Visitor,
    browser,
    chromium,
    crawl,
    served,
    until_given_up,
    views,
    visitor,
)
from tests.dashboard.test_hostile import HOSTILE
from tests.e2e.serving import Served
from tests.support.server import Site

pytestmark = pytest.mark.slow

SEEDS = ("http://docs.geomi.test/", "http://blog.geomi.test/")
SMALL = {"width": 360, "height": 700}
SERIOUS = frozenset({"serious", "critical"})


@pytest.fixture(scope="module")
def opened() -> Iterator[Browser]:
    """Open one browser for all tests."""
    program = chromium()
    if program is None:
        missing_part("Chromium: apt-get install chromium")
    with browser(program) as started:
        yield started


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Serve geomi with the sample site crawled; no page of it may break its policy."""
    with served(tmp_path_factory.mktemp("data")) as started:
        crawl(started, "silk", SEEDS)
        until_given_up(started)
        yield started
        assert "broke its policy" not in started.stop()


@pytest.fixture
def somebody(opened: Browser, server: Served) -> Iterator[Visitor]:
    """Sign somebody in, and see to it that their browser had nothing to complain of."""
    with visitor(opened, server) as person:
        yield person
        assert person.complaints == []


@pytest.mark.req("FUT-17")
def test_a_crawl_is_planned_started_and_seen_to_finish(somebody: Visitor) -> None:
    page = somebody.open("/")
    page.get_by_role("link", name="New crawl").click()
    page.get_by_label("Start URLs").fill("http://docs.geomi.test/")
    page.get_by_label("Collection").fill("manual")
    page.get_by_label("Maximum pages").fill("4")
    page.get_by_text("More settings").click()
    page.get_by_label("Milliseconds between requests").fill("0")
    page.get_by_label("Maximum requests a second").fill("5")
    page.get_by_role("button", name="Preview the plan").click()
    expect(page.get_by_role("heading", name="The plan")).to_be_visible()
    expect(page.get_by_label("Start URLs")).to_have_value("http://docs.geomi.test/")
    page.get_by_role("button", name="Start the crawl").click()
    # The page follows the crawl by itself: nobody reloads it here.
    expect(page.locator("#live .state")).to_have_text("Completed", timeout=30_000)
    expect(page.locator(".tiles div", has_text="Pages kept").locator("dd")).to_contain_text("4")
    expect(page.get_by_role("button", name="Crawl again")).to_be_visible()


@pytest.mark.req("JOB-11")
def test_urls_are_filtered_and_one_is_explained(somebody: Visitor, server: Served) -> None:
    page = somebody.open(views(server, "silk")["crawl"])
    page.get_by_role("link", name="URLs").click()
    page.get_by_label("Outcome").select_option("robots")
    page.get_by_role("button", name="Filter").click()
    rows = page.locator("table.urls tbody tr")
    expect(rows).to_have_count(1)
    rows.get_by_role("link", name="Why?").click()
    expect(page.locator(".why .lead")).to_have_text("Not fetched: not allowed")
    expect(page.locator(".why")).to_contain_text("Disallow: /internal/")
    page.get_by_role("link", name="Close").click()
    expect(page.locator(".why")).to_have_count(0)
    expect(page.get_by_label("Outcome")).to_have_value("robots")


def test_search_finds_korean_in_korean(opened: Browser, server: Served) -> None:
    with visitor(opened, server, locale="ko-KR") as person:
        page = person.open("/")
        page.get_by_role("link", name="검색", exact=True).click()
        page.get_by_label("무엇을 찾으세요?").fill("거미줄을 걷는 아침")
        page.get_by_role("button", name="검색").click()
        first = page.locator(".hits li").first
        expect(first.get_by_role("link")).to_contain_text("아침의 거미줄")
        expect(first.locator("mark", has_text="거미줄").first).to_be_visible()
        first.get_by_role("link").click()
        expect(page.locator("article.reading")).to_contain_text("거미줄")
        assert person.complaints == []


def test_hostile_pages_stay_inert(somebody: Visitor, server: Served) -> None:
    with Site(HOSTILE) as site:
        job = crawl(server, "hostile", [site.url("/")])
    document = server.get("/documents?collectionId=hostile")["documents"][0]["documentId"]
    for path in (
        "/",
        f"/crawls/{job}",
        f"/crawls/{job}/urls?url={site.url('/')}",
        "/documents?collection=hostile",
        f"/documents/{document}",
        "/search?q=lighthouse&collection=hostile",
        f"/sites/127.0.0.1:{site.port}",
    ):
        page = somebody.open(path)
        assert page.evaluate("'broken' in window") is False
        assert page.locator("script").count() == 1 and page.locator("main img").count() == 0
    expect(somebody.open("/documents?collection=hostile").locator("tbody")).to_contain_text(
        "<script>window.broken = 1</script>"
    )


def test_no_view_shuts_anybody_out(somebody: Visitor, server: Served) -> None:
    axe = Axe()
    for name, path in views(server, "silk").items():
        page = somebody.open(path)
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
            # What light and dark do not share is their colours.
            only = {"runOnly": ["color-contrast"]} if scheme == "dark" else {}
            found = axe.run(page, options={"resultTypes": ["violations"], **only}).response
            bad = [
                (one["id"], [node["html"] for node in one["nodes"]])
                for one in found["violations"]
                if one["impact"] in SERIOUS
            ]
            assert bad == [], f"{name}, {scheme}"


def test_every_view_fits_a_small_phone(opened: Browser, server: Served) -> None:
    with visitor(opened, server, viewport=SMALL, locale="ko-KR") as person:
        wide = {
            name: width
            for name, path in views(server, "silk").items()
            if (width := _width(person.open(path))) > SMALL["width"]
        }
        assert wide == {}


def test_the_menu_of_a_phone_shows_where_one_is(opened: Browser, server: Served) -> None:
    with visitor(opened, server, viewport=SMALL) as person:
        menu = person.open("/settings").locator("header nav")
        expect(menu.get_by_role("link", name="Settings")).to_be_in_viewport(ratio=1)
        expect(menu.get_by_role("link", name="Overview")).not_to_be_in_viewport()


def _width(page: Page) -> int:
    return int(page.evaluate("document.documentElement.scrollWidth"))


def test_the_keyboard_is_enough(somebody: Visitor) -> None:
    page = somebody.open("/crawls")
    page.keyboard.press("Tab")
    focused = page.locator(":focus")
    expect(focused).to_have_text("Skip to the content")
    expect(focused).to_be_in_viewport()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    expect(page.locator(":focus")).to_have_text("New crawl")
    outline = page.locator(":focus").evaluate("element => getComputedStyle(element).outlineStyle")
    assert outline == "solid"
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="New crawl")).to_be_visible()


def test_everything_works_without_a_script(opened: Browser, server: Served) -> None:
    with visitor(opened, server, java_script_enabled=False) as person:
        page = person.open("/crawls/new")
        page.get_by_label("Start URLs").fill("http://shop.geomi.test/")
        page.get_by_label("Collection").fill("shop")
        page.get_by_label("Maximum pages").fill("1")
        page.get_by_role("button", name="Start the crawl").click()
        expect(page.get_by_role("heading", name="About this crawl")).to_be_visible()
        page.get_by_role("link", name="URLs").click()
        expect(page.get_by_role("heading", name="Explain any URL")).to_be_visible()
        page.get_by_role("button", name="Sign out").click()
        expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
