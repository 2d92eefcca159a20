"""`Crawler`: an open data directory that crawls, and yields pages as they are committed.

Pages are read back from the archive, so a slow reader costs disk and not memory. Leaving a crawl
early, or leaving the crawler, lets requests in flight end and commits their pages. A caller's own
markdown rules are refused where they could not work: for a part of an element, or with several
workers.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Self

from geomi import app
from geomi.app import DataDirectory, Plan, make_plan, open_directory
from geomi.app.use.crawl import refuse_failure
from geomi.engine.inspect.export import records
from geomi.engine.worker.supervisor import CrawlReport, Supervisor
from geomi.errors import ConfigError, GeomiError, NothingFetched
from geomi.library.options import Options, for_one_page, read_options, without_files
from geomi.library.page import Page
from geomi.model.event import Event, JobStarted, PageSettled
from geomi.model.markdown import NO_RULES, UNRULED, MarkdownRules
from geomi.model.verdict import State
from geomi.settings.layers import Resolved
from geomi.settings.options import RunOptions

PAGES_PER_READ = 50


class Crawler:
    """An open data directory; without `output`, a temporary one that is deleted afterwards.

    Politeness belongs to the directory: all requests of one crawler to a host count together.
    """

    def __init__(
        self,
        output: str | Path | None = None,
        *,
        configured: Options | None = None,
        markdown_rules: MarkdownRules = NO_RULES,
        **options: object,
    ) -> None:
        asked = configured or read_options(options)
        check_rules(markdown_rules, asked.resolved.run)
        self._markdown_rules = dict(markdown_rules)
        self.report: CrawlReport | None = None  # how the last crawl ended
        # A directory that is gone afterwards leaves nothing in a database or a bucket.
        self._settings = asked.settings if output else replace(asked.settings, db="", blobs="")
        self._flags = asked.flags
        self._resolved = asked.resolved if output else without_files(asked.resolved)
        self._output = output
        self._ears: set[_JobListener] = set()

    async def __aenter__(self) -> Self:
        async with AsyncExitStack() as stack:
            root = self._output or stack.enter_context(tempfile.TemporaryDirectory(prefix="geomi-"))
            opened = open_directory(Path(root), self._settings, lambda _: _JobListener())
            self._home = await stack.enter_async_context(opened)
            self._group = await stack.enter_async_context(asyncio.TaskGroup())
            self._stack = stack.pop_all()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for ear in self._ears:
            ear.interrupt()
        await self._stack.aclose()  # waits for the crawls, then closes the directory

    async def crawl(self, *urls: str, resume: bool = False) -> AsyncGenerator[Page, None]:
        """Crawl from these URLs and yield each page once it is committed.

        A resumed job yields all its pages, those of earlier runs first. Where no start URL could be
        reached, `NothingFetched` is raised at the end.
        """
        ear = _JobListener()
        run = self._start(urls, self._resolved, ear, resume=resume)
        try:
            async for record in _follow(self._home, ear, run):
                yield Page.from_record(record)
        finally:
            ear.interrupt()
            report = _told(await run)
        self.report = report
        refuse_failure(report, self._settings)

    async def scrape(self, url: str) -> Page:
        """Fetch one page when its host's turn comes; `NothingFetched` says what kept it away."""
        ear = _JobListener(is_patient=False)
        alone = for_one_page(self._resolved, is_kept=self._output is not None)
        report = _told(await self._start([url], alone, ear))
        async for record in records(self._home.world, report.job.id):
            return Page.from_record(record)
        raise _no_page(url, ear.last)

    def _start(
        self, urls: Sequence[str], resolved: Resolved, ear: _JobListener, *, resume: bool = False
    ) -> asyncio.Task[CrawlReport | GeomiError]:
        plan = make_plan(urls, resolved, self._flags, resume=resume)
        self._ears.add(ear)
        run = self._group.create_task(self._run(plan, ear), name=f"crawl {urls[0]}")
        run.add_done_callback(lambda _: ear.woken.set())
        return run

    async def _run(self, plan: Plan, ear: _JobListener) -> CrawlReport | GeomiError:
        """Crawl to the end; an error is the reader's to raise and no reason to end other crawls."""
        try:
            # A home of its own: two crawls of one process are two workers to the store.
            own = self._markdown_rules
            async with open_directory(
                self._home.root, self._settings, lambda _: ear, markdown_rules=own
            ) as home:
                report = await app.crawl(home, plan, on_start=ear.begin)
        except GeomiError as error:
            return error
        finally:
            self._ears.remove(ear)
        ear.job = report.job.id
        return report


class _JobListener:
    """Listens to one job; `scrape` ends the job when a page would need another try."""

    def __init__(self, *, is_patient: bool = True) -> None:
        self.job = ""
        self.last: PageSettled | None = None
        self.woken = asyncio.Event()
        self._is_patient = is_patient
        self._supervisor: Supervisor | None = None
        self._is_ending = False

    def begin(self, supervisor: Supervisor) -> None:
        """Take the job; end it at once if its reader has left."""
        self._supervisor = supervisor
        if self._is_ending:
            supervisor.interrupt()

    def emit(self, event: Event) -> None:
        """Store an event and wake its readers."""
        match event:
            case JobStarted():
                self.job = event.job
            case PageSettled():
                self.last = event
                if event.state is State.PENDING and not self._is_patient:
                    self.interrupt()
        self.woken.set()

    def interrupt(self) -> None:
        """Let the job end with what is in flight; saying it twice would cut that off."""
        if not self._is_ending and self._supervisor is not None:
            self._supervisor.interrupt()
        self._is_ending = True


async def _follow(
    home: DataDirectory, ear: _JobListener, run: asyncio.Task[CrawlReport | GeomiError]
) -> AsyncIterator[bytes]:
    """Return the records of a running job in the order of commits, until it is over."""
    after = 0
    while True:
        is_over = run.done()
        ear.woken.clear()
        rows = []
        if ear.job:
            rows = await home.world.store.pages.feed(ear.job, after=after, limit=PAGES_PER_READ)
        for row in rows:
            yield await home.world.archive.read(row.record)
            after = row.seq
        if not rows:
            if is_over:
                return
            await ear.woken.wait()


def _told(answer: CrawlReport | GeomiError) -> CrawlReport:
    if isinstance(answer, GeomiError):
        raise answer
    return answer


def _no_page(url: str, last: PageSettled | None) -> NothingFetched:
    if last is None:
        return NothingFetched(f"{url}: interrupted before the request")
    told = [last.url, last.outcome, f"HTTP {last.status}" if last.status else "", last.detail]
    return NothingFetched(": ".join(part for part in told if part))


def check_rules(rules: MarkdownRules, run: RunOptions) -> None:
    """Raise for a rule that would never be asked, or only in some of the processes."""
    for tag, rule in rules.items():
        if tag.lower() in UNRULED:
            raise ConfigError(
                f"a markdown rule for `{tag}` cannot work: the element is part of a list or table",
                hint="write one for the whole element: `ul`, `ol`, `dl`, `table`",
            )
        if not callable(rule):
            raise ConfigError(f"the markdown rule for `{tag}` is not a function: {rule!r}")
    if rules and run.workers > 1:
        raise ConfigError(
            f"markdown rules work in this process alone, and `workers` is {run.workers}",
            hint="leave `workers` at 1",
        )
