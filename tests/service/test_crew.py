"""The processes beside a server: one that dies is followed by another, and all end when told to."""

from __future__ import annotations

import asyncio
import errno
import os
import signal
from functools import partial
from pathlib import Path

import pytest

from geomi.adapters.machine import processes
from geomi.adapters.machine.processes import ProcessWorkerHandle, StartedProcess, start_worker
from geomi.model.worker import Suspect, WorkKind
from geomi.processes import serve
from geomi.processes.serve import ServeOrder, ServiceProcesses, ServiceProcessKind
from tests.api.asking import LOCAL
from tests.service.working import until
from tests.support.crawl import Ear
from tests.support.waiting import waits

STUCK_PROGRAM = "tests.support.stuck_worker"


@waits
async def test_one_that_dies_is_followed_by_another_and_all_end_when_drained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serve, "FIRST_REST_S", 0.01)
    started: list[StartedProcess] = []

    refusals = iter([OSError(errno.EMFILE, os.strerror(errno.EMFILE))])

    def start(program: str) -> StartedProcess:
        if (refused := next(refusals, None)) is not None:
            raise refused
        started.append(start_worker(program))
        return started[-1]

    monkeypatch.setattr(serve, "start_worker", start)

    ear = Ear()
    errands = tuple(ServeOrder(tmp_path, LOCAL, kind) for kind in ServiceProcessKind)
    many = ServiceProcesses(errands, ear)
    assert not many.is_whole

    async def are_there(count: int) -> bool:
        return many.is_whole and len(started) == count

    async with asyncio.TaskGroup() as group:
        group.create_task(many.run(), name="crew")
        await until(partial(are_there, len(errands)))
        os.kill(started[0].pid, signal.SIGKILL)
        await until(partial(are_there, len(errands) + 1))
        many.drain()
    assert any("died; another replaces it" in text for text in ear.warnings)
    assert any("could not be started: Too many open files" in text for text in ear.warnings)
    assert not many.is_whole
    assert len(started) == len(errands) + 1  # nobody follows those who were told to leave


@pytest.mark.slow
@waits
async def test_one_that_is_stuck_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its loop answered, and then never again; it counts as dead."""
    monkeypatch.setattr(processes, "TERM_S", 0.1)
    ear = Ear()
    stuck = ProcessWorkerHandle("stuck", start_worker(STUCK_PROGRAM), 1, ear, answer_s=1)
    assert await stuck.wait() is None
    assert len(ear.warnings) == 1


@waits
async def test_one_that_is_stuck_ends_with_its_starter() -> None:
    """The thread beside its loop sees that the pipe has ended."""
    started = start_worker(STUCK_PROGRAM)
    started.pipe.send(0)
    started.pipe.recv()  # its first beat
    started.pipe.close()
    assert await asyncio.to_thread(started.wait) == 1


@waits
async def test_who_died_of_something_known_is_followed_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pause that grows helps a store that is away; a page that kills is isolated instead."""
    monkeypatch.setattr(serve, "FIRST_REST_S", 0.01)
    monkeypatch.setattr(serve, "LONGEST_REST_S", 60.0)
    lives = []

    async def explain() -> list[Suspect]:
        return [Suspect(WorkKind.PAGE, b"", "", 1, "w-1", 0.0)]

    def start(program: str) -> StartedProcess:
        started = start_worker(program)
        lives.append(started.pid)
        if len(lives) < 20:  # the twentieth pause would be of hours, if it grew
            os.kill(started.pid, signal.SIGKILL)
        return started

    monkeypatch.setattr(serve, "start_worker", start)
    order = ServeOrder(tmp_path, LOCAL, ServiceProcessKind.CRAWL)
    many = ServiceProcesses((order,), ear := Ear(), explain)

    async def is_there() -> bool:
        return len(lives) == 20

    async with asyncio.TaskGroup() as group:
        group.create_task(many.run(), name="crew")
        await until(is_there)
        many.drain()
    assert len(ear.warnings) == 19
    assert all("replaces it in 0.01 s" in warning for warning in ear.warnings)


@pytest.mark.parametrize(
    "program",
    [
        serve.SERVE_PROGRAM,
        "geomi.processes.crawl",
        "geomi.processes.index",
        "geomi.processes.seeds",
    ],
)
def test_one_whose_starter_goes_without_a_word_ends_quietly(
    program: str, capfd: pytest.CaptureFixture[str]
) -> None:
    """As when the server finds its port taken while its processes still start."""
    started = start_worker(program)
    started.pipe.close()
    assert started.wait() == 0
    assert capfd.readouterr().err == ""
