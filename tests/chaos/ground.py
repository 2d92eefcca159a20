"""Where a crawl happens: sites on loopback, a database, an archive, and a folder for it all."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from types import TracebackType

from geomi.app import open_directory
from geomi.engine.world import SILENCE_S
from geomi.settings.options import Settings
from tests.chaos.layer import Plan
from tests.chaos.process import LOOK_S, Crawl, Nursery
from tests.chaos.table import NOTHING, Held
from tests.e2e.command import LOCAL, clean_env
from tests.support.aftermath import Aftermath, Wanted, look_back
from tests.support.postgres import Cluster
from tests.support.s3 import S3Server
from tests.support.server import Answer, Reply, Route, Seen, Site
from tests.support.webs import Web, random_web

HOSTS = 8
PAGES_PER_HOST = 25
# Long enough to be told from none, short enough for a crawl of two seconds.
DELAY_S = 0.02
LONGEST_CRAWL_S = 600.0
# Several segments a job, so that one is finished, and sent, in its middle.
SEGMENT_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True)
class Back:
    """The database and the archive; none of them is the SQLite file and the directory."""

    cluster: Cluster | None = None
    s3: S3Server | None = None

    @property
    def name(self) -> str:
        """What the table calls it."""
        return "postgres+s3" if self.cluster else "sqlite"


@dataclass
class Ground:
    """One lane of chaos: its sites stay, its data directory is new for each case.

    Args:
        lane: sets it apart from others that run at the same time.
        weather: what becomes of an answer on its way.
    """

    folder: Path
    back: Back
    lane: int = 0
    hosts: int = HOSTS
    pages: int = PAGES_PER_HOST
    delay_s: float = DELAY_S
    sites: list[Site] = field(default_factory=list)
    weather: Callable[[Seen, Reply], Answer] = lambda _, reply: reply
    _cases: int = 0

    def __enter__(self) -> Ground:
        self._stack = ExitStack()
        self._stack.enter_context(clean_environment(self.back))
        webs = [random_web(seed, pages=self.pages) for seed in range(self.hosts)]
        self.sites = [
            self._stack.enter_context(
                Site(self._routes(web), address=f"127.1.{self.lane}.{number + 2}")
            )
            for number, web in enumerate(webs)
        ]
        pairs = list(zip(self.sites, webs, strict=True))
        self.wanted = Wanted(
            {
                site.url(path): web.routes[path].body
                for site, web in pairs
                for path in web.reachable
            },
            self.delay_s,
        )
        self.nursery = self._stack.enter_context(closing(Nursery()))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.close()

    @contextmanager
    def case(self) -> Iterator[Case]:
        """Begin with nothing: no data, and sites that nobody has asked yet."""
        self._cases += 1
        root = self.folder / f"{self.lane}-{self._cases}"
        root.mkdir(parents=True)
        for site in self.sites:
            site.log.clear()
        case = Case(self, root, self._settings())
        try:
            yield case
        finally:
            case.end()
        if not case.is_spoiled:  # what went wrong stays to be looked at
            shutil.rmtree(root)

    def _routes(self, web: Web) -> dict[str, Route]:
        return {path: partial(self._answer, reply) for path, reply in web.routes.items()}

    def _answer(self, reply: Reply, seen: Seen) -> Answer:
        return self.weather(seen, reply)

    def _settings(self) -> Settings:
        back = self.back
        return Settings(
            allow_private=True,
            db=back.cluster.new_schema() if back.cluster else "",
            blobs=back.s3.new_prefix() if back.s3 else "",
            min_free_bytes=0,
        )


@dataclass
class Case:
    """One crawl, from its first start to its aftermath."""

    ground: Ground
    root: Path
    settings: Settings
    workers: int = 1
    options: tuple[str, ...] = ()
    silence_s: float = SILENCE_S
    held: Held = NOTHING
    is_spoiled: bool = False
    _started: list[Crawl] = field(default_factory=list)

    @property
    def data(self) -> Path:
        """The data directory."""
        return self.root / "data"

    def start(self, plan: Plan | None = None) -> Crawl:
        """Start the crawl, or go on with it."""
        plan = plan or Plan()
        plan = replace(plan, segment_bytes=plan.segment_bytes or SEGMENT_BYTES)
        settings, back = self.settings, self.ground.back
        env = plan.as_environment() | {
            "GEOMI_MIN_FREE_BYTES": str(settings.min_free_bytes),
            "GEOMI_SILENCE_S": str(self.silence_s),
        }
        if settings.db:
            env["GEOMI_DB"] = settings.db
        if back.s3:
            env |= back.s3.environment | {"GEOMI_BLOBS": settings.blobs}
        arguments = [
            "crawl", *(site.url("/") for site in self.ground.sites), "-o", str(self.data),
            "--resume", "-q", "--delay", str(self.ground.delay_s), *LOCAL,
            "--workers", str(self.workers), "--concurrency", str(2 * HOSTS), *self.options,
        ]  # fmt: skip
        crawl = self.ground.nursery.start(arguments, env, self.root / "told")
        self._started.append(crawl)
        return crawl

    def finish(self, plan: Plan | None = None) -> Aftermath:
        """Go on to the end, and look back."""
        crawl = self.start(plan)
        code = crawl.wait(LONGEST_CRAWL_S)
        found = self.look_back()
        if code != 0:
            ending = "it never ended" if code is None else f"it ended with {code}"
            found = replace(found, faults=(*found.faults, f"{ending}: {crawl.words()[-400:]}"))
        self.is_spoiled |= found.violations > 0
        return found

    def look_back(self) -> Aftermath:
        """Hold what is left against what the sites saw."""
        return asyncio.run(self._look_back())

    def note_held(self) -> None:
        """Count what is lent now, which is what a death may cost."""
        self.held += held(self.data, self.settings)

    def note_held_by(self, crawl: Crawl) -> None:
        """Count what a crawl holds that goes on: it stands still meanwhile."""
        crew = _send(signal.SIGSTOP, crawl)
        self.note_held()
        for pid in crew:
            _signal(pid, signal.SIGCONT)

    def kill(self, crawl: Crawl) -> None:
        """Kill a crawl with all its workers, so that none sees another go."""
        for pid in _send(signal.SIGSTOP, crawl):
            _signal(pid, signal.SIGKILL)
        crawl.wait(LONGEST_CRAWL_S)
        self.note_held()

    def end(self) -> None:
        """Leave nothing running."""
        for crawl in self._started:
            if not crawl.is_over:
                for pid in _send(signal.SIGKILL, crawl):
                    _signal(pid, signal.SIGKILL)
                crawl.wait(LONGEST_CRAWL_S)

    async def _look_back(self) -> Aftermath:
        settings = self.settings
        async with open_directory(self.data, settings, lambda _: _Deaf(), create=True) as home:
            return await look_back(home, self.ground.sites, self.ground.wanted)


def _send(number: signal.Signals, crawl: Crawl) -> list[int]:
    """Signal a crawl, then its workers, which it cannot replace by then; return all of them."""
    _signal(crawl.pid, number)
    crew = [*crawl.workers(), crawl.pid]
    for pid in crew:
        _signal(pid, number)
    return crew


def _signal(pid: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, number)


class _Deaf:
    """Hears no event."""

    def emit(self, event: object) -> None:
        """Let one pass."""


def held(data: Path, settings: Settings) -> Held:
    """Count what is lent in a store, without touching it: what SQLite would mend stays torn."""
    query = "SELECT COUNT(*), COALESCE(SUM(leased), 0) FROM hosts WHERE lease_until_s > 0"
    if settings.db:
        return _held_in_postgres(query, settings.db)
    copy = data.with_name("held")
    copy.mkdir(exist_ok=True)
    for name in ("geomi.db", "geomi.db-wal", "geomi.db-journal"):
        (copy / name).unlink(missing_ok=True)
        if (data / name).exists():
            shutil.copyfile(data / name, copy / name)
    with closing(sqlite3.connect(copy / "geomi.db")) as db, suppress(sqlite3.DatabaseError):
        return Held(*db.execute(query).fetchone())
    return NOTHING  # it has no tables yet


def _held_in_postgres(query: str, url: str) -> Held:
    import psycopg

    from geomi.adapters.store.postgres.address import read_address

    address = read_address(url)
    with psycopg.connect(address.url) as db, suppress(psycopg.errors.UndefinedTable):
        db.execute(f'SET search_path = "{address.schema}"')
        row = db.execute(query).fetchone()
        return Held(*map(int, row or (0, 0)))
    return NOTHING


@contextmanager
def clean_environment(back: Back) -> Iterator[None]:
    """Look back from this process as the crawls went: past no proxy, and with the bucket's key."""
    before = dict(os.environ)
    for name in before.keys() - clean_env().keys():
        del os.environ[name]
    os.environ.update(back.s3.environment if back.s3 else {})
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def wait_until(happened: Callable[[], bool], longest_s: float = 20.0) -> bool:
    """Look again and again; say whether it happened in time."""
    deadline_s = time.monotonic() + longest_s
    while not happened():
        if time.monotonic() > deadline_s:
            return False
        time.sleep(LOOK_S)
    return True
