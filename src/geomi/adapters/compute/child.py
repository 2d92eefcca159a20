"""Extraction in one child process: started when first needed, killed when it does not answer.

A fresh interpreter on a socket pair rather than `multiprocessing`: it inherits nothing but that one
socket, runs none of our caller's `__main__`, and needs no second process to watch it. The deadline
covers the page alone, not the start of the child.
"""

from __future__ import annotations

import asyncio
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import TypeVar

import geomi
from geomi.adapters.compute.child_program import (
    EXTRA_MEMORY_BYTES,
    LENGTH,
    MAX_REPLY_BYTES,
    NO_MEMORY,
    READY,
    SURVIVED,
    ExtractionRequest,
    pack_request,
    read_article,
)
from geomi.errors import GeomiError
from geomi.model.config import Extraction
from geomi.model.page import Article
from geomi.ports.runtime import Rehearsal, Unread

T = TypeVar("T")
PROGRAM = "geomi.adapters.compute.child_program"
# A start takes half a second of one core; a machine under load may be many times slower.
START_TIMEOUT_S = 60.0
PIECE_BYTES = 64 * 1024  # what asyncio lets wait on either way
# The folder that holds our package: `-m` looks there first and not in the caller's folder, where a
# file that happens to be called `orjson.py` would be imported.
_HOME = Path(geomi.__file__).resolve().parents[1]


class ChildCompute:
    """Large pages, one at a time, in a process that can be killed."""

    def __init__(self) -> None:
        self._turn = asyncio.Lock()
        self._child: _Child | None = None

    @property
    def pid(self) -> int | None:
        """The child's process id, while there is one."""
        return None if self._child is None else self._child.process.pid

    async def extract(
        self,
        body: bytes,
        url: str,
        content_type: str,
        rules: Extraction,
        *,
        max_links: int,
        deadline_s: float,
    ) -> Article | Unread:
        """Extract a page that is large or suspect, or say why that failed."""
        question = ExtractionRequest(url, content_type, rules, max_links)
        answer = await self._answer(question, body, read_article, deadline_s)
        return answer

    async def rehearse(self, what: Rehearsal, body: bytes, *, deadline_s: float) -> Unread | None:
        """Read something that no other process should read before; say why that failed."""
        answer = await self._answer(what, body, _survived, deadline_s)
        return answer if isinstance(answer, Unread) else None

    async def _answer(
        self,
        question: ExtractionRequest | Rehearsal,
        body: bytes,
        read: Callable[[bytes], T | None],
        deadline_s: float,
    ) -> T | Unread:
        """Ask the child; if it does not answer, what it reads is to blame, and it is replaced."""
        async with self._turn:
            child = await self._living_child()
            answer: T | None = None
            problem = Unread("its answer could not be read", crashed=True)
            try:
                async with asyncio.timeout(deadline_s):
                    answer = read(await _ask(child, question, body))
            except TimeoutError:
                problem = Unread(f"reading it took longer than {deadline_s:g} s")
            except (OSError, EOFError):
                problem = await _cause_of_death(child)
            finally:
                if answer is None:
                    await self._end()
            return problem if answer is None else answer

    async def aclose(self) -> None:
        """End the process."""
        async with self._turn:
            await self._end()

    async def _living_child(self) -> _Child:
        """Return the child; replace one that died while idle, and blame no page for it."""
        if self._child is not None and self._child.process.poll() is not None:
            await self._end()
        if self._child is None:
            self._child = await _start()
        return self._child

    async def _end(self) -> None:
        if self._child is not None:
            child, self._child = self._child, None
            await _kill(child)


@dataclass(frozen=True, slots=True)
class _Child:
    process: subprocess.Popen[bytes]
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter


async def _start() -> _Child:
    ours, theirs = socket.socketpair()
    with theirs:
        reader, writer = await asyncio.open_connection(sock=ours)
        # A session of its own: Ctrl-C in a terminal is for the parent, which ends in its own time.
        process = subprocess.Popen(  # noqa: ASYNC220  (a millisecond, once a child)
            (sys.executable, "-m", PROGRAM),
            stdin=theirs.fileno(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=_HOME,
            start_new_session=True,
        )
    child = _Child(process, reader, writer)
    is_ready = False
    try:
        async with asyncio.timeout(START_TIMEOUT_S):
            is_ready = await _reply(child.reader) == READY
    except (TimeoutError, OSError, EOFError):
        pass  # said below, with what to do about it
    finally:
        if not is_ready:
            await _kill(child)
    if not is_ready:
        raise GeomiError(
            "the process that extracts large pages does not start",
            hint=f"run `{sys.executable} -c 'import geomi.extract.page'` to see why",
        )
    return child


def _survived(answer: bytes) -> bool | None:
    return True if answer == SURVIVED else None


async def _cause_of_death(child: _Child) -> Unread:
    """Say how a child ended that closed the connection."""
    child.process.kill()  # nothing happens to one that is dead
    code = await asyncio.to_thread(child.process.wait)
    if code == NO_MEMORY:
        return Unread(f"reading it took more than {EXTRA_MEMORY_BYTES // 2**20} MiB of memory")
    if code < 0:  # SIGKILL comes from outside: of a person, or where a machine has no memory left
        reason = f"the process that read it was ended by {_signal_name(-code)}"
        return Unread(reason, crashed=code != -signal.SIGKILL)
    return Unread(f"the process that read it ended with code {code}", crashed=True)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


async def _ask(child: _Child, question: ExtractionRequest | Rehearsal, body: bytes) -> bytes:
    head, body = pack_request(question, body)
    child.writer.write(head)
    for start in range(0, len(body), PIECE_BYTES):  # at once, asyncio would copy the whole page
        child.writer.write(body[start : start + PIECE_BYTES])
        await child.writer.drain()
    return await _reply(child.reader)


async def _reply(reader: asyncio.StreamReader) -> bytes:
    """Read one frame; an answer above the limit counts as missing."""
    (length,) = LENGTH.unpack(await reader.readexactly(LENGTH.size))
    if length > MAX_REPLY_BYTES:
        return b""
    content = BytesIO()  # `readexactly` would hold it twice
    while left := length - content.tell():
        content.write(await reader.readexactly(min(left, PIECE_BYTES)))
    return content.getvalue()


async def _kill(child: _Child) -> None:
    """End a child whatever it is doing, and wait until it is gone."""
    child.process.kill()
    child.writer.transport.abort()  # not `close`: a page half sent has nowhere to go
    with suppress(OSError):
        await child.writer.wait_closed()
    await asyncio.to_thread(child.process.wait)
