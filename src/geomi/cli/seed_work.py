"""Work on a dataset as a command does it: until nothing is left or somebody says enough."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Sequence

from geomi.adapters.machine.processes import StartedProcess, fork_workers, relax_garbage_collector
from geomi.app.use.datasets import SeedWorkers
from geomi.cli.chosen import Chosen, opened
from geomi.cli.seed_show import SeedShow
from geomi.cli.talk import note
from geomi.engine.seeds.orchestrate import orchestrate
from geomi.engine.seeds.report import EVERYTHING, judge_seeds, read_progress
from geomi.errors import StoreError
from geomi.model.dataset.seed import OrchestrationReport
from geomi.processes.seeds import live


def standby(chosen: Chosen) -> list[StartedProcess]:
    """Start the other processes, before this one has a thread."""
    relax_garbage_collector()
    return fork_workers(chosen.workers - 1, live)


async def run_to_end(
    chosen: Chosen, show: SeedShow, waiting: Sequence[StartedProcess], *, force: bool
) -> bool:
    """Send, work, and tell; return whether somebody cut it short."""
    async with opened(chosen, show.listen, create=True) as (home, seeding):
        order = chosen.order(is_done_when_empty=True)
        team = SeedWorkers(home, seeding, order, workers=chosen.workers, standby=waiting)
        _obey_ctrl_c(team)
        began_s = home.world.clock.now_s()
        async with show.live(seeding, chosen.which):
            found = await team.begin(orchestrate(seeding, chosen.which, force=force))
            if found is None:
                return True
            await team.run()
        seconds = home.world.clock.now_s() - began_s
        standing = await read_progress(seeding, EVERYTHING)
        show.conclude(found, standing, judge_seeds(standing), seconds)
        refuse_unsent(found)
        return team.was_interrupted


async def serve_queues(chosen: Chosen, show: SeedShow, waiting: Sequence[StartedProcess]) -> None:
    """Work on whatever is sent until told to end."""
    async with opened(chosen, show.listen, create=True) as (home, seeding):
        order = chosen.order(is_done_when_empty=False)
        team = SeedWorkers(home, seeding, order, workers=chosen.workers, standby=waiting)
        _obey_ctrl_c(team)
        async with show.live(seeding, EVERYTHING):
            await team.run()


def refuse_unsent(found: OrchestrationReport) -> None:
    """Raise where raw files could not be sent, after all others were (SED-20)."""
    if found.unsent:
        raise StoreError(f"{found.unsent} raw files could not be sent", hint="run it again")


def _obey_ctrl_c(team: SeedWorkers) -> None:
    """First Ctrl-C (or SIGTERM): finish what is in hand. Second: stop now. Both can go on."""
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, _interrupt, team)


def _interrupt(team: SeedWorkers) -> None:
    is_second = team.interrupt()
    note("stopping now" if is_second else "finishing what is in hand; again to stop now")
