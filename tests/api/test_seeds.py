"""The seed engine over the API: raw files are sent, figures told, dead letters mended."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from geomi.app.use.datasets import seed_config
from geomi.engine.seeds.context import SeedContext
from geomi.errors import ConfigError, StoreError
from geomi.model.dataset.queue import Message, TaskResult
from geomi.service.access.keys import KeyScope
from geomi.service.seeds import seeding_of
from geomi.service.service import open_service
from geomi.settings.options import Settings
from tests.api.asking import LOCAL, OTHER, TENANT, Ground, serving
from tests.support.raw_files import given_up, put_raw, put_success, worked
from tests.support.waiting import waits

PROD = "prod/country=sg/category=news/date=2026-01-28"
RULES = seed_config(LOCAL).seeds


@asynccontextmanager
async def served(tmp_path: Path, settings: Settings = LOCAL) -> AsyncIterator[Ground]:
    """Serve a directory in which the first tenant has a dataset."""
    (tmp_path / "mine").mkdir(exist_ok=True)
    own = replace(settings, datasets=(f"{TENANT}={tmp_path / 'mine'}",))
    async with serving(tmp_path / "data", own) as ground:
        yield ground


@pytest.mark.req("API-13", "SED-16", "SED-17", "SED-18")
@waits
async def test_raw_files_are_sent_once_and_by_filter(tmp_path: Path) -> None:
    async with served(tmp_path) as ground:
        root, mine = tmp_path / "mine", ground.mine
        for number in (1, 2):
            put_raw(root, number, "mom.gov.sg")
        other = put_raw(root, 1, "b.test", folder="country=kr/category=news/date=2026-01-28")
        put_success(root, other)
        asked = {"country": "SG", "category": "news", "date": "2026-01-28"}
        answer = await mine.post("/seeds/orchestrate", asked)
        assert answer.status == 200
        assert answer.json == {
            "success": True,
            "data": {"files_found": 2, "sent": 2, "skipped": 0},
        }
        nothing: tuple[object, ...] = (None, {})  # a body may be left out
        for body in nothing:
            again = await mine.post("/seeds/orchestrate", body)
            assert again.json["data"] == {"files_found": 3, "sent": 2, "skipped": 1}
        forced = await mine.post("/seeds/orchestrate", {"country": "kr", "force": True})
        assert forced.json["data"] == {"files_found": 1, "sent": 1, "skipped": 0}
        none = await mine.post("/seeds/orchestrate", {"category": "sports"})
        assert none.json["data"] == {"files_found": 0, "sent": 0, "skipped": 0}
        stats = (await mine.get("/seeds/status")).json["processing_stats"]
        assert (stats["files_total"], stats["files_pending"]) == (3, 3)
        operations = [one["operation"] for one in (await mine.get("/audit")).json["entries"]]
        assert operations.count("orchestrateSeeds") == 5


@pytest.mark.req("SED-17")
@pytest.mark.parametrize(
    ("asked", "status", "field"),
    [
        ({"region": "sg"}, 400, "region"),
        ({"country": "../"}, 400, "country"),
        ({"country": 7}, 400, "country"),
        ({"category": "a/b"}, 400, "category"),
        ({"category": "x" * 65}, 400, "category"),
        ({"date": "28.01.2026"}, 400, "date"),
        ({"date": "2026-02-30"}, 422, "date"),
        ({"force": "yes"}, 400, "force"),
    ],
)
@waits
async def test_what_makes_no_sense_is_refused_by_its_field(
    tmp_path: Path, asked: dict[str, object], status: int, field: str
) -> None:
    async with served(tmp_path) as ground:
        answer = await ground.mine.post("/seeds/orchestrate", asked)
        assert answer.status == status
        assert [one["field"] for one in answer.json["errors"]] == [field]
        if "force" not in asked and "region" not in asked:
            query = "&".join(f"{name}={value}" for name, value in asked.items())
            assert (await ground.mine.get(f"/seeds/status?{query}")).status in (400, 422)


@pytest.mark.req("SED-18", "SED-20")
@waits
async def test_files_that_could_not_be_sent_are_no_success(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with served(tmp_path) as ground:
        for number in (1, 2):
            put_raw(tmp_path / "mine", number, "mom.gov.sg")
        queues = ground.desk.home.store.queues
        send = queues.send

        async def full(dataset: str, messages: Sequence[Message]) -> int:
            if any("raw_0002" in one.task for one in messages):
                raise StoreError("the disk is full")
            return await send(dataset, messages)

        monkeypatch.setattr(queues, "send", full)
        told = (await ground.mine.post("/seeds/orchestrate")).json
        assert told == {
            "success": False,
            "data": {"files_found": 2, "sent": 1, "skipped": 0},
        }


@pytest.mark.req("RPT-04", "RPT-05", "MON-14", "DAT-09")
@waits
async def test_the_status_is_told_from_the_ledger_after_a_restart(tmp_path: Path) -> None:
    async with served(tmp_path) as ground:
        seeding = _seeding(ground)
        await worked(seeding, RULES.seed_queue, ["raw/a"], TaskResult(duration_ms=40))
        found = TaskResult(2, robots=True, sitemap=True, duration_ms=1000)
        await worked(seeding, RULES.domain_queue, [f"{PROD}/a.test"], found)
        found = TaskResult(1, robots=True, sitemap=False, duration_ms=1501)
        await worked(seeding, RULES.domain_queue, [f"{PROD}/b.test"], found)
        await given_up(seeding, RULES.domain_queue, [f"{PROD}/c.test"])
        before = (await ground.mine.get("/seeds/status")).json
    async with open_service(
        tmp_path / "data", ground.service.settings, lambda _: ground.desk.world.sink
    ) as service:
        seeding = seeding_of(service.desk(TENANT))
        assert (
            await seeding.queues.depth(seeding.dataset.name, RULES.domain_queue, now_s=0.0)
        ).dead == 1
    assert before == {
        "processing_stats": {
            "files_total": 1,
            "files_processed": 1,
            "files_failed": 0,
            "files_pending": 0,
            "domains_total": 3,
            "domains_processed": 2,
            "domains_failed": 1,
            "domains_pending": 0,
        },
        "collection_stats": {
            "robots_txt_found": 2,
            "robots_txt_rate": 0.67,
            "sitemap_xml_found": 1,
            "sitemap_xml_rate": 0.33,
            "avg_processing_time_ms": 1250,
        },
    }


@pytest.mark.req("SED-43")
@waits
async def test_dead_letters_are_listed_shown_retried_and_dropped(tmp_path: Path) -> None:
    async with served(tmp_path) as ground:
        mine = ground.mine
        tasks = [f"{PROD}/{name}.test" for name in "abc"]
        ids = sorted(await given_up(_seeding(ground), RULES.domain_queue, tasks))
        first = (await mine.get("/seeds/dlq?limit=2")).json
        rest = (await mine.get(f"/seeds/dlq?limit=2&cursor={first['nextCursor']}")).json
        listed = [*first["letters"], *rest["letters"]]
        assert [one["letterId"] for one in listed] == ids and rest["nextCursor"] is None
        assert {one["task"] for one in listed} == set(tasks)
        shown = await mine.get(f"/seeds/dlq/{ids[0]}")
        assert shown.json == {
            "original_message": {"domain": "a.test"},
            "error_info": {
                "error_type": "network_error",
                "error_message": "no answer",
                "retry_count": 3,
                "failed_at": "2026-01-28T15:30:00Z",
            },
            "context": {
                "queue_name": RULES.domain_queue,
                "worker_version": "1.0",
                "processing_duration_ms": 1250,
            },
        }
        assert (await mine.post(f"/seeds/dlq/{ids[0]}/retry")).status == 204
        assert (await mine.delete(f"/seeds/dlq/{ids[1]}")).status == 204
        for gone in ids[:2]:
            assert (await mine.get(f"/seeds/dlq/{gone}")).status == 404
            assert (await mine.post(f"/seeds/dlq/{gone}/retry")).status == 404
            assert (await mine.delete(f"/seeds/dlq/{gone}")).status == 404
        stats = (await mine.get("/seeds/status")).json["processing_stats"]
        assert (stats["domains_pending"], stats["domains_failed"]) == (1, 2)
        assert (await mine.get("/seeds/dlq?cursor=Li4v")).status == 404  # `../`


@waits
async def test_a_key_needs_its_scope_and_a_tenant_its_own_dataset(tmp_path: Path) -> None:
    async with served(tmp_path) as ground:
        (letter,) = await given_up(_seeding(ground), RULES.seed_queue, ["raw/a"])
        reader = await ground.somebody(KeyScope.READ)
        assert (await reader.get("/seeds/status")).status == 200
        assert (await reader.post("/seeds/orchestrate")).status == 403
        assert (await reader.post(f"/seeds/dlq/{letter}/retry")).status == 403
        assert (await reader.delete(f"/seeds/dlq/{letter}")).status == 403
        for answer in (
            await ground.other.post("/seeds/orchestrate"),
            await ground.other.get("/seeds/status"),
            await ground.other.get(f"/seeds/dlq/{letter}"),
        ):
            assert answer.status == 404
            assert "no dataset" in answer.json["detail"]
            assert f"GEOMI_DATASETS={OTHER}=URL" in answer.json["hint"]
        assert len((await ground.mine.get("/seeds/dlq")).json["letters"]) == 1


@waits
async def test_two_tenants_with_datasets_do_not_see_each_other(tmp_path: Path) -> None:
    for name in (TENANT, OTHER):
        (tmp_path / name).mkdir()
    put_raw(tmp_path / TENANT, 1, "mom.gov.sg")
    roots = tuple(f"{name}={tmp_path / name}" for name in (TENANT, OTHER))
    async with serving(tmp_path / "data", replace(LOCAL, datasets=roots)) as ground:
        (letter,) = await given_up(_seeding(ground), RULES.seed_queue, ["raw/a"])
        assert (await ground.other.get("/seeds/dlq")).json["letters"] == []
        assert (await ground.other.delete(f"/seeds/dlq/{letter}")).status == 404
        sent = (await ground.other.post("/seeds/orchestrate")).json["data"]
        assert sent == {"files_found": 0, "sent": 0, "skipped": 0}
        stats = (await ground.other.get("/seeds/status")).json["processing_stats"]
        assert set(stats.values()) == {0}


@waits
async def test_public_domains_are_not_asked_by_somebody_who_cannot_be_asked(tmp_path: Path) -> None:
    async with served(tmp_path, Settings()) as ground:
        answer = await ground.mine.post("/seeds/orchestrate")
        assert answer.status == 422 and "GEOMI_CONTACT" in answer.json["hint"]


@waits
async def test_one_orchestration_at_a_time(tmp_path: Path) -> None:
    async with served(tmp_path) as ground:
        with ground.desk.orchestrations.taken():
            assert (await ground.mine.post("/seeds/orchestrate")).status == 429
        assert (await ground.mine.post("/seeds/orchestrate")).status == 200


@pytest.mark.req("MON-14")
@waits
async def test_prometheus_is_told_how_far_each_dataset_is(tmp_path: Path) -> None:
    async with served(tmp_path) as ground:
        await given_up(_seeding(ground), RULES.seed_queue, ["raw/a"])
        text = (await ground.admin.without_prefix().get("/metrics")).body.decode()
        assert 'geomi_seed_tasks{tenant="acme",kind="files",state="failed"} 1' in text
        assert 'geomi_seed_tasks{tenant="acme",kind="domains",state="failed"} 0' in text
        assert 'geomi_seed_dead_letters{tenant="acme"} 1' in text


@pytest.mark.parametrize(
    ("second", "told"),
    [("one", "are not apart"), ("one/inner", "are not apart"), ("link", "are not apart")],
)
@waits
async def test_roots_that_are_not_apart_are_refused_at_the_start(
    tmp_path: Path, second: str, told: str
) -> None:
    (tmp_path / "one" / "inner").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "one")
    settings = replace(LOCAL, datasets=(f"a={tmp_path / 'one'}", f"b={tmp_path / second}"))

    with pytest.raises(ConfigError, match=told):
        async with serving(tmp_path / "data", settings):
            pass
    assert not (tmp_path / "data").exists()


def _seeding(ground: Ground) -> SeedContext:
    return seeding_of(ground.desk)
