"""Check a tenant's crawls and dataset, and store and send their alarms (MON-08, MON-15).

Crawls are checked while they run and when they end. An alarm is stored once for each crawl, rule
and host, logged as a warning, and sent to the operator's channel if one is set. An alarm of a
dataset is sent once and clears by itself. The store knows the present alarms, so that a process
that takes over sends none again. A figure that leaves its bounds again is a new alarm.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import orjson

from geomi.engine.inspect.alarms import Alarm, judge_job
from geomi.engine.seeds.report import EVERYTHING, judge_seeds
from geomi.model.event import Warned
from geomi.model.job import CrawlJob, JobState
from geomi.service import seeds
from geomi.service.collections import keep_chunks
from geomi.service.service import Service, TenantService, ValueNamespace
from geomi.service.webhooks import post
from geomi.text.identifiers import sha256_hex

NAMESPACE = "alarms"
NAME = re.compile(r"[0-9A-Z]{26}-[0-9a-f]{16}")
KEPT_S = 30 * 86_400.0
MOST_JOBS = 1000
# All URLs of a crawl are counted, at 1.6 µs each, while nobody is answered.
MOST_URLS = 50_000
FIRING_NAMESPACE = "alarms-firing"


@dataclass(frozen=True, slots=True)
class KeptAlarm:
    """An alarm of a crawl, or of a dataset; times are of the wall clock.

    Args:
        cleared_at_s: since when the figure is within its bounds again; of a dataset alone, as what
            a crawl has come to stays what it is.
    """

    id: str
    at_s: float
    job: str
    collection: str
    alarm: Alarm
    dataset: str = ""
    cleared_at_s: float | None = None

    @property
    def about(self) -> str:
        """What it is about, in words."""
        return f"dataset {self.dataset}" if self.dataset else f"crawl {self.job}"


async def check_crawls(service: Service) -> int:
    """Check the running crawls for alarms; return that no more work is due."""
    for tenant, name in await service.home.store.roster.active(MOST_JOBS):
        desk = service.desk(tenant)
        job = await desk.world.store.jobs.get(name)
        if job is not None and job.collection and job.stats.discovered <= MOST_URLS:
            await _raise_alarms(desk, job, (await judge_job(desk.world, job)).alarms)
    return 0


async def check_ended_crawl(desk: TenantService, name: str) -> None:
    """Check a finished crawl for alarms, and keep what was measured of its chunks."""
    job = await desk.world.store.jobs.get(name)
    if job is not None and job.state is JobState.COMPLETED:
        judgement = await judge_job(desk.world, job)
        await _raise_alarms(desk, job, judgement.alarms)
        if job.collection and judgement.chunks.pages:
            await keep_chunks(desk, job.collection, judgement.chunks)


async def page(desk: TenantService, *, before: str, limit: int) -> list[KeptAlarm]:
    """List a tenant's alarms, newest first, for paging."""
    found = await _values(desk).list(after=before, limit=limit, is_backwards=True)
    return [kept.value for kept in found]


async def keep_alarm(desk: TenantService, kept: KeptAlarm) -> None:
    """Store an alarm and send it, unless that was done before."""
    if await _values(desk).add(kept.id, kept, due_at_s=_due_s(kept)):
        alarm = kept.alarm
        whose = "" if kept.job else f", {kept.about}"  # a crawl's line names the crawl
        desk.world.sink.emit(Warned(kept.job, f"alarm {alarm.rule}: {alarm.message}{whose}"))
        await _send(desk, kept, alarm.message)


async def clear_alarm(desk: TenantService, name: str) -> None:
    """Mark an alarm as over and send that, unless that was done before."""
    kept = await _values(desk).get(name)
    if kept is None or kept.value.cleared_at_s is not None:
        return
    cleared = replace(kept.value, cleared_at_s=desk.wall_s)
    if await _values(desk).change(kept, cleared, due_at_s=_due_s(cleared)):
        told = f"within bounds again: {cleared.alarm.rule}"
        desk.world.sink.emit(Warned(cleared.job, f"alarm over: {told} of {cleared.about}"))
        await _send(desk, cleared, told)


async def _raise_alarms(desk: TenantService, job: CrawlJob, alarms: Sequence[Alarm]) -> None:
    for alarm in alarms:
        # By the time of the crawl, so that they are listed in that order; the rest is a digest.
        name = f"{job.id}-{digest_of(alarm)}"
        await keep_alarm(desk, KeptAlarm(name, desk.wall_s, job.id, job.collection, alarm))


def digest_of(alarm: Alarm, *more: str) -> str:
    """Name the figure that an alarm is about, as the end of its id."""
    return sha256_hex(" ".join((*more, alarm.rule, alarm.subject)).encode())[:16]


async def _send(desk: TenantService, kept: KeptAlarm, message: str) -> None:
    url = desk.service.settings.alarm_url
    if not url:
        return
    text = f"geomi: {message} ({kept.about} of {desk.tenant})"
    headers = {"Content-Type": "application/json"}
    answer = await post(desk.world.fetcher, url, headers, orjson.dumps({"text": text}))
    if not answer.is_taken:
        problem = answer.problem or f"it answered {answer.status}"
        desk.world.sink.emit(Warned(kept.job, f"the alarm could not be sent: {problem}"))


def _due_s(kept: KeptAlarm) -> float:
    return kept.at_s + KEPT_S


def _values(desk: TenantService) -> ValueNamespace[KeptAlarm]:
    return ValueNamespace(desk.named_values, NAMESPACE, KeptAlarm)


async def check_datasets(service: Service) -> int:
    """Check every tenant's dataset for alarms; return that no more work is due."""
    for tenant in service.datasets:
        desk = service.desk(tenant)
        found = judge_seeds(await seeds.standing(desk, EVERYTHING))
        await _tell_datasets(desk, {_dataset_alarm_name(desk, alarm): alarm for alarm in found})
    return 0


async def _tell_datasets(desk: TenantService, found: dict[str, Alarm]) -> None:
    firing = ValueNamespace(desk.named_values, FIRING_NAMESPACE, KeptAlarm)
    for name, alarm in found.items():
        own_id = f"{desk.new_id()}-{name}"  # as a crawl's: by its time
        dataset = desk.service.datasets[desk.tenant].name
        await firing.add(name, KeptAlarm(own_id, desk.wall_s, "", "", alarm, dataset))
    for kept in await firing.every():
        if kept.name in found:
            await keep_alarm(desk, kept.value)
        else:
            await clear_alarm(desk, kept.value.id)
            await firing.remove(kept.name)


def _dataset_alarm_name(desk: TenantService, alarm: Alarm) -> str:
    return digest_of(alarm, desk.service.datasets[desk.tenant].name)
