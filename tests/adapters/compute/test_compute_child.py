"""Extraction in a process that answers, is killed in time, comes back, and never outlives us."""

from __future__ import annotations

import asyncio
import os
import select
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from geomi.adapters.compute import child as children
from geomi.adapters.compute.child import ChildCompute
from geomi.adapters.compute.child_program import (
    MAX_REPLY_BYTES,
    ExtractionRequest,
    frame,
    pack_article,
    pack_request,
    read_article,
    read_request,
)
from geomi.errors import GeomiError
from geomi.extract.page import extract
from geomi.model.config import Extraction, ImageStyle, LinkStyle
from geomi.model.page import Article, PageLink
from geomi.ports.runtime import Compute, Unread
from tests.support.waiting import waits

URL = "https://a.test/page"
HTML = "text/html; charset=utf-8"
PAGE = (
    "<html lang=ko><head><title>한 Title</title><meta name=robots content=noindex></head><body>"
    "<main><h1>Hello</h1><p>" + "Some words to keep, with a <a href=/next>link</a>. " * 20 + "</p>"
    "</main></body></html>"
).encode()
RULES = Extraction(remove=("nav", ".ad"), links=LinkStyle.TEXT, images=ImageStyle.ALT)
# Far more work than the deadline below allows on any machine, and well inside the memory limit.
HUGE = b"<div><p>" + b"<p>word <a href=/a>link</a>" * 200_000
AT_ONCE_S = 0.01
AMPLE_S = 60.0


@asynccontextmanager
async def using() -> AsyncIterator[ChildCompute]:
    """Give a test a compute of its own, and leave nothing behind."""
    compute = ChildCompute()
    try:
        yield compute
    finally:
        await compute.aclose()
    assert compute.pid is None


async def ask(
    compute: Compute, body: bytes = PAGE, *, deadline_s: float = AMPLE_S
) -> Article | Unread:
    return await compute.extract(body, URL, HTML, RULES, max_links=10_000, deadline_s=deadline_s)


def is_gone(pid: int, *, within_s: float = 30.0) -> bool:
    """Wait for the end of any process, ours or not."""
    try:
        watch = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([watch], [], [], within_s)[0])
    finally:
        os.close(watch)


def sockets(pid: int | None) -> list[str]:
    """Return the sockets that a process holds."""
    held = (str(link.readlink()) for link in Path(f"/proc/{pid}/fd").iterdir())
    return [name for name in held if name.startswith("socket:")]


@waits
async def test_the_child_answers_as_the_stage_itself_would() -> None:
    async with using() as compute:
        assert compute.pid is None  # nothing runs before it is needed
        article = await ask(compute)
        assert article == extract(PAGE, URL, HTML, RULES, max_links=10_000)
        assert isinstance(article, Article)
        assert article.links
        first = compute.pid
        assert await ask(compute, b"") == extract(b"", URL, HTML, RULES, max_links=10_000)
        assert compute.pid == first


@waits
async def test_a_page_that_takes_too_long_is_given_up_and_the_next_is_not() -> None:
    async with using() as compute:
        assert isinstance(await ask(compute), Article)
        pid = compute.pid
        assert pid is not None
        slow = Unread("reading it took longer than 0.01 s")
        assert await ask(compute, HUGE, deadline_s=AT_ONCE_S) == slow
        assert is_gone(pid)
        assert isinstance(await ask(compute), Article)
        assert compute.pid != pid


@waits
async def test_a_child_killed_at_work_costs_its_page_alone() -> None:
    async with using() as compute:
        assert isinstance(await ask(compute), Article)
        pid = compute.pid
        assert pid is not None
        async with asyncio.TaskGroup() as group:
            working = group.create_task(ask(compute, HUGE))
            await asyncio.sleep(0)
            os.kill(pid, signal.SIGKILL)
        assert working.result() == Unread("the process that read it was ended by SIGKILL")
        assert isinstance(await ask(compute), Article)


@waits
async def test_a_child_killed_while_idle_costs_nothing() -> None:
    async with using() as compute:
        assert isinstance(await ask(compute), Article)
        pid = compute.pid
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        assert is_gone(pid)
        assert isinstance(await ask(compute), Article)
        assert compute.pid != pid


@waits
async def test_pages_are_taken_one_after_the_other_while_the_loop_goes_on() -> None:
    async with using() as compute:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(ask(compute)) for _ in range(5)]
            turns = 0
            while not all(task.done() for task in tasks):
                turns += 1
                await asyncio.sleep(0)
        assert turns > 5
        assert all(isinstance(task.result(), Article) for task in tasks)


@waits
async def test_a_page_that_nobody_waits_for_any_more_leaves_no_answer_behind() -> None:
    async with using() as compute:
        assert isinstance(await ask(compute), Article)
        waiting = asyncio.ensure_future(ask(compute, HUGE))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        article = await ask(compute)
        assert isinstance(article, Article)
        assert article.title == "한 Title"


@waits
async def test_the_child_holds_no_socket_of_ours() -> None:
    async with using() as compute:
        server = await asyncio.start_server(lambda *_: None, "127.0.0.1", 0)
        async with server:
            assert isinstance(await ask(compute), Article)
            assert len(sockets(compute.pid)) == 1


@pytest.mark.slow
@waits
async def test_the_child_may_not_outgrow_its_memory() -> None:
    async with using() as compute:
        assert isinstance(await ask(compute), Article)
        # 600 MiB do not fit into 512, so the child ends before it has read the page.
        large = Unread("reading it took more than 512 MiB of memory")
        assert await ask(compute, bytes(600 * 1024 * 1024)) == large
        assert isinstance(await ask(compute), Article)


def test_the_child_dies_with_its_parent() -> None:
    program = (
        "import asyncio, os, signal\n"
        "from geomi.adapters.compute.child import ChildCompute\n"
        "from geomi.model.config import Extraction\n"
        "async def main():\n"
        "    compute = ChildCompute()\n"
        "    rules = Extraction()\n"
        "    await compute.extract(b'', 'u', 'text/html', rules, max_links=9, deadline_s=60)\n"
        "    print(compute.pid, flush=True)\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
        "asyncio.run(main())\n"
    )
    done = subprocess.run(
        (sys.executable, "-c", program),
        env={"PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
        check=False,
    )
    assert done.returncode == -signal.SIGKILL
    assert is_gone(int(done.stdout))


@waits
async def test_a_child_that_does_not_start_is_said_aloud(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(children, "PROGRAM", "geomi.nowhere")

    async with using() as compute:
        with pytest.raises(GeomiError, match="does not start"):
            await ask(compute)


@waits
async def test_an_answer_past_its_limit_is_none() -> None:
    reader = asyncio.StreamReader()
    reader.feed_data((MAX_REPLY_BYTES + 1).to_bytes(8, "big") + b"{}")
    assert await children._reply(reader) == b""


def test_messages_come_back_as_they_went() -> None:
    question = ExtractionRequest(URL, HTML, RULES, 7)
    packed = b"".join(pack_request(question, b"body"))
    length = int.from_bytes(packed[:8], "big")
    assert read_request(packed[8 : 8 + length]) == question
    assert packed[8 + length :] == frame(b"body")
    article = Article(
        "t", "m", "x", (PageLink("u", "한", "nofollow"),), robots=frozenset({"a", "b"}),
        metadata=(("k", "v"),),
    )  # fmt: skip
    assert read_article(pack_article(article)[8:]) == article


@pytest.mark.parametrize("answer", [b"", b"{", b"[]", b'{"title":1}', b"\xff", b"ready"])
def test_an_answer_that_is_no_article_is_none(answer: bytes) -> None:
    assert read_article(answer) is None
