"""Forms: they ask for what the API would be asked for, and a mistake stands at its field."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from geomi.api.schema.crawl import CrawlRequest, CrawlSettings
from geomi.dashboard import crawl_form
from geomi.dashboard.crawl_form import (
    CHOICES,
    FLAGS,
    LISTS,
    NUMBERS,
    SAFETY,
    TYPES,
    WHOLES,
    crawl_of,
    read_crawl,
)
from geomi.dashboard.form import SubmittedForm
from geomi.model.config import Within
from geomi.model.job import JobFilter, JobState
from geomi.service import webhooks
from geomi.service.access import keys, tenants
from geomi.service.crawling import crawls, schedules
from tests.api.asking import OTHER, TENANT
from tests.api.filling import WEB
from tests.dashboard.visiting import Fields, Person, seen, serving, text
from tests.support.server import Site
from tests.support.waiting import waits

CRAWL: Fields = {
    "seedUrls": "http://localhost:8080/docs/\r\n\r\n http://localhost:8080/docs/more ",
    "collectionId": "handbook",
    "maxDepth": "2",
    "maxPages": "1,000",
    "maxDuration": "60",
    "maxBytes": "5000",
    "includePatterns": "/docs/**",
    "excludePatterns": "/docs/old/**\n/docs/tmp/**",
    "allowedDomains": "localhost",
    "contentTypes": "text/html",
    "requestsPerSecond": "0.5",
    "delayBetweenRequests": "2000",
    "minContentLength": "7",
    "maxContentLength": "5000",
    "qualityThreshold": "2.5",
    "targetContentTypes": ("article", "faq"),
    "piiAction": "redact",
    "piiKinds": ("email", "name"),
    "sensitiveAction": "off",
    "copyrightAction": "skip",
    "profile": "default",
    "order": "weighted",
    "purpose": "news",
    "flags": "on",
    "respectRobotsTxt": "on",
    "signIn": "on",
    "do": "start",
}


def test_the_form_has_every_field_of_the_api() -> None:
    fields = {one.alias for one in CrawlSettings.model_fields.values()}
    programs = {"extractionSchema"}  # nobody types one
    shown = {*WHOLES, *NUMBERS, *LISTS, *FLAGS, *CHOICES, TYPES, SAFETY}
    assert shown == fields - programs
    asked = {one.alias for one in CrawlRequest.model_fields.values()}
    assert asked == {"collectionId", "seedUrls", "sitemapUrls", "profile", "config"}


def test_a_form_of_which_nothing_is_said_says_nothing() -> None:
    ticked = {name: ("on",) for name in FLAGS if crawl_form.defaults()[name]}
    asked = read_crawl(SubmittedForm({"seedUrls": ("http://a.test/",), "flags": ("on",)} | ticked))
    assert asked.payload["config"] == {} and not asked.faults
    blank = read_crawl(SubmittedForm({"seedUrls": ("http://a.test/",), "collectionId": ("a",)}))
    assert blank.payload["config"] == {} and crawl_of(blank) is not None


@pytest.mark.req("FUT-17")
@waits
async def test_a_crawl_is_started_with_what_the_form_says(tmp_path: Path) -> None:
    async with serving(tmp_path) as house:
        answer = await house.mine.send("/crawls/new", "/crawls/new", CRAWL)
        assert answer.status == 303, seen(answer).words
        (job,) = await crawls.page(house.ground.desk, JobFilter(), before="", limit=9)
        assert answer.headers["location"] == f"/crawls/{job.id}"
        assert job.seeds == ("http://localhost:8080/docs/", "http://localhost:8080/docs/more")
        assert (job.config.limits.max_depth, job.config.limits.max_pages) == (2, 1000)
        assert job.config.limits.max_time_s == 60 and job.config.limits.max_bytes == 5000
        assert job.config.scope.exclude == ("/docs/old/**", "/docs/tmp/**")
        assert job.config.scope.within is Within.LIST
        assert (job.config.order, job.config.weights.preset) == ("weighted", "news")
        assert job.config.politeness.delay_s == 2 and job.config.robots.respect
        assert job.config.http.sign_in
        assert not job.config.analysis.classify and not job.config.analysis.quality
        assert [str(one) for one in job.config.analysis.page_types] == ["article", "faq"]
        safety, rules = job.config.safety, job.config.analysis
        assert (safety.pii, safety.pii_types) == ("redact", ("email", "name"))
        assert (rules.sensitive, rules.copyright) == ("off", "skip")


@pytest.mark.parametrize(
    ("field", "value", "told"),
    [
        ("seedUrls", "", "at least 1"),
        ("seedUrls", "nonsense", "match"),
        ("seedUrls", "http://docs.example.com/", "public host"),
        ("seedUrls", "\n".join(f"http://localhost/{n}" for n in range(11)), "at most 10"),
        ("collectionId", "../x", "match"),
        ("maxDepth", "11", "less than or equal to 10"),
        ("maxPages", "many", "not a number"),
        ("requestsPerSecond", "9", "less than or equal to 5"),
        ("allowedDomains", "<script>", "match"),
        ("includePatterns", "[", "["),
        ("profile", "scanner", "Input should be"),
    ],
)
@waits
async def test_a_mistake_stands_at_its_field_and_nothing_is_lost(
    tmp_path: Path, field: str, value: str, told: str
) -> None:
    async with serving(tmp_path) as house:
        answer = await house.mine.send("/crawls/new", "/crawls/new", {**CRAWL, field: value})
        assert answer.status == 422, seen(answer).words
        page = seen(answer)
        faults = [one for one in page.named("p") if one.get("id") == f"fault-{field}"]
        assert faults and told in page.words
        pages = [one for one in page.named("input") if one["name"] == "maxBytes"]
        assert pages[0]["value"] == "5000"
        assert not await crawls.page(house.ground.desk, JobFilter(), before="", limit=9)


@waits
async def test_a_plan_is_shown_before_anything_is_started(tmp_path: Path) -> None:
    with Site(WEB) as site:
        async with serving(tmp_path) as house:
            fields = {"seedUrls": site.url("/"), "collectionId": "village", "do": "look"}
            fields |= {"delayBetweenRequests": "0", "requestsPerSecond": "5"}
            answer = await house.mine.send("/crawls/new", "/crawls/new", fields)
            words = re.sub(r"\s+", " ", seen(answer).words)
            assert answer.status == 200 and "The plan 4 pages" in words
            assert f"127.0.0.1:{site.port}" in words
            assert not await crawls.page(house.ground.desk, JobFilter(), before="", limit=9)
            assert site.url("/") in text(answer), "the form is still filled in"


@pytest.mark.parametrize(
    ("actions", "state"),
    [(("pause",), "Paused"), (("pause", "resume"), "Waiting"), (("cancel",), "Cancelled")],
)
@waits
async def test_a_crawl_is_paused_resumed_cancelled(
    tmp_path: Path, actions: tuple[str, ...], state: str
) -> None:
    async with serving(tmp_path) as house:
        page = await _started(house.mine)
        for action in actions:
            shown = seen(await house.mine.get(page))
            assert f"{page}/{action}" in [one["action"] for one in shown.named("form")]
            assert (await house.mine.send(page, f"{page}/{action}")).status == 303
        assert state in seen(await house.mine.get(page)).words


@waits
async def test_a_crawl_that_is_over_is_begun_anew_or_deleted(tmp_path: Path) -> None:
    async with serving(tmp_path) as house:
        page = await _started(house.mine)
        assert (await house.mine.send(page, f"{page}/delete")).status == 409
        await house.mine.send(page, f"{page}/cancel")
        again = await house.mine.send(page, f"{page}/retry")
        assert again.status == 303 and again.headers["location"] != page
        assert (await house.mine.send(page, f"{page}/delete")).status == 303
        assert (await house.mine.get(page)).status == 404
        operations = [
            one["operation"] for one in (await house.ground.mine.get("/audit")).json["entries"]
        ]
        assert operations.count("changeCrawl") == 3 and "startCrawl" in operations


@pytest.mark.req("CHG-10")
@waits
async def test_a_crawl_says_when_it_is_visited_again_and_can_be_left_alone(tmp_path: Path) -> None:
    async with serving(tmp_path) as house:
        page, jobs = await _started(house.mine), house.ground.desk.world.store.jobs
        (job,) = await jobs.list(limit=1)
        await jobs.update(replace(job, state=JobState.COMPLETED))
        await jobs.look_again(job.id, datetime(2031, 5, 6, 7, 8, tzinfo=UTC).timestamp())
        assert "2031-05-06 07:08" in text(await house.mine.get(page))
        assert (await house.mine.send(page, f"{page}/unwatch")).status == 303
        shown = await house.mine.get(page)
        assert "2031-05-06" not in text(shown) and f"{page}/watch" in text(shown)
        assert (await house.mine.send(page, f"{page}/watch")).status == 303
        assert (await jobs.list(limit=1))[0].is_watched


async def _started(somebody: Person) -> str:
    fields = {"seedUrls": "http://localhost:8080/", "collectionId": "handbook"}
    answer = await somebody.send("/crawls/new", "/crawls/new", fields)
    return answer.headers["location"]


@waits
async def test_schedules_are_made_rested_and_deleted(tmp_path: Path) -> None:
    crawl = {"seedUrls": "http://localhost:8080/", "collectionId": "handbook", "title": "weekly"}

    async with serving(tmp_path) as house:
        mine, desk = house.mine, house.ground.desk
        for wrong in ({}, {"cron": "x"}, {"minutes": "4"}, {"minutes": "x"}):
            answer = await mine.send("/schedules", "/schedules", crawl | wrong)
            assert answer.status == 422, wrong
        made = await mine.send("/schedules", "/schedules", crawl | {"cron": "0 3 * * 1"})
        assert made.status == 303
        (one,) = await schedules.page(desk, after="", limit=9)
        assert "0 3 * * 1" in text(await mine.get("/schedules"))
        for fields, is_on in (({}, False), ({"on": "on"}, True)):
            await mine.send("/schedules", f"/schedules/{one.id}/switch", fields)
            (one,) = await schedules.page(desk, after="", limit=9)
            assert one.is_enabled is is_on
        assert (await house.other.send("/", f"/schedules/{one.id}/delete")).status == 404
        assert (await mine.send("/schedules", f"/schedules/{one.id}/delete")).status == 303
        assert not await schedules.page(desk, after="", limit=9)


@waits
async def test_a_webhook_shows_its_secret_once(tmp_path: Path) -> None:
    fields: Fields = {"url": "http://127.0.0.1:9/hook", "events": ("crawl.completed",)}

    async with serving(tmp_path) as house:
        mine, desk = house.mine, house.ground.desk
        for wrong in ({"url": "ftp://x"}, {"events": ()}, {"events": ("nonsense",)}):
            assert (await mine.send("/webhooks", "/webhooks", {**fields, **wrong})).status == 422
        made = text(await mine.send("/webhooks", "/webhooks", fields))
        (hook,) = await webhooks.page(desk, after="", limit=9)
        assert hook.secret in made
        shown = text(await mine.get("/webhooks"))
        assert hook.secret not in shown and hook.url in shown
        assert (await house.other.send("/", f"/webhooks/{hook.id}/delete")).status == 404
        await mine.send("/webhooks", f"/webhooks/{hook.id}/delete")
        assert not await webhooks.page(desk, after="", limit=9)


@waits
async def test_keys_are_made_for_ones_own_tenant_and_by_administrators_for_any(
    tmp_path: Path,
) -> None:
    async with serving(tmp_path) as house:
        service = house.ground.service
        fields: Fields = {"label": "wiki", "scopes": ("read",), "tenant": OTHER}
        made = text(await house.mine.send("/settings", "/settings/keys", fields))
        (key,) = [one for one in await keys.of_tenant(service, TENANT) if one.label == "wiki"]
        assert f"geomi_{key.id}_" in made
        assert f"geomi_{key.id}_" not in text(await house.mine.get("/settings"))
        await house.admin.send("/settings", "/settings/keys", fields)
        theirs = [one for one in await keys.of_tenant(service, OTHER) if one.label == "wiki"]
        assert len(theirs) == 1
        path = f"/settings/keys/{theirs[0].id}/revoke"
        assert (await house.mine.send("/settings", path)).status == 404
        assert (await house.admin.send("/settings", path)).status == 303
        assert (await keys.find(service, OTHER, theirs[0].id)).revoked_at_s is not None
        none = await house.mine.send("/settings", "/settings/keys", {"label": "x"})
        assert none.status == 422


@waits
async def test_tenants_are_an_administrators(tmp_path: Path) -> None:
    quota = {"maxConcurrentCrawls": "7", "maxWaiting": "8", "maxDailyPages": "9"}

    async with serving(tmp_path) as house:
        service = house.ground.service
        for page, fields in (
            ("/settings/tenants", {"name": "acme-2"}),
            (f"/settings/tenants/{OTHER}/quota", quota | {"maxStorageBytes": "10"}),
        ):
            assert (await house.mine.send("/", page, fields)).status == 403
            assert (await house.admin.send("/settings", page, fields)).status == 303
        assert (await tenants.find(service, "acme-2")).title == ""
        changed = (await tenants.find(service, OTHER)).quota
        assert (changed.max_concurrent_crawls, changed.max_storage_bytes) == (7, 10)
        again = await house.admin.send("/settings", "/settings/tenants", {"name": "acme-2"})
        assert again.status == 422 and "exists already" in text(again)
        wrong = await house.admin.send("/", f"/settings/tenants/{OTHER}/quota", quota)
        assert wrong.status == 422
