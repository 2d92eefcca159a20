"""Open datasets, decide whose they are, and take contracts over into a crawl.

A dataset is a directory or a prefix of a bucket. It belongs to one tenant (C-92): the one that the
setting `datasets` names, or else the command line's. No root lies inside another tenant's root, or
two tenants would write the same files. `admitted_seeds` separates the start URLs of contracts that
the crawl's own rules admit from those that they exclude.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import TypeVar
from urllib.parse import unquote, urlsplit

from geomi.adapters.bucket_url import FORM, names_bucket, read_bucket_url
from geomi.adapters.dataset.directory import DirectoryDataset
from geomi.adapters.machine.processes import ProcessWorkerHandle, StartedProcess, start_worker
from geomi.app.directory import DataDirectory, need_obstore
from geomi.app.recovery import recover
from geomi.app.store import TENANT
from geomi.app.use.crawl import NO_YEAR, check_identity
from geomi.dataset.partition import checked_filter
from geomi.engine.listed_domains import ListedDomains
from geomi.engine.seeds.context import SeedContext
from geomi.engine.seeds.queue import work_on_queues
from geomi.engine.visit.rules import JobRules
from geomi.engine.worker.heartbeat import with_heartbeat
from geomi.engine.worker.supervisor import Deaths
from geomi.errors import ConfigError, GeomiError, StoreMissing, first_error
from geomi.model.config import CrawlConfig
from geomi.model.dataset.contract import Handover, SkippedDomain
from geomi.model.dataset.seed import PartitionFilter, SeedRules
from geomi.model.event import Warned
from geomi.model.site import SiteRule
from geomi.model.verdict import Verdict
from geomi.model.worker import WorkerRole, WorkKind
from geomi.ports.dataset import Dataset
from geomi.settings.layers import Layer, resolve_under_profile, settings_layer
from geomi.settings.options import Settings
from geomi.settings.seeds import read_datasets
from geomi.url.parse import Url, split, without_user_info

MAX_NAME_CHARS = 4096
SEED_PROFILE = "seed-engine"
SEED_PROGRAM = "geomi.processes.seeds"
T = TypeVar("T")
CONTRACTS_FORM = "DATASET/prod/country=sg/category=news/date=2026-01-28"
_CONTRACTS_PLACE = re.compile(
    r"(?P<root>.*?)(?:(?:^|/)prod(?:/country=(?P<country>[^/]+)(?:/category=(?P<category>[^/]+)"
    r"(?:/date=(?P<date>[^/]+))?)?)?)?/*",
    re.DOTALL,
)


def open_dataset(text: str) -> Dataset:
    """Open `s3://…`, `file://…` or a path; nothing is dialled yet."""
    if not text.strip() or "\0" in text or len(text) > MAX_NAME_CHARS:
        raise ConfigError("a dataset needs a name", hint=f"write a path, file://… or {FORM}")
    if names_bucket(text):
        need_obstore("a dataset in a bucket")
        from geomi.adapters.blob.bucket import Bucket  # an extra
        from geomi.adapters.dataset.bucket import BucketDataset

        url = read_bucket_url(text)
        return BucketDataset(Bucket(url), url.full)
    root = _folder(text)
    if not root.is_dir():
        raise StoreMissing(
            f"there is no dataset at `{root}`: it is not a folder",
            hint="name the folder that holds raw/",
        )
    return DirectoryDataset(root)


def _folder(text: str) -> Path:
    if "://" not in text:
        return Path(text)
    url = urlsplit(text)
    is_local = url.netloc in ("", "localhost") and not url.query and not url.fragment
    if url.scheme != "file" or not is_local or "\0" in unquote(url.path):
        raise ConfigError(
            f"`{without_user_info(text)}` is not a dataset",
            hint=f"write a path, file:///path or {FORM}",
        )
    return Path(unquote(url.path))


def open_datasets(settings: Settings) -> dict[str, Dataset]:
    """Return each tenant's dataset; roots that are shared, or lie in one another, are refused."""
    found = {
        tenant: open_dataset(text) for tenant, text in read_datasets(settings.datasets).items()
    }
    for (one, own), (other, theirs) in combinations(found.items(), 2):
        if _overlap(own.name, theirs.name):
            raise ConfigError(
                f"the datasets of tenants `{one}` and `{other}` are not apart: "
                f"{own.name} and {theirs.name}",
                hint="each root belongs to one tenant, and no root may lie in another",
            )
    return found


def dataset_tenant(dataset: Dataset, settings: Settings) -> str:
    """Say whose a dataset is."""
    for tenant, own in open_datasets(settings).items():
        if own.name == dataset.name:
            return tenant
        if _overlap(own.name, dataset.name):
            raise ConfigError(
                f"{dataset.name} and {own.name}, which is tenant `{tenant}`'s, are not apart",
                hint=f"name {own.name} itself; --country, --category and --date name a part of it",
            )
    return TENANT


def seed_config(settings: Settings) -> CrawlConfig:
    """Return the default configuration of the seed engine."""
    asked = Layer("service", {"run.profile": SEED_PROFILE})
    return resolve_under_profile([asked, settings_layer(settings)]).config


def check_queues(rules: SeedRules) -> None:
    """Refuse queues with one name: their consumers would mix the messages."""
    if rules.seed_queue == rules.domain_queue:
        raise ConfigError(
            f"seeds.seed_queue and seeds.domain_queue cannot both be called `{rules.seed_queue}`",
            hint="give each a name of its own",
        )


def seeding_for(home: DataDirectory, config: CrawlConfig, dataset: Dataset) -> SeedContext:
    """Bundle what the seed engine needs, for the tenant of a home."""
    check_identity(config)
    return SeedContext(home.world, config, home.store.queues, dataset)


@dataclass(frozen=True, slots=True)
class SeedOrder:
    """The order of a further process that works on a dataset."""

    root: Path
    settings: Settings
    config: CrawlConfig
    dataset: str
    is_done_when_empty: bool


class SeedWorkers:
    """The seed workers of a dataset here: this process, and those that it starts.

    Args:
        order: the order of the other processes.
        workers: processes, this one among them; None in a process that another one has started.
        standby: processes that wait for orders; more are started if needed.
    """

    def __init__(
        self,
        home: DataDirectory,
        seeding: SeedContext,
        order: SeedOrder,
        *,
        workers: int | None = None,
        standby: Sequence[StartedProcess] = (),
    ) -> None:
        self._home = home
        self._seeding = seeding
        self._order = order
        self._workers = workers
        self._standby = iter(standby)
        self._handles: list[ProcessWorkerHandle] = []
        self._leaving = asyncio.Event()
        self._deaths = Deaths()
        self._own: asyncio.Task[object] | None = None

    async def begin(self, work: Coroutine[None, None, T]) -> T | None:
        """Do something before everybody works; None where it was stopped by an interrupt."""
        try:
            async with asyncio.TaskGroup() as group:
                self._own = doing = group.create_task(work, name="begin")
        except* GeomiError as failures:
            raise first_error(failures) from failures
        return None if doing.cancelled() else doing.result()

    async def run(self) -> None:
        """Work until the queues are empty, or until a signal, as the order says."""
        await recover(self._home)
        await self._home.heart.enrol(WorkerRole.WORKER, [self._seeding.config])
        await with_heartbeat(self._home.heart, self._run())

    def interrupt(self) -> bool:
        """First call: finish the current work. Second call: stop now, and return true."""
        was_leaving = self._leaving.is_set()
        self._leaving.set()
        for handle in self._handles:
            handle.drain()  # a second one ends it
        if was_leaving and self._own is not None:
            self._own.cancel()
        return was_leaving

    @property
    def was_interrupted(self) -> bool:
        """Whether a signal asked it to end."""
        return self._leaving.is_set()

    async def _run(self) -> None:
        """Work, and let others work; where a task has killed a process, first only others do."""
        many = (self._workers or 1) - 1
        is_careful = self._workers is not None and await self._has_suspects()
        async with asyncio.TaskGroup() as group:
            others = [
                group.create_task(self._help(f"seeder {number}"), name=f"seeder {number}")
                for number in range(many + is_careful)
            ]
            if is_careful:
                await asyncio.wait(others)
            self._own = group.create_task(
                work_on_queues(
                    self._seeding,
                    leaving=self._leaving,
                    is_done_when_empty=self._order.is_done_when_empty,
                ),
                name="seeds",
            )

    async def _has_suspects(self) -> bool:
        return bool(await self._home.store.suspects.list(WorkKind.TASK, limit=1))

    async def _help(self, name: str) -> None:
        """Let another process work beside us; it is replaced if it is known what it died of."""
        sink = self._home.world.sink
        try:
            while True:
                helper = await self._helper(name)
                if await helper.wait() is not None:
                    return
                is_known = bool(await recover(self._home)) and self._deaths.allow(explained=True)
                if self._leaving.is_set() or not is_known:
                    problem = "died"
                    break
        except GeomiError as error:
            problem = f"gave up: {error.message}"
        sink.emit(Warned("", f"a process that worked on seeds {problem}", "the others continue"))

    async def _helper(self, name: str) -> ProcessWorkerHandle:
        started = next(self._standby, None)
        if started is None:
            started = await asyncio.to_thread(start_worker, SEED_PROGRAM)
        sink, answer_s = self._home.world.sink, self._home.settings.answer_s
        handle = ProcessWorkerHandle(name, started, self._order, sink, answer_s=answer_s)
        self._handles.append(handle)
        if self._leaving.is_set():
            handle.drain()
        return handle


def _overlap(one: str, other: str) -> bool:
    """Whether a root lies in another; a bucket's server may be written in many ways."""
    places = (name.partition("?")[0].rstrip("/") + "/" for name in (one, other))
    shorter, longer = sorted(places, key=len)
    return longer.startswith(shorter)


def open_contracts(text: str) -> tuple[Dataset, PartitionFilter]:
    """Open a dataset by the place of its contracts: `prod/…` of it, or its root."""
    place, mark, options = text.partition("?") if names_bucket(text) else (text, "", "")
    found = _CONTRACTS_PLACE.fullmatch(place)
    assert found is not None, "it matches whatever is no partition as a root"
    which = checked_filter(found["country"], found["category"], found["date"])
    root = found["root"] or ("/" if place.startswith("/") else ".")
    if "/prod/country=" in f"/{root}":
        raise ConfigError(f"`{text}` is not a place of contracts", hint=f"write {CONTRACTS_FORM}")
    return open_dataset(root + mark + options), which


def admitted_seeds(
    handover: Handover,
    config: CrawlConfig,
    reviews: Sequence[SiteRule],
    listed: ListedDomains | None = None,
) -> tuple[list[str], list[SkippedDomain]]:
    """Separate the start URLs that a crawl's own rules admit from those that they exclude."""
    rules = JobRules(config, handover.seeds, now_year=NO_YEAR, decisions=reviews, listed=listed)
    taken: list[str] = []
    left_out: list[SkippedDomain] = []
    for url in map(split, handover.seeds):
        reason = _excluded_by(rules, url)
        if reason:
            left_out.append(SkippedDomain(url.host, f"{url.href} is excluded by rule {reason}"))
        else:
            taken.append(url.href)
    return taken, left_out


def _excluded_by(rules: JobRules, url: Url) -> str:
    answer = rules.seed(url)
    return f"{answer.rule}: {answer.detail}" if isinstance(answer, Verdict) else ""
