"""Run the work on a dataset for `geomi seeds run` and `work`, and show its progress.

`run` stops when nothing is left, `work` when a signal arrives. The first signal finishes current
work, a second one stops at once, and the next run continues. Progress is a live view on a
terminal and JSON lines elsewhere, with a summary at the end.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass

from rich.table import Table

from geomi.adapters.machine.processes import StartedProcess, fork_workers, relax_garbage_collector
from geomi.adapters.telemetry.display import Display, grid, spent
from geomi.adapters.telemetry.fan_out import EventFanOut, EventsExcept, EventsOnly
from geomi.adapters.telemetry.log_lines import EventLines
from geomi.app.use.datasets import SeedWorkers
from geomi.cli.console import note, print_json
from geomi.cli.event_output import stop_on_signals
from geomi.cli.prepare.dataset import DatasetChoice, open_seeding
from geomi.dataset.partition import RAW_FORM
from geomi.engine.inspect.alarms import Alarm
from geomi.engine.seeds.context import SeedContext
from geomi.engine.seeds.orchestrate import orchestrate
from geomi.engine.seeds.report import (
    EVERYTHING,
    DatasetProgress,
    judge_seeds,
    make_report,
    read_progress,
)
from geomi.errors import GeomiError, StoreError, first_error
from geomi.model.dataset.queue import TaskTally
from geomi.model.dataset.seed import OrchestrationReport, PartitionFilter
from geomi.model.event import (
    Event,
    RobotsFetched,
    SeedDomainDone,
    SeedFailed,
    SeedFileDone,
    SeedSendFailed,
    Warned,
)
from geomi.ports.runtime import Clock, EventSink
from geomi.processes.seeds import live

LOOK_S = 0.5
LOOK_SHARE = 20  # looking takes no more than one part of so many
PROBLEM_EVENTS = (Warned, SeedFailed, SeedSendFailed)


def standby(chosen: DatasetChoice) -> list[StartedProcess]:
    """Start the other processes, before this one has a thread."""
    relax_garbage_collector()
    return fork_workers(chosen.workers - 1, live)


async def run_to_end(
    chosen: DatasetChoice, show: SeedPrinter, waiting: Sequence[StartedProcess], *, force: bool
) -> bool:
    """Queue files, work, and report; return whether a signal stopped it."""
    async with open_seeding(chosen, show.listen, create=True) as (home, seeding):
        order = chosen.order(is_done_when_empty=True)
        workers = SeedWorkers(home, seeding, order, workers=chosen.workers, standby=waiting)
        stop_on_signals(workers, "the current work")
        began_s = home.world.clock.now_s()
        async with show.live(seeding, chosen.which):
            found = await workers.begin(orchestrate(seeding, chosen.which, force=force))
            if found is None:
                return True
            await workers.run()
        seconds = home.world.clock.now_s() - began_s
        standing = await read_progress(seeding, EVERYTHING)
        show.conclude(found, standing, judge_seeds(standing), seconds)
        raise_if_unsent(found)
        return workers.was_interrupted


async def serve_queues(
    chosen: DatasetChoice, show: SeedPrinter, waiting: Sequence[StartedProcess]
) -> None:
    """Work on the queues until a signal ends it."""
    async with open_seeding(chosen, show.listen, create=True) as (home, seeding):
        order = chosen.order(is_done_when_empty=False)
        workers = SeedWorkers(home, seeding, order, workers=chosen.workers, standby=waiting)
        stop_on_signals(workers, "the current work")
        async with show.live(seeding, EVERYTHING):
            await workers.run()


def raise_if_unsent(found: OrchestrationReport) -> None:
    """Raise where raw files could not be queued, after all others were (SED-20)."""
    if found.unsent:
        raise StoreError(f"{found.unsent} raw files could not be queued", hint="run it again")


@dataclass(slots=True)
class SeedCounts:
    """What this run has done, counted from its events, those of its other processes among them."""

    files: int = 0
    domains: int = 0
    rejected: int = 0
    dead: int = 0

    def emit(self, event: Event) -> None:
        """Count one event."""
        match event:
            case SeedFileDone(rejected=rejected):
                self.files += 1
                self.rejected += rejected
            case SeedDomainDone():
                self.domains += 1
            case SeedFailed(is_dead=True):
                self.dead += 1
            case _:
                pass


class SeedPrinter:
    """What one command prints while it works on a dataset, and when that is over."""

    def __init__(self, *, json: bool, quiet: bool, verbose: bool) -> None:
        self._json = json
        self._quiet = quiet
        self._verbose = verbose
        self._is_live = sys.stderr.isatty() and not (json or quiet or verbose)
        self._display: Display | None = None
        self._standing: DatasetProgress | None = None
        self._elapsed_s = 0.0
        self.counts = SeedCounts()

    def listen(self, clock: Clock) -> EventSink:
        """Make the listener that suits where we are shown."""
        if self._is_live:
            self._display = Display(
                lambda: _view(self._standing, self._elapsed_s, self.counts.domains)
            )
            return EventFanOut(self.counts, self._display)
        lines = EventLines(sys.stdout if self._json else sys.stderr, clock)
        untold = () if self._verbose else (RobotsFetched,)
        chosen = EventsOnly(PROBLEM_EVENTS, lines) if self._quiet else EventsExcept(untold, lines)
        return EventFanOut(self.counts, chosen, wants_details=self._verbose)

    @asynccontextmanager
    async def live(self, seeding: SeedContext, which: PartitionFilter) -> AsyncIterator[None]:
        """Draw during the work; an error of either is raised unchanged."""
        if self._display is None:
            yield
            return
        try:
            async with asyncio.TaskGroup() as group:
                following = group.create_task(self._follow(seeding, which), name="follow")
                self._display.start()
                try:
                    yield
                    self._standing = await read_progress(seeding, which)
                finally:
                    following.cancel()
                    self._display.stop()
        except* GeomiError as failures:
            raise first_error(failures) from failures

    async def _follow(self, seeding: SeedContext, which: PartitionFilter) -> None:
        clock = seeding.world.clock
        first_s = clock.now_s()
        while True:
            began_s = clock.now_s()
            self._standing = await read_progress(seeding, which)
            self._elapsed_s = began_s - first_s
            # Counting 200,000 domains takes 0.3 s, in which nobody else is heard.
            await asyncio.sleep(max(LOOK_S, LOOK_SHARE * (clock.now_s() - began_s)))

    def conclude(
        self,
        found: OrchestrationReport,
        standing: DatasetProgress,
        alarms: tuple[Alarm, ...],
        seconds: float,
    ) -> None:
        """Print the work of this run, the progress of the dataset, and alarms."""
        done = self.counts
        if self._json:
            ended = {
                "event": "ended",
                **asdict(found),
                **asdict(done),
                "seconds": round(seconds, 3),
            }
            print_json(
                {
                    **ended,
                    **asdict(make_report(standing)),
                    "alarms": [asdict(one) for one in alarms],
                }
            )
            return
        for alarm in alarms:
            note(f"warning: alarm {alarm.rule}: {alarm.message}")
        if self._quiet:
            return
        note(
            f"{found.sent} of {found.files_found} raw files queued, {found.skipped} skipped; "
            f"{done.files} files and {done.domains} domains done, {done.rejected} records "
            f"rejected, {done.dead} dead letters in {seconds:.1f} s"
        )
        note(
            f"files: {describe_tally(standing.files)}; domains: {describe_tally(standing.domains)}"
        )
        if done.rejected:
            note("hint: rejects/ of the dataset says which records were rejected, and why")
        hint_about_layout(found.files_found)


def hint_about_layout(files: int) -> None:
    """Print the layout of raw files if none was found: the root or a filter may be wrong."""
    if not files:
        note(f"hint: the dataset has no raw file; a raw file is named {RAW_FORM}")


def describe_tally(tally: TaskTally) -> str:
    """Write a tally in a few words."""
    failed = f", {tally.failed:,} failed" if tally.failed else ""
    waiting = f", {tally.pending:,} waiting" if tally.pending else ""
    return f"{tally.processed:,} of {tally.total:,}{failed}{waiting}"


def _view(standing: DatasetProgress | None, elapsed_s: float, done: int) -> Table:
    """Lay out how far a dataset is, after some time in which so many domains were done."""
    table = grid()
    if standing is not None:
        table.add_row("files", describe_tally(standing.files))
        table.add_row("domains", describe_tally(standing.domains))
        lent = standing.seed_queue.lent + standing.domain_queue.lent
        table.add_row("messages", f"{standing.waiting - lent:,} waiting, {lent:,} borrowed")
        table.add_row("dead letters", f"{standing.dead_letters:,}")
        table.add_row("time", spent(elapsed_s, _left_s(standing, elapsed_s, done)))
    return table


def _left_s(standing: DatasetProgress, elapsed_s: float, done: int) -> float | None:
    """Estimate how long the waiting domains take; None while it is unknown."""
    waiting = standing.domains.pending
    if not done or not waiting or standing.files.pending:
        return None
    return waiting * elapsed_s / done
