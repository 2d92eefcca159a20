"""Deliveries to hooks over a real connection: what counts as taken, and what is tried again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from geomi.adapters.telemetry.fan_out import EventFanOut
from geomi.service import deliveries, webhooks
from geomi.service.crawling import previews
from geomi.service.crawling.crawls import CrawlOrder
from geomi.service.deliveries import DeliveryState
from geomi.service.service import open_service
from tests.api.asking import CRAWL, LOCAL, TENANT, Ground, Json, serving
from tests.support.server import Reply, Site
from tests.support.waiting import waits

UNREACHED = "the host cannot be reached, or does not answer in time"
TAKEN = Reply(b"", status=204)
ELSEWHERE = Reply(b"", status=307, headers=(("Location", "/taken"),))
ROUTES = {"/taken": TAKEN, "/moved": ELSEWHERE, "/broken": Reply(b"no", status=503)}


@pytest.mark.req("FUT-13")
@pytest.mark.parametrize(
    ("path", "state", "asked"),
    [
        ("/taken", "delivered", ["/taken"]),
        ("/moved", "waiting", ["/moved"]),  # a redirect is an answer, and is not followed
        ("/broken", "waiting", ["/broken"]),
    ],
)
@waits
async def test_only_2xx_is_taken(
    tmp_path: Path, path: str, state: str, asked: Sequence[str]
) -> None:
    with Site(ROUTES) as site:
        async with serving(tmp_path) as ground:
            hook = await _hooked(ground, site.url(path))
            assert await deliveries.queue_deliveries(ground.service) == 2
            assert await deliveries.queue_deliveries(ground.service) == 0  # nothing is told twice
            assert await deliveries.send_due(ground.service) == 1
            assert await deliveries.send_due(ground.service) == 0  # what waits is not due yet
            (told,) = await _deliveries(ground, hook)
            assert (told["state"], told["attempts"]) == (state, 1)
            assert [seen.target for seen in site.log] == asked
            assert site.log[0].headers["user-agent"].startswith("geomi/")
            assert site.log[0].headers["geomi-delivery"] == told["deliveryId"]


@waits
async def test_a_delivery_that_is_never_taken_is_dead_after_four_tries(tmp_path: Path) -> None:
    with Site(ROUTES) as site:
        async with serving(tmp_path) as ground:
            hook = await _hooked(ground, site.url("/broken"))
            await deliveries.queue_deliveries(ground.service)
            tries = 0
            while await deliveries.send_due(ground.service):
                tries += 1
                await _make_due(ground)
            (told,) = await _deliveries(ground, hook)
            assert (tries, told["state"]) == (4, "dead")
            assert told["lastStatus"] == 503 and len(site.log) == 4
            names = {seen.headers["geomi-delivery"] for seen in site.log}
            assert names == {told["deliveryId"]}  # a receiver knows it again


@waits
async def test_an_address_that_is_not_public_is_refused_at_each_try(tmp_path: Path) -> None:
    """The hook was made while private addresses were allowed, or its name meant another one."""
    with Site(ROUTES) as site:
        async with serving(tmp_path) as ground:
            hook = await _hooked(ground, site.url("/taken"))
            await deliveries.queue_deliveries(ground.service)
        shut = replace(LOCAL, allow_private=False)
        async with open_service(tmp_path, shut, lambda _: EventFanOut()) as service:
            assert await deliveries.send_due(service) == 1
            desk = service.desk(TENANT)
            (told,), _ = await deliveries.page(desk, hook, None, before="", limit=10)
            assert told.state is DeliveryState.WAITING and told.last_status is None
            assert told.last_error == UNREACHED
        assert site.log == []


@waits
async def test_a_delivery_does_not_tell_names_and_ports_inside_apart(tmp_path: Path) -> None:
    """A closed port, a name that is none, a refused address: a tenant could map what is inside."""
    with Site({}) as site:
        closed = site.port
    inside = (f"http://127.0.0.1:{closed}/", "http://no-such.invalid/", "http://169.254.169.254/")
    async with serving(tmp_path, replace(LOCAL, contact="ops@a.test")) as ground:
        desk = ground.desk
        for url in inside:
            answer = await webhooks.post(desk.world.fetcher, url, {}, b"{}")
            assert (answer.status, answer.told_problem) == (None, UNREACHED), url
            seen = await ground.mine.post("/preview", {"url": url})
            assert (seen.status, seen.json["detail"]) == (422, f"{url}: {UNREACHED}")
            order = CrawlOrder("c", (url,))
            found = (await previews.forecast_crawl(desk, order)).found
            assert all(problem.endswith(UNREACHED) for problem in found.problems)
            assert found.problems


@waits
async def test_a_deleted_hook_is_told_nothing_more(tmp_path: Path) -> None:
    with Site(ROUTES) as site:
        async with serving(tmp_path) as ground:
            hook = await _hooked(ground, site.url("/taken"))
            await deliveries.queue_deliveries(ground.service)
            assert (await ground.mine.delete(f"/webhooks/{hook}")).status == 204
            assert await deliveries.send_due(ground.service) == 1
            assert await deliveries.send_due(ground.service) == 0
            assert site.log == []
            kept = await ground.desk.named_values.list(deliveries.NAMESPACE, after="", limit=10)
            assert list(kept) == []


async def _hooked(ground: Ground, url: str) -> str:
    """Make a hook, and let a crawl end."""
    made = await ground.mine.post("/webhooks", {"url": url, "events": ["crawl.cancelled"]})
    assert made.status == 201, made.json
    job_id = (await ground.mine.post("/crawls", CRAWL)).json["jobId"]
    await ground.mine.post(f"/crawls/{job_id}/cancel")
    return str(made.json["webhookId"])


async def _deliveries(ground: Ground, hook: str) -> list[Json]:
    return list((await ground.mine.get(f"/webhooks/{hook}/deliveries")).json["deliveries"])


async def _make_due(ground: Ground) -> None:
    """Let the time pass that a delivery waits."""
    for named in await ground.desk.named_values.list(deliveries.NAMESPACE, after="", limit=10):
        if named.due_at_s is not None:
            assert await ground.desk.named_values.change(
                replace(named, due_at_s=ground.desk.wall_s)
            )
