"""The seed engine beside a service: alarms that fire and clear, and datasets that are worked on."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from itertools import accumulate
from pathlib import Path

import orjson
import pytest

from geomi.app.use.datasets import dataset_tenant, open_dataset, open_datasets, seed_config
from geomi.engine.seeds import dead_letters
from geomi.engine.seeds.report import EVERYTHING, MAX_DEAD_LETTERS
from geomi.errors import ConfigError
from geomi.model.dataset.queue import TaskResult
from geomi.processes.serve import ServiceProcessKind
from geomi.processes.server import _orders, requests_per_process
from geomi.service import alarms, seeds
from geomi.service.seeds import seeding_of, work_for_all
from geomi.service.service import Service
from geomi.settings.options import Settings
from tests.api.asking import LOCAL, OTHER, TENANT, Ground, Json, serving
from tests.service.seed_web import seed_web
from tests.service.working import until
from tests.support.crawl import Ear
from tests.support.raw_files import given_up, put_raw, worked
from tests.support.server import Reply, Site
from tests.support.waiting import waits

RULES = seed_config(LOCAL).seeds


def settings_for(tmp_path: Path) -> Settings:
    """Return settings under which the first tenant has a dataset."""
    (tmp_path / "mine").mkdir(exist_ok=True)
    return replace(LOCAL, datasets=(f"{TENANT}={tmp_path / 'mine'}",))


@pytest.mark.req("MON-15", "MON-08")
@waits
async def test_an_alarm_fires_once_clears_once_and_fires_again(tmp_path: Path) -> None:
    ear = Ear()
    with Site({"/slack": Reply(b"ok")}) as channel:
        settings = replace(settings_for(tmp_path), alarm_url=channel.url("/slack"))
        async with serving(tmp_path / "data", settings, ear) as ground:
            seeding = seeding_of(ground.desk)
            tasks = [f"raw/{number}" for number in range(19)]
            await worked(seeding, RULES.seed_queue, tasks, TaskResult(duration_ms=9))
            (letter,) = await given_up(seeding, RULES.seed_queue, ["raw/x"])
            await _look(ground)
            assert await _listed(ground) == []  # 5 % is not more than 5 %
            (second,) = await given_up(seeding, RULES.seed_queue, ["raw/y"])
            await _look(ground)
            (fired,) = await _listed(ground)
            assert (fired["rule"], fired["jobId"]) == ("file_failures", "")
            assert fired["dataset"] == seeding.dataset.name and fired["clearedAt"] is None
            for name in (letter, second):
                await dead_letters.retry(seeding, name)
            await _look(ground)
            (cleared,) = await _listed(ground)
            assert cleared["id"] == fired["id"] and cleared["clearedAt"] is not None
            await given_up(seeding, RULES.seed_queue, ["raw/x", "raw/y"])
            await _look(ground)
            assert [one["clearedAt"] is None for one in await _listed(ground)] == [True, False]
            assert (await ground.other.get("/alarms")).json["alarms"] == []
            told = [text.partition(":")[0] for text in ear.warnings]
            assert told == ["alarm file_failures", "alarm over", "alarm file_failures"]
            assert all(text.endswith(seeding.dataset.name) for text in ear.warnings)
            sent = [orjson.loads(seen.body)["text"] for seen in channel.log]
            assert len(sent) == 3 and all(seeding.dataset.name in text for text in sent)


@pytest.mark.req("MON-15")
@waits
async def test_too_many_dead_letters_are_an_alarm(tmp_path: Path) -> None:
    async with serving(tmp_path / "data", settings_for(tmp_path)) as ground:
        seeding = seeding_of(ground.desk)
        tasks = [f"prod/{number}" for number in range(MAX_DEAD_LETTERS + 1)]
        ids = await given_up(seeding, RULES.domain_queue, tasks)
        await _look(ground)
        rules = {one["rule"] for one in await _listed(ground)}
        assert rules == {"dead_letters", "domain_failures"}
        await seeds.drop(ground.desk, ids[0])
        await _look(ground)
        cleared = {one["rule"]: one["clearedAt"] for one in await _listed(ground)}
        assert cleared["dead_letters"] is not None and cleared["domain_failures"] is None


@pytest.mark.req("SEC-09")
@waits
async def test_an_alarm_that_fires_goes_with_its_tenant(tmp_path: Path) -> None:
    async with serving(tmp_path / "data", settings_for(tmp_path)) as ground:
        await given_up(seeding_of(ground.desk), RULES.seed_queue, ["raw/a"])
        await _look(ground)
        assert len(await ground.desk.named_values.list(alarms.FIRING_NAMESPACE, limit=9)) == 1
        erased = await ground.admin.delete(f"/admin/tenants/{TENANT}?reason=they+left")
        assert erased.status == 200, erased.json
        assert await ground.desk.named_values.list(alarms.FIRING_NAMESPACE, limit=9) == []


@waits
async def test_the_service_works_on_every_dataset_and_leaves_when_told(tmp_path: Path) -> None:
    ear = Ear()
    roots = {name: tmp_path / name for name in (TENANT, OTHER)}
    for number, root in enumerate(roots.values()):
        put_raw(root, 1, f"domain{number}.test")
    hosts = [f"domain{number}.test" for number in range(len(roots))]
    with seed_web(tmp_path, *hosts) as web:
        settings = replace(
            LOCAL,
            datasets=tuple(f"{name}={root}" for name, root in roots.items()),
            resolve=web.resolve,
            ca_file=web.ca_file,
        )
        async with serving(tmp_path / "data", settings, ear) as ground:
            for client in (ground.mine, ground.other):
                assert (await client.post("/seeds/orchestrate")).json["data"]["sent"] == 1
            leave = asyncio.Event()

            async def is_done() -> bool:
                desks = [ground.service.desk(name) for name in roots]
                told = [await seeds.standing(desk, EVERYTHING) for desk in desks]
                return all(one.domains.processed == 1 for one in told)

            async def watch() -> None:
                await until(is_done)
                leave.set()

            async with asyncio.TaskGroup() as group:
                group.create_task(watch(), name="watch")
                group.create_task(work_for_all(ground.service.home, leave), name="work")
        for host, root in zip(hosts, roots.values(), strict=True):
            (kept,) = root.glob(f"prod/*/*/*/{host}/domain_metadata.json")
            assert kept.with_name("domain_metadata.json.success").is_file()


def test_whoever_can_write_nothing_asks_servers_ever_less_often() -> None:
    rests = list(accumulate([1.0] * 7, seeds.rest_before_retry_s, initial=0.0))
    assert rests == [0.0, 10.0, 20.0, 40.0, 80.0, 160.0, 320.0, 320.0]
    assert seeds.rest_before_retry_s(320.0, seeds.LONGEST_AGAIN_S + 1) == 10.0


@waits
async def test_a_dataset_that_cannot_be_worked_on_is_told_and_costs_the_others_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ear = Ear()
    roots = {name: tmp_path / name for name in (TENANT, OTHER)}
    for root in roots.values():
        root.mkdir()
    settings = replace(LOCAL, datasets=tuple(f"{name}={root}" for name, root in roots.items()))
    monkeypatch.setattr(seeds, "AGAIN_S", 0.01)
    async with serving(tmp_path / "data", settings, ear) as ground:
        worked_on: list[str] = []

        async def broken(seeding: object, **_: object) -> None:
            name = seeding.dataset.name  # type: ignore[attr-defined]  # a Seeding
            worked_on.append(name)
            if name.endswith(TENANT):
                raise ConfigError("the bucket is away")
            await leave.wait()

        monkeypatch.setattr(seeds, "work_on_queues", broken)
        leave = asyncio.Event()

        async def watch() -> None:
            async def tried() -> bool:
                return len([one for one in worked_on if one.endswith(TENANT)]) > 2

            await until(tried)
            leave.set()

        async with asyncio.TaskGroup() as group:
            group.create_task(watch(), name="watch")
            group.create_task(work_for_all(ground.service.home, leave), name="work")
        told = [text for text in ear.warnings if "the bucket is away" in text]
        assert told == [f"cannot work on the dataset of tenant {TENANT}: the bucket is away"]
        assert len([one for one in worked_on if one.endswith(OTHER)]) == 1


def test_whose_a_dataset_is(tmp_path: Path) -> None:
    settings = settings_for(tmp_path)
    (tmp_path / "mine" / "raw").mkdir()
    (tmp_path / "free").mkdir()
    assert dataset_tenant(open_dataset(str(tmp_path / "mine")), settings) == TENANT
    assert dataset_tenant(open_dataset(f"file://{tmp_path / 'mine'}"), settings) == TENANT
    assert dataset_tenant(open_dataset(str(tmp_path / "free")), settings) == "local"
    for near in (tmp_path / "mine" / "raw", tmp_path):
        with pytest.raises(ConfigError, match="are not apart"):
            dataset_tenant(open_dataset(str(near)), settings)
    bucket = replace(settings, datasets=(f"{TENANT}=s3://bucket/a?endpoint=http://one.test",))
    for name in ("s3://bucket/a", "s3://bucket//a/b", "s3://bucket/a?endpoint=http://two.test"):
        with pytest.raises(ConfigError, match="are not apart"):
            dataset_tenant(open_dataset(name), bucket)


@pytest.mark.parametrize(
    "texts",
    [
        ("acme=https://me:hunter2@minio.test/bucket",),
        ("acme=file://me:hunter2@host/x",),
        ("acme=s3://BUCKET/x?endpoint=https://me:hunter2@minio.test",),
        ("acme=s3://bucket/x?endpoint=https://me:hunter2@minio.test",),
        ("acme=s3://me:hunter2@bucket/x",),
        ("=https://me:hunter2@minio.test",),
        ("acme=s3://a/b", "acme=https://me:hunter2@minio.test"),
    ],
)
def test_a_password_in_a_dataset_is_not_repeated(texts: tuple[str, ...]) -> None:
    with pytest.raises(ConfigError) as refused:
        open_datasets(replace(Settings(), datasets=texts))
    assert "hunter2" not in f"{refused.value.message} {refused.value.hint}"


@pytest.mark.req("SED-35", "SED-36", "SED-37", "C-86")
def test_the_engine_has_the_catalogues_queues() -> None:
    assert (RULES.seed_queue, RULES.domain_queue) == (
        "newsfork-seed-staging",
        "newsfork-domain-staging",
    )
    assert RULES.dead_letter_queue == "newsfork-dlq-staging"
    assert (RULES.seed_batch, RULES.seed_batch_wait_s) == (1, 30.0)
    assert (RULES.domain_batch, RULES.domain_batch_wait_s) == (5, 60.0)
    assert RULES.max_retries == 3
    assert RULES.domain_timeout_s == 60.0


def test_datasets_take_their_share_of_all_requests(tmp_path: Path) -> None:
    settings = replace(settings_for(tmp_path), max_fetches=10)
    assert requests_per_process(settings, workers=1, concurrency=None) == 10 - RULES.domain_batch
    assert requests_per_process(settings, workers=0, concurrency=None) == 10
    with pytest.raises(ConfigError, match="5 for datasets"):
        requests_per_process(settings, workers=1, concurrency=6)


@waits
async def test_a_process_works_on_datasets_where_there_are_any(tmp_path: Path) -> None:
    from geomi.processes.server import ServerOptions

    async with serving(tmp_path / "data", settings_for(tmp_path)) as ground:
        crawling = ServerOptions("127.0.0.1", 0, 1, 5)
        kinds = [one.kind for one in _orders(ground.service, crawling)]
        assert kinds.count(ServiceProcessKind.PREPARE) == 1
        resting = replace(crawling, workers=0)
        kinds = [one.kind for one in _orders(ground.service, resting)]
        assert ServiceProcessKind.PREPARE not in kinds
        plain = Service(replace(ground.service.home, settings=LOCAL))
        assert ServiceProcessKind.PREPARE not in [one.kind for one in _orders(plain, crawling)]


async def _look(ground: Ground) -> None:
    """Look twice, as whoever follows a process that died does."""
    for _ in range(2):
        await alarms.check_datasets(ground.service)


async def _listed(ground: Ground) -> list[Json]:
    answer = await ground.mine.get("/alarms")
    assert answer.status == 200
    return list(answer.json["alarms"])
