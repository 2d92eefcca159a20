"""Workers as the supervisor sees them: one in this process, or several in processes of their own.

A worker process has one pipe to its starter. It receives its order through the pipe and sends
events and its result back. It drains on SIGTERM, and a second SIGTERM ends it at once. The starter
forks workers early, while it has no threads, or else starts a fresh interpreter.

Neither side trusts the other to be able to act:
- The event loop of a worker sends a beat every second. A worker that lives and does not beat is
  ended by its starter, with SIGTERM and then SIGKILL, and counts as dead.
- A worker ends when its starter is gone, which closes the pipe. Its loop sees that and gives up the
  work in hand; a thread sees it, too, and ends a process whose loop does not.
"""

from __future__ import annotations

import asyncio
import gc
import multiprocessing
import os
import resource
import select
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection
from typing import NoReturn, TypeVar

from geomi.engine.worker.loop import Worker
from geomi.errors import GeomiError
from geomi.model.event import Event, Warned
from geomi.model.job import StopReason
from geomi.ports.runtime import EventSink

BEAT_S = 1.0
ANSWER_S = 30.0  # without a beat for so long, a worker does not answer any more
LEAVING_S = 10.0  # the same after a signal has asked it to end
STARTING = 4  # times as long until its first beat: it imports libraries, on a busy machine
TERM_S = 5.0  # from SIGTERM to SIGKILL, for one that does not answer
ORPHAN_S = 10.0  # from the end of the starter to the end of a worker that does not see it

# A page makes thousands of values and hardly a cycle among them. Looking for cycles less often
# saved 5 % of a crawl's CPU at the same resident size (bench/crawl.py, 5,000 pages, two workers).
COLLECT_EVERY = (50_000, 20, 50)

# As many as a system may allow; past it no process of ours would get.
MOST_HANDLES = 65_536

T = TypeVar("T")
_BEAT: list[Event] = []  # a message without events


def raise_handle_limit() -> int:
    """Let this process, and those that it starts, open as many files as the system allows.

    Returns:
        how many that are.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = MOST_HANDLES if hard == resource.RLIM_INFINITY else min(hard, MOST_HANDLES)
    if soft == resource.RLIM_INFINITY or soft >= most:
        return MOST_HANDLES if soft == resource.RLIM_INFINITY else soft
    with suppress(OSError, ValueError):  # some systems allow less than they say
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
        return most
    return soft


def relax_garbage_collector() -> None:
    """Let Python's collector rest, in a process that does nothing but crawl."""
    gc.freeze()  # what was imported stays for good
    gc.set_threshold(*COLLECT_EVERY)


class LocalWorkerHandle:
    """A worker in this process."""

    def __init__(self, owner: str, worker: Worker) -> None:
        self.owner = owner
        self._worker = worker

    async def wait(self) -> StopReason | None:
        """Run the worker to its end."""
        return await self._worker.run()

    def drain(self) -> None:
        """Let it finish what is in flight."""
        self._worker.drain()

    def abandon(self) -> None:
        """Let it end now."""
        self._worker.abandon()


@dataclass(frozen=True, slots=True)
class WorkerProcessResult:
    """What a worker process says before it ends: its reason, or the error that ended it."""

    stop: StopReason | None
    error: Exception | None = None


@dataclass(frozen=True, slots=True)
class StartedProcess:
    """A worker process that waits for its order; `wait` returns when it has ended."""

    pid: int
    pipe: Connection
    wait: Callable[[], object]


def fork_workers(count: int, life: Callable[[Connection], None]) -> list[StartedProcess]:
    """Fork workers that wait for their orders; only for a process without threads.

    It saves each of them half a second of imports. An empty list, on systems where forking is not
    safe, means that they have to be started as programs.
    """
    if sys.platform != "linux":
        return []
    started: list[StartedProcess] = []
    for _ in range(count):
        ours, theirs = multiprocessing.Pipe()
        pid = os.fork()
        if pid == 0:
            for pipe in (ours, *(other.pipe for other in started)):
                pipe.close()  # or no worker would see the starter go
            _live(life, theirs)
        theirs.close()
        started.append(StartedProcess(pid, ours, partial(os.waitpid, pid, 0)))
    return started


def start_worker(program: str) -> StartedProcess:
    """Start a worker as a program of its own: `python -m PROGRAM DESCRIPTOR`."""
    ours, theirs = multiprocessing.Pipe()
    process = subprocess.Popen(
        [sys.executable, "-m", program, str(theirs.fileno())],
        pass_fds=[theirs.fileno()],
        stdin=subprocess.DEVNULL,
        start_new_session=True,
    )
    theirs.close()
    return StartedProcess(process.pid, ours, process.wait)


def _live(life: Callable[[Connection], None], pipe: Connection) -> NoReturn:
    """Be a forked worker: nothing of the starter's may run here, whatever happens."""
    os.setsid()  # Ctrl-C is for the starter to translate
    code = 1
    try:
        life(pipe)
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


class ProcessWorkerHandle:
    """A worker in a process of its own.

    Args:
        order: its order; anything that can be pickled.
        answer_s: without a beat for so long, it is ended.
    """

    def __init__(
        self,
        owner: str,
        started: StartedProcess,
        order: object,
        sink: EventSink,
        *,
        answer_s: float = ANSWER_S,
    ) -> None:
        self.owner = owner
        self.is_answering = True
        self._sink = sink
        self._answer_s = answer_s
        self._messages = 0
        self._word: WorkerProcessResult | None = None
        self._process = started
        self._ours = started.pipe
        with suppress(OSError):  # one that died already is found dead by `wait`
            self._ours.send(order)

    async def wait(self) -> StopReason | None:
        """Hand on its events until it ends; return its reason, None when it died without a word."""
        loop = asyncio.get_running_loop()
        ended = asyncio.Event()
        loop.add_reader(self._ours.fileno(), self._listen, ended)
        try:
            async with asyncio.TaskGroup() as group:
                watching = group.create_task(self._watch(), name=f"watch {self.owner}")
                await ended.wait()
                watching.cancel()
        finally:
            loop.remove_reader(self._ours.fileno())
        await asyncio.to_thread(self._process.wait)
        self._ours.close()
        if self._word is None:
            return None
        if self._word.error is not None:
            raise self._word.error
        return self._word.stop

    def drain(self) -> None:
        """Ask it to finish what is in flight."""
        self._answer_s = min(self._answer_s, LEAVING_S)
        self._signal(signal.SIGTERM)

    def abandon(self) -> None:
        """Ask it to end now; a second SIGTERM means just that."""
        self.drain()

    def _signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            os.kill(self._process.pid, number)

    async def _watch(self) -> None:
        """End the process if it does not answer; `wait` notices that it has ended.

        Looks are counted, so that a starter which was itself stopped for a while ends nobody:
        between two looks it reads what has arrived meanwhile.
        """
        while True:
            await self._silence()
            self.is_answering = False
            told = f"the worker process {self._process.pid} ({self.owner}) does not answer"
            self._sink.emit(Warned("", told, "it is ended, and what it held is lent again"))
            self._signal(signal.SIGTERM)
            heard = self._messages
            await asyncio.sleep(TERM_S)
            if self._messages == heard:
                self._signal(signal.SIGKILL)
                return
            self.is_answering = True

    async def _silence(self) -> None:
        """Return when no beat has come for too long."""
        heard, silent_s = self._messages, 0.0
        while silent_s < self._answer_s * (1 if self._messages else STARTING):
            await asyncio.sleep(BEAT_S)
            silent_s = silent_s + BEAT_S if self._messages == heard else 0.0
            heard = self._messages

    def _listen(self, ended: asyncio.Event) -> None:
        try:
            while self._ours.poll():
                message = self._ours.recv()
                self._messages += 1
                if isinstance(message, WorkerProcessResult):
                    self._word = message
                    continue
                for event in message:
                    self._sink.emit(event)
        except (EOFError, OSError):
            ended.set()


def carry_out(
    pipe: Connection, kind: type[T], work: Callable[[T], Coroutine[None, None, StopReason | None]]
) -> None:
    """Wait for an order, carry it out, and say how it ended; the starter may be gone by then."""
    try:
        order = pipe.recv()
    except (EOFError, ConnectionResetError):
        return  # the starter went without a word
    assert isinstance(order, kind)
    threading.Thread(target=_end_with_starter, args=(pipe.fileno(),), daemon=True).start()
    try:
        word = WorkerProcessResult(asyncio.run(_beating(pipe, work(order))))
    except GeomiError as error:
        word = WorkerProcessResult(None, error)
    with suppress(OSError):
        pipe.send(word)
    pipe.close()


def _end_with_starter(descriptor: int) -> None:
    """End this process if its starter is gone, even where the event loop is not able to."""
    starter = select.poll()
    starter.register(descriptor, 0)  # nothing but its end; the loop reads it
    starter.poll()
    time.sleep(ORPHAN_S)
    os._exit(1)


async def _beating(pipe: Connection, work: Coroutine[None, None, T]) -> T:
    """Do some work, and show the starter meanwhile that the loop of this process runs."""

    loop = asyncio.get_running_loop()

    def beat() -> None:
        with suppress(OSError):
            pipe.send(_BEAT)
        loop.call_later(BEAT_S, beat)

    beat()
    return await work


class PipeSink:
    """Sends a worker process's events to its starter, those of one moment together."""

    def __init__(self, pipe: Connection) -> None:
        self._pipe = pipe
        self._events: list[Event] = []

    def emit(self, event: Event) -> None:
        """Take one event; a batch of settled pages becomes one message."""
        if not self._events:
            asyncio.get_running_loop().call_soon(self.flush)
        self._events.append(event)

    def flush(self) -> None:
        """Send all events; a missing reader is not an error."""
        events, self._events = self._events, []
        if events:
            with suppress(OSError):
                self._pipe.send(events)


def stop_on_signal(
    pipe: Connection, drain: Callable[[], object], abandon: Callable[[], object]
) -> None:
    """Let signals and the end of the starting process reach the work of this process."""
    loop = asyncio.get_running_loop()
    calls = iter((drain,))
    loop.add_signal_handler(signal.SIGTERM, lambda: next(calls, abandon)())

    def starter_is_gone() -> None:
        loop.remove_reader(pipe.fileno())
        abandon()

    loop.add_reader(pipe.fileno(), starter_is_gone)
