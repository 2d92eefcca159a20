"""Schedules and webhooks: when they are due, that each happens once, and how it is told."""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import orjson
import pytest
from cryptography.fernet import Fernet

from geomi.adapters.machine.vault import KEY_FILE
from geomi.errors import ConfigError
from geomi.service import deliveries, webhooks
from geomi.service.crawling import schedules
from geomi.service.crawling.schedules import read_cron
from geomi.service.deliveries import Attempt, Delivery, DeliveryState
from geomi.service.service import Service, TenantService
from tests.api.asking import CRAWL, LOCAL, TENANT, Ground, serving
from tests.support.waiting import waits

WEEKLY = {"title": "mondays", "cron": "0 3 * * 1", "crawl": CRAWL}
HOOK = {"url": "https://hooks.example.com/geomi", "metadata": {"team": "docs"}}


@pytest.mark.parametrize(
    ("line", "after", "due"),
    [
        ("0 3 * * 1", "2026-11-16T03:00", "2026-11-23T03:00"),
        ("*/15 * * * *", "2026-01-01T00:00", "2026-01-01T00:15"),
        ("5,35 9-17 * * mon-fri", "2026-11-20T17:40", "2026-11-23T09:05"),
        ("0 0 29 2 *", "2026-01-01T00:00", "2028-02-29T00:00"),
        ("0 0 13 * 5", "2026-11-01T00:00", "2026-11-06T00:00"),  # either day
        ("0 0 * * 7", "2026-11-16T00:00", "2026-11-22T00:00"),
        ("30 1 1 jan *", "2026-01-01T01:30", "2027-01-01T01:30"),
        ("@monthly", "2026-12-15T12:00", "2027-01-01T00:00"),
        ("10/20 * * * *", "2026-01-01T00:31", "2026-01-01T00:50"),
    ],
)
def test_a_cron_line_says_when(line: str, after: str, due: str) -> None:
    found = read_cron(line).next_s(_at(after))
    assert found == _at(due)


@pytest.mark.parametrize(
    "line",
    [
        "", "* * * *", "60 * * * *", "* 24 * * *", "* * 0 * *", "* * * 13 *", "* * * * 8",
        "5-1 * * * *", "*/0 * * * *", "a * * * *", "* * * * mon-", "0 0 30 2 *", "1,,2 * * * *",
        "٣ * * * *", "0 " * 60,
    ],
)  # fmt: skip
def test_a_cron_line_that_makes_no_sense_is_refused(line: str) -> None:
    with pytest.raises(ConfigError):
        read_cron(line)


@pytest.mark.req("CHG-10")
@waits
async def test_a_schedule_starts_its_crawl_once_and_is_due_again(tmp_path: Path) -> None:
    async with serving(tmp_path) as ground:
        made = await ground.mine.post("/schedules", WEEKLY)
        assert made.status == 201 and made.json["nextRunAt"]
        name = made.json["scheduleId"]
        named = await ground.desk.named_values.get("schedules", name)
        assert named is not None and named.due_at_s is not None
        assert datetime.fromtimestamp(named.due_at_s, UTC).weekday() == 0
        await schedules.start_due(ground.service, named)
        await schedules.start_due(ground.service, named)  # whoever else saw that it was due
        crawls = (await ground.mine.get("/crawls")).json["crawls"]
        told = (await ground.mine.get(f"/schedules/{name}")).json
        assert [crawl["jobId"] for crawl in crawls] == [told["lastJobId"]]
        assert told["problem"] is None and told["nextRunAt"] >= made.json["nextRunAt"]


@waits
async def test_a_run_that_was_cut_short_is_finished_and_not_doubled(tmp_path: Path) -> None:
    async with serving(tmp_path) as ground:
        name = (await ground.mine.post("/schedules", WEEKLY)).json["scheduleId"]
        await _fire(ground, name)
        (first,) = (await ground.mine.get("/crawls")).json["crawls"]
        # As if whoever started it had died before the schedule knew.
        named = await ground.desk.named_values.get("schedules", name)
        assert named is not None
        body = orjson.loads(named.body) | {"coming_job": first["jobId"], "last_job": ""}
        assert await ground.desk.named_values.change(replace(named, body=orjson.dumps(body)))
        await _fire(ground, name)
        assert len((await ground.mine.get("/crawls")).json["crawls"]) == 1
        told = (await ground.mine.get(f"/schedules/{name}")).json
        assert told["lastJobId"] == first["jobId"]


@waits
async def test_a_run_that_cannot_start_says_why(tmp_path: Path) -> None:
    asked = WEEKLY | {"crawl": CRAWL | {"seedUrls": ["https://docs.example.com/"]}}
    signed = replace(LOCAL, contact="mailto:me@acme.example")
    async with serving(tmp_path, signed) as ground:
        name = (await ground.mine.post("/schedules", asked)).json["scheduleId"]
        home = replace(ground.service.home, settings=LOCAL)  # started anew without a contact
        unsigned = Service(home)
        named = await ground.desk.named_values.get("schedules", name)
        assert named is not None
        await schedules.start_due(unsigned, named)
        told = (await ground.mine.get(f"/schedules/{name}")).json
        assert "no contact" in told["problem"] and told["lastJobId"] is None
        assert told["nextRunAt"]


@waits
async def test_schedules_are_changed_listed_and_deleted(tmp_path: Path) -> None:
    async with serving(tmp_path) as ground:
        hourly = {"intervalSeconds": 3600, "crawl": CRAWL}
        name = (await ground.mine.post("/schedules", hourly)).json["scheduleId"]
        path = f"/schedules/{name}"
        resting = (await ground.mine.patch(path, {"enabled": False})).json
        assert resting["nextRunAt"] is None and not resting["enabled"]
        named = await ground.desk.named_values.get("schedules", name)
        assert named is not None and named.due_at_s is None
        changed = (await ground.mine.patch(path, {"cron": "@daily", "enabled": True})).json
        assert changed["cron"] == "@daily" and changed["intervalSeconds"] is None
        assert len((await ground.mine.get("/schedules")).json["schedules"]) == 1
        lines = ("0 0 30 2 *", "* * * * *", "0,4 3 * * *", "58,2 * * * *")
        wrongs: list[dict[str, object]] = [{"cron": line} for line in lines]
        for wrong in (*wrongs, {}, {"cron": "@daily", "intervalSeconds": 400}):
            assert (await ground.mine.post("/schedules", {"crawl": CRAWL} | wrong)).status == 422
        short = {"intervalSeconds": 299, "crawl": CRAWL}
        assert (await ground.mine.post("/schedules", short)).status == 400
        assert (await ground.mine.delete(path)).status == 204
        assert (await ground.mine.delete(path)).status == 404


@waits
async def test_one_schedule_too_many_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schedules, "MAX_SCHEDULES", 1)
    monkeypatch.setattr(webhooks, "MAX_HOOKS", 1)

    async with serving(tmp_path) as ground:
        for path, asked in (("/schedules", WEEKLY), ("/webhooks", HOOK)):
            assert (await ground.mine.post(path, asked)).status == 201
            assert (await ground.mine.post(path, asked)).status == 429
            assert (await ground.other.post(path, asked)).status == 201


@waits
async def test_the_secret_of_a_hook_is_encrypted_where_it_lies(tmp_path: Path) -> None:
    async with serving(tmp_path) as ground:
        desk = ground.desk
        made = (await ground.mine.post("/webhooks", HOOK)).json
        name, secret = made["webhookId"], made["secret"]
        (row,) = await desk.named_values.list(webhooks.NAMESPACE, limit=9)
        assert secret.encode() not in row.body and b'"vault:' in row.body
        assert (tmp_path / KEY_FILE).stat().st_mode & 0o777 == 0o600
        assert (await webhooks.find(desk, name)).secret == secret
        old = orjson.dumps({**orjson.loads(row.body), "secret": "as-it-was"})
        assert await desk.named_values.change(replace(row, body=old))  # of an older geomi
        assert (await webhooks.find(desk, name)).secret == "as-it-was"
        await ground.mine.patch(f"/webhooks/{name}", {"enabled": True})
        (row,) = await desk.named_values.list(webhooks.NAMESPACE, limit=9)
        assert b"as-it-was" not in row.body
        assert [one.secret for one in await webhooks.every(desk)] == ["as-it-was"]
    assert secret.encode() not in _stored(tmp_path)


def _stored(root: Path) -> bytes:
    return b"".join(file.read_bytes() for file in root.glob("geomi.db*"))


@waits
async def test_a_hook_whose_key_is_gone_fails_and_says_so(tmp_path: Path) -> None:
    async with serving(tmp_path) as ground:
        hook = (await ground.mine.post("/webhooks", HOOK)).json["webhookId"]
        one = await _told(ground, hook)
        (tmp_path / KEY_FILE).write_bytes(Fernet.generate_key())
        assert (await webhooks.find(ground.desk, hook)).secret == ""
        assert await deliveries.send_due(ground.service) == 1
        told = await deliveries.find(ground.desk, hook, one.id)
        assert told.attempts == 1 and "secret" in told.last_error
        assert (await ground.mine.delete(f"/webhooks/{hook}")).status == 204


@waits
async def test_without_the_extra_a_hook_is_kept_as_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("geomi.adapters.machine.vault.find_spec", lambda _: None)
    async with serving(tmp_path) as ground:
        made = (await ground.mine.post("/webhooks", HOOK)).json
        assert (await webhooks.find(ground.desk, made["webhookId"])).secret == made["secret"]
    assert not (tmp_path / KEY_FILE).exists()


@waits
async def test_a_hook_shows_its_secret_once_and_signs_with_it(tmp_path: Path) -> None:
    async with serving(tmp_path) as ground:
        made = (await ground.mine.post("/webhooks", HOOK)).json
        path = f"/webhooks/{made['webhookId']}"
        assert "secret" not in (await ground.mine.get(path)).json
        one = await _told(ground, made["webhookId"])
        hook = await webhooks.find(ground.desk, made["webhookId"])
        headers = deliveries.signed_headers(hook, one, wall_s=1_700_000_000.5)
        assert headers["Geomi-Timestamp"] == "1700000000"
        signed = b"1700000000." + one.body.encode()
        own = hmac.new(made["secret"].encode(), signed, hashlib.sha256).hexdigest()
        assert headers["Geomi-Signature"] == f"sha256={own}"
        sent = orjson.loads(one.body)
        assert sent["id"] == one.id == headers["Geomi-Delivery"]
        assert sent["event"] == "crawl.cancelled" and sent["metadata"] == {"team": "docs"}
        assert sent["crawl"]["state"] == "cancelled"


@waits
async def test_a_delivery_is_tried_four_times_and_then_by_hand(tmp_path: Path) -> None:
    async with serving(tmp_path) as ground:
        name = (await ground.mine.post("/webhooks", HOOK)).json["webhookId"]
        one = await _told(ground, name)
        waits = []
        for at_s in (1000.0, 2000.0, 3000.0):
            tried = await deliveries.record_attempt(ground.desk, one, Attempt(at_s, 500))
            assert tried is not None and tried.next_at_s is not None
            waits.append(tried.next_at_s - at_s)
        assert waits == [60.0, 300.0, 900.0]
        dead = await deliveries.record_attempt(ground.desk, one, Attempt(4000.0, None, "no answer"))
        assert dead is not None and dead.state is DeliveryState.DEAD
        path = f"/webhooks/{name}/deliveries"
        (told,) = (await ground.mine.get(f"{path}?state=dead")).json["deliveries"]
        assert (told["attempts"], told["lastError"]) == (4, "no answer")
        assert (await ground.mine.get(f"{path}?state=waiting")).json["deliveries"] == []
        again = await ground.mine.post(f"{path}/{one.id}/redeliver")
        assert again.status == 202 and again.json["deliveryId"] == one.id
        assert (await ground.mine.post(f"{path}/{one.id}/redeliver")).status == 409
        (named,) = await _due(ground.service, ground.desk)
        assert named == one.id
        done = await deliveries.record_attempt(ground.desk, one, Attempt(5000.0, 204))
        assert done is not None and done.state is DeliveryState.DELIVERED
        assert await _due(ground.service, ground.desk) == []


@waits
async def test_a_hook_hears_what_it_asked_for(tmp_path: Path) -> None:
    async with serving(tmp_path) as ground:
        asked = HOOK | {"events": ["crawl.paused", "crawl.cancelled"]}
        name = (await ground.mine.post("/webhooks", asked)).json["webhookId"]
        job = (await ground.mine.post("/crawls", CRAWL)).json["jobId"]
        await ground.mine.post(f"/crawls/{job}/pause")
        await ground.mine.post(f"/crawls/{job}/cancel")
        heard = await _tell_all(ground)
        assert sorted(one.event for one in heard) == ["crawl.cancelled", "crawl.paused"]
        await ground.mine.patch(f"/webhooks/{name}", {"enabled": False})
        await ground.mine.post("/crawls", CRAWL)
        assert await _tell_all(ground) == []
        part = (await ground.mine.get(f"/webhooks/{name}/deliveries?limit=1")).json
        rest = await ground.mine.get(f"/webhooks/{name}/deliveries?cursor={part['nextCursor']}")
        assert len(part["deliveries"]) == len(rest.json["deliveries"]) == 1
        assert (await ground.mine.delete(f"/webhooks/{name}")).status == 204
        assert (await ground.mine.get(f"/webhooks/{name}/deliveries")).status == 404


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1/", "http://[::1]:80/", "http://localhost/", "http://10.1.2.3/"]
)
@waits
async def test_a_hook_does_not_lead_inside(tmp_path: Path, url: str) -> None:
    async with serving(tmp_path, replace(LOCAL, allow_private=False)) as ground:
        refused = await ground.mine.post("/webhooks", {"url": url})
        assert refused.status == 403 and "`url`" in refused.json["hint"]


async def _fire(ground: Ground, name: str) -> None:
    named = await ground.desk.named_values.get("schedules", name)
    assert named is not None
    await schedules.start_due(ground.service, named)


async def _told(ground: Ground, hook: str) -> Delivery:
    """Let a crawl end, and return what a hook is told of it."""
    job = (await ground.mine.post("/crawls", CRAWL)).json["jobId"]
    await ground.mine.post(f"/crawls/{job}/cancel")
    (one,) = await _tell_all(ground)
    assert one.hook == hook
    return one


async def _tell_all(ground: Ground) -> list[Delivery]:
    """Tell all that nobody was told of, as whoever sends would."""
    store, found = ground.service.home.store, []
    for event in await store.unsent_events.list(100):
        desk = ground.service.desk(event.tenant)
        named_values = deliveries.deliveries_of(desk, event, await webhooks.every(desk))
        assert await store.unsent_events.hand_over(event, named_values)
        found += [deliveries.read_due(desk, named) for named in named_values]
    return found


async def _due(service: Service, desk: TenantService) -> list[str]:
    named_values = await service.home.store.due_values.due(
        "deliveries", wall_s=desk.wall_s, limit=10
    )
    assert all(named.tenant == TENANT for named in named_values)
    return [named.name for named in named_values]


def _at(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()
