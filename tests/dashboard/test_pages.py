"""Every page in both languages, what may run on it, and what a crawl left on them."""

from __future__ import annotations

import asyncio
from pathlib import Path
from urllib.parse import quote

import pytest

from geomi.dashboard.pages import CSP
from geomi.dashboard.views import live, overview
from geomi.engine.inspect.alarms import Alarm, AlarmRule
from geomi.service import alarms
from geomi.service.access import keys
from geomi.service.alarms import KeptAlarm
from geomi.service.crawling import crawls
from geomi.service.crawling.crawls import CrawlOrder
from tests.api.asking import TENANT
from tests.api.filling import FERRY, WEB, filled
from tests.dashboard.visiting import Person, seen, serving, text
from tests.support.crawl import page
from tests.support.server import Route, Site
from tests.support.waiting import waits

HEADINGS = {
    "/": ("Overview", "개요"),
    "/crawls": ("Crawls", "크롤"),
    "/crawls/new": ("New crawl", "새 크롤"),
    "/documents": ("Documents", "문서"),
    "/search": ("Search", "검색"),
    "/sites": ("Sites", "사이트"),
    "/seeds": ("Seeds", "시드"),
    "/alerts": ("Alerts", "경보"),
    "/schedules": ("Schedules", "예약"),
    "/webhooks": ("Webhooks", "웹훅"),
    "/settings": ("Settings", "설정"),
}
ORDER = CrawlOrder("handbook", ("http://localhost:8080/",))


@pytest.mark.req("FUT-17")
@waits
async def test_every_page_is_there_in_both_languages_before_and_after_a_crawl(
    tmp_path: Path,
) -> None:
    with Site(WEB) as site:
        async with serving(tmp_path) as house:
            await _look_everywhere(house.mine, [])
            job = await filled(house.ground.mine, house.ground.desk, site)
            host = f"127.0.0.1:{site.port}"
            await _look_everywhere(
                house.mine, [f"/crawls/{job}", f"/crawls/{job}/urls", f"/sites/{host}"]
            )


async def _look_everywhere(somebody: Person, more: list[str]) -> None:
    for path in [*HEADINGS, *more]:
        for number, language in enumerate(("en", "ko")):
            somebody.headers["accept-language"] = language
            answer = await somebody.get(path)
            page = seen(answer)
            assert answer.status == 200, path
            assert page.named("html")[0]["lang"] == language
            if path in HEADINGS:
                assert HEADINGS[path][number] in page.words
            _check_inert(answer.headers, page.tags)


def _check_inert(headers: object, tags: list[tuple[str, dict[str, str]]]) -> None:
    """Nothing on a page runs or looks otherwise than its files say, and nothing is elsewhere."""
    assert isinstance(headers, dict)
    assert headers["content-security-policy"] == CSP
    assert headers["cache-control"] == "no-store"
    assert headers["x-content-type-options"] == "nosniff"
    for name, attributes in tags:
        assert not any(one.startswith("on") or one == "style" for one in attributes), name
        for one in ("src", "href", "action"):
            told = attributes.get(one, "")
            assert told.startswith(("/", "?", "#", "")) and "//" not in told[:2], told
        assert name not in ("style", "iframe", "object", "embed", "base")
        assert name != "script" or attributes["src"].startswith("/static/live.js")


def test_the_policy_lets_nothing_run_that_is_not_our_own() -> None:
    rules = dict(part.strip().split(" ", 1) for part in CSP.split(";"))
    assert rules["default-src"] == "'none'"
    assert rules["script-src"] == rules["style-src"] == rules["connect-src"] == "'self'"
    assert rules["frame-ancestors"] == rules["base-uri"] == "'none'"
    assert rules["form-action"] == "'self'"


@waits
async def test_a_browsers_report_is_counted(tmp_path: Path) -> None:
    async with serving(tmp_path) as house:
        assert house.app.state.violations == 0
        answer = await house.stranger()._ask("POST", "/csp-report", b'{"csp-report": {}}')
        assert answer.status == 204 and house.app.state.violations == 1


@waits
async def test_files_are_our_own_and_may_be_kept(tmp_path: Path) -> None:
    async with serving(tmp_path) as house:
        page = seen(await house.mine.get("/"))
        paths = [one["href"] for one in page.named("link")]
        paths += [one["src"] for one in page.named("script") + page.named("img")]
        for path in paths:
            answer = await house.stranger().get(path)
            assert answer.status == 200 and "immutable" in answer.headers["cache-control"]
        for path in ("/static/en.toml", "/static/..%2fpages.py", "/static/"):
            assert (await house.stranger().get(path)).status == 404


@waits
async def test_the_language_is_kept_and_leads_back(tmp_path: Path) -> None:
    async with serving(tmp_path) as house:
        page = seen(await house.mine.get("/crawls?state=failed"))
        (link,) = [one["href"] for one in page.named("a") if one.get("hreflang") == "ko"]
        answer = await house.mine.get(link)
        assert (answer.status, answer.headers["location"]) == (303, "/crawls?state=failed")
        assert "크롤" in text(await house.mine.get("/crawls"))
        away = await house.mine.get("/language/en?next=//evil.test")
        assert away.headers["location"] == "/"
        assert (await house.mine.get("/language/xx")).status == 404


@pytest.mark.req("JOB-11", "WF-15")
@waits
async def test_a_crawl_is_shown_with_its_phases_counters_and_reasons(tmp_path: Path) -> None:
    with Site(WEB) as site:
        async with serving(tmp_path) as house:
            job = await filled(house.ground.mine, house.ground.desk, site)
            page = seen(await house.mine.get(f"/crawls/{job}")).words
            for phase in ("Initialize", "Discover", "Process", "Finalize"):
                assert phase in page
            for told in ("Not found", "404", "200", "village", f"127.0.0.1:{site.port}"):
                assert told in page
            assert f"/crawls/{job}" in text(await house.mine.get("/"))


@pytest.mark.req("JOB-11")
@waits
async def test_urls_are_filtered_and_each_says_why(tmp_path: Path) -> None:
    with Site(WEB) as site:
        async with serving(tmp_path) as house:
            job = await filled(house.ground.mine, house.ground.desk, site)
            every = text(await house.mine.get(f"/crawls/{job}/urls"))
            assert "/car<" in every and "/gone<" in every
            failed = text(await house.mine.get(f"/crawls/{job}/urls?status=failed"))
            assert "/gone<" in failed and "/car<" not in failed
            gone = text(await house.mine.get(f"/crawls/{job}/urls?outcome=gone"))
            assert "/gone<" in gone and "/car<" not in gone
            prefix = text(await house.mine.get(f"/crawls/{job}/urls?prefix={site.url('/b')}"))
            assert "/boat<" in prefix and "/car<" not in prefix
            why = seen(await house.mine.get(f"/crawls/{job}/urls?url={site.url('/gone')}"))
            assert "Fetched, but failed" in why.words and "HTTP 404" in why.words
            never = seen(await house.mine.get(f"/crawls/{job}/urls?url={site.url('/never')}"))
            assert "Not fetched" in never.words and "never_seen" in never.words
            wrong = await house.mine.get(f"/crawls/{job}/urls?url=nonsense")
            assert wrong.status == 200 and "nonsense" in text(wrong)
            stale = await house.mine.get(f"/crawls/{job}/urls?status=x&outcome=y&cursor=z")
            assert stale.status == 200 and "/car<" in text(stale)


@pytest.mark.req("URL-11")
@waits
async def test_a_url_is_read_with_its_letters_and_sent_without_them(tmp_path: Path) -> None:
    path = "/%E4%B8%AD%2Fa"
    web: dict[str, Route] = {"/": page("start", path), path: WEB["/boat"]}
    with Site(web) as site:
        async with serving(tmp_path) as house:
            job = await filled(house.ground.mine, house.ground.desk, site)
            urls = text(await house.mine.get(f"/crawls/{job}/urls"))
            assert "/中%2Fa<" in urls and f'title="{site.url("/中%2Fa")}"' in urls
            why = text(await house.mine.get(f"/crawls/{job}/urls?url={quote(site.url(path))}"))
            assert "/中%2Fa<" in why
            assert "%25E4%25B8%25AD%252Fa" in urls, "a link has it as it is"
            for place in ("/documents", "/search?q=ferry+noon"):
                assert "/中%2Fa<" in text(await house.mine.get(place))


@pytest.mark.req("JOB-11")
@waits
async def test_documents_are_listed_read_found_and_deleted(tmp_path: Path) -> None:
    with Site(WEB) as site:
        async with serving(tmp_path) as house:
            await filled(house.ground.mine, house.ground.desk, site)
            listed = await house.mine.get("/documents?collection=village&state=indexed")
            links = [one["href"] for one in seen(listed).named("a")]
            boats = [one for one in links if one.startswith("/documents/village:")]
            pages = [(path, text(await house.mine.get(path))) for path in boats]
            ((path, boat),) = [one for one in pages if FERRY in one[1]]
            assert '<p class="h h1" role="heading" aria-level="2">boat</p>' in boat
            found = text(await house.mine.get("/search?q=ferry+noon&collection=village"))
            assert "<mark>ferry</mark>" in found and path in found
            assert "The search found nothing" in text(await house.mine.get("/search?q=zeppelin"))
            deleted = await house.mine.send(path, f"{path}/delete")
            assert deleted.status == 303 and (await house.mine.get(path)).status == 404


@waits
async def test_an_alarm_is_on_the_first_page_and_in_its_list(tmp_path: Path) -> None:
    async with serving(tmp_path) as house:
        desk = house.ground.desk
        job = await crawls.start(desk, ORDER)
        alarm = Alarm(AlarmRule.ERRORS, 0.5, 0.2, "50.0% of answers are 4xx or 5xx")
        kept = KeptAlarm(f"{job.id}-{'0' * 16}", desk.wall_s, job.id, "handbook", alarm)
        await alarms._values(desk).add(kept.id, kept)
        for path in ("/", "/alerts"):
            assert alarm.message in text(await house.mine.get(path))
            assert alarm.message not in text(await house.other.get(path))


@waits
async def test_a_crawl_at_work_is_on_the_first_page_however_many_came_after_it(
    tmp_path: Path,
) -> None:
    async with serving(tmp_path) as house:
        desk = house.ground.desk
        first, done = await crawls.start(desk, ORDER), await crawls.start(desk, ORDER)
        assert await desk.world.store.jobs.begin(first.id, most=0, wall_s=desk.wall_s)
        for _ in range(overview.SHOWN):
            await crawls.start(desk, ORDER)
        page = text(await house.mine.get("/"))
        assert f"/crawls/{first.id}" in page and f"/crawls/{done.id}" not in page


@pytest.mark.req("JOB-11")
@waits
async def test_nobody_sees_what_belongs_to_another_tenant(tmp_path: Path) -> None:
    with Site(WEB) as site:
        async with serving(tmp_path) as house:
            job = await filled(house.ground.mine, house.ground.desk, site)
            links = seen(await house.mine.get("/documents")).named("a")
            own = [one["href"] for one in links if one["href"].startswith("/documents/")]
            paths = [f"/crawls/{job}", f"/crawls/{job}/urls", f"/crawls/{job}/live", own[0]]
            for path in [*paths, f"/sites/127.0.0.1:{site.port}"]:
                assert (await house.other.get(path)).status == 404, path
            assert (await house.mine.get(f"/sites/127.0.0.1:{site.port}")).status == 200
            for path in ("/", "/crawls", "/documents", "/search?q=ferry", "/sites"):
                page = text(await house.other.get(path))
                assert "village" not in page and str(site.port) not in page, path
            for act in ("cancel", "pause", "retry", "delete"):
                answer = await house.other.send("/", f"/crawls/{job}/{act}")
                assert answer.status == 404
            assert TENANT not in text(await house.other.get("/settings"))


@waits
async def test_what_is_not_there_is_a_page_that_says_so(tmp_path: Path) -> None:
    async with serving(tmp_path) as house:
        for path in ("/crawls/nonsense", "/documents/x", "/sites/x", "/crawls/x/live"):
            answer = await house.mine.get(path)
            assert answer.status == 404 and "There is nothing here" in text(answer)
        assert (await house.mine.get("/crawls?cursor=!!")).status == 404
        assert (await house.mine.send("/", "/crawls/x/nonsense")).status == 404


@waits
async def test_a_crawl_that_is_over_is_told_once_and_the_stream_ends(tmp_path: Path) -> None:
    async with serving(tmp_path) as house:
        job = await crawls.start(house.ground.desk, ORDER)
        await crawls.cancel(house.ground.desk, job.id)
        answer = await house.mine.get(f"/crawls/{job.id}/live")
        assert answer.headers["content-type"].startswith("text/event-stream")
        figures, over, _ = text(answer).split("\n\n")
        assert figures.startswith("event: figures\ndata: ") and "Visited" in figures
        assert all(line.startswith(("event: ", "data:")) for line in figures.split("\n"))
        assert over == "event: over\ndata: "
        assert house.app.state.streams == 0


@pytest.mark.parametrize("end", ["cancel", "sign out", "revoke"])
@waits
async def test_a_stream_ends_with_the_crawl_the_session_and_the_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, end: str
) -> None:
    monkeypatch.setattr(live, "LOOK_S", 0.005)

    async with serving(tmp_path) as house, asyncio.timeout(20):
        desk, somebody = house.ground.desk, house.mine
        job = await crawls.start(desk, ORDER)
        async with asyncio.TaskGroup() as group:
            stream = group.create_task(somebody.get(f"/crawls/{job.id}/live"))
            while not house.app.state.streams:  # noqa: ASYNC110  # a count has no event
                await asyncio.sleep(0)
            if end == "cancel":
                await crawls.cancel(desk, job.id)
            elif end == "revoke":
                await keys.revoke(house.ground.service, TENANT, somebody.key.split("_")[1])
            else:
                other_tab = Person(house.app, cookies=dict(somebody.cookies))
                await other_tab.send("/", "/sign-out")
        assert text(stream.result()).endswith("event: over\ndata: \n\n")
        assert house.app.state.streams == 0


@waits
async def test_a_stream_ends_with_the_service_and_the_browser_comes_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "LOOK_S", 3600.0)

    async with serving(tmp_path) as house, asyncio.timeout(20):
        job = await crawls.start(house.ground.desk, ORDER)
        async with asyncio.TaskGroup() as group:
            stream = group.create_task(house.mine.get(f"/crawls/{job.id}/live"))
            while not house.app.state.streams:  # noqa: ASYNC110  # a count has no event
                await asyncio.sleep(0)
            house.ground.service.leaving.set()
        assert "event: over" not in text(stream.result())


@waits
async def test_so_many_pages_are_followed_and_no_more(tmp_path: Path) -> None:
    async with serving(tmp_path) as house:
        job = await crawls.start(house.ground.desk, ORDER)
        await crawls.cancel(house.ground.desk, job.id)
        house.app.state.streams = live.MAX_STREAMS
        assert (await house.mine.get(f"/crawls/{job.id}/live")).status == 503
        house.app.state.streams = live.MAX_STREAMS - 1
        assert (await house.mine.get(f"/crawls/{job.id}/live")).status == 200
