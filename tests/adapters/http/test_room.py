"""Room for large bodies: how much there is, who goes first, and that it always comes back."""

from __future__ import annotations

import asyncio
import gc
import gzip
import threading
from pathlib import Path

import pytest
import trustme

from geomi.adapters.http import Egress, EgressRules, HttpClient, parse_override
from geomi.adapters.http.decode import Body
from geomi.adapters.http.failure import FetchFailed
from geomi.adapters.http.response import ResponseReader
from geomi.adapters.http.room import FREE_BYTES, BodyMemory, Share
from geomi.model.page import Fetched, Request
from geomi.model.verdict import Outcome
from tests.adapters.http.support import ENCODERS, LOOPBACK, RealClock, request
from tests.adapters.http.test_tls import server_context
from tests.support.server import End, Raw, Reply, Route, Site
from tests.support.waiting import waits

MIB = 1024 * 1024
PAGE = b"".join(b"line %d of many;" % number for number in range(200_000))[: 2 * MIB]


# the room itself


class Queue:
    """Shares of one room, by name, and who was given his in which order."""

    def __init__(self, size_bytes: int) -> None:
        self.room = BodyMemory(size_bytes)
        self.given: list[str] = []
        self.shares: dict[str, Share] = {}

    def ask(self, name: str, need_bytes: int) -> None:
        self.shares[name] = self.room.ask(need_bytes, lambda: self.given.append(name))

    async def after(self, *leaving: str) -> list[str]:
        """Let some give back, and return who has been given room by then."""
        for name in leaving:
            self.shares[name].give_back()
        await asyncio.sleep(0)
        return self.given


@waits
async def test_gives_room_up_to_its_size_and_not_a_byte_more() -> None:
    queue = Queue(10)
    for name, need_bytes in (("a", 4), ("b", 6), ("c", 1)):
        queue.ask(name, need_bytes)
    assert queue.given == []  # nobody is told before the call that asks returns
    assert (await queue.after(), queue.room.taken_bytes) == (["a", "b"], 10)
    assert (await queue.after("a"), queue.room.taken_bytes) == (["a", "b", "c"], 7)


@waits
async def test_who_asked_first_goes_first_however_small_the_next_one_is() -> None:
    queue = Queue(10)
    for name, need_bytes in (("a", 6), ("b", 3), ("large", 8), ("small", 1)):
        queue.ask(name, need_bytes)
    assert await queue.after() == ["a", "b"]
    assert await queue.after("b") == ["a", "b"]
    assert await queue.after("a") == ["a", "b", "large", "small"]


@waits
async def test_who_gives_up_lets_the_next_one_go() -> None:
    queue = Queue(10)
    for name, need_bytes in (("a", 6), ("large", 8), ("small", 1)):
        queue.ask(name, need_bytes)
    assert await queue.after("large") == ["a", "small"]
    assert await queue.after("a", "small") == ["a", "small"]
    assert queue.room.taken_bytes == 0


@waits
async def test_nothing_is_given_back_twice() -> None:
    queue = Queue(10)
    queue.ask("a", 5)
    await queue.after("a", "a")
    assert queue.room.taken_bytes == 0


@waits
async def test_a_body_that_may_outgrow_the_room_gets_all_of_it() -> None:
    queue = Queue(10)
    queue.ask("huge", 11)
    queue.ask("next", 1)
    assert (await queue.after(), queue.room.taken_bytes) == (["huge"], 10)


@waits
async def test_an_answer_keeps_what_it_needs_as_long_as_somebody_holds_it() -> None:
    queue = Queue(10)
    queue.ask("a", 10)
    await queue.after()
    fetched = Fetched("http://a.test/", 200, body=b"1234")
    queue.shares["a"].keep_for(fetched)
    assert queue.room.taken_bytes == 4
    del fetched
    await queue.after()
    assert queue.room.taken_bytes == 0


@waits
async def test_the_last_to_hold_an_answer_may_be_a_thread() -> None:
    queue = Queue(10)
    queue.ask("a", 10)
    held = [Fetched("http://a.test/", 200, body=b"1234")]
    await queue.after()
    queue.shares["a"].keep_for(held[0])
    thread = threading.Thread(target=held.clear)
    thread.start()
    thread.join()
    await queue.after()
    assert queue.room.taken_bytes == 0


@waits
async def test_an_answer_may_outlive_its_loop() -> None:
    held = []

    queue = Queue(10)
    queue.ask("a", 10)
    await queue.after()
    held.append(Fetched("http://a.test/", 200, body=b"1234"))
    queue.shares["a"].keep_for(held[0])
    held.clear()  # an exception here would be an unraisable warning, and so an error


# a body that is held


def held(body: Body) -> bool:
    """Ask anew: what a body says changes with what it is fed."""
    return body.is_held


@pytest.mark.parametrize("encoder", ENCODERS)
def test_a_coded_body_is_held_in_the_middle_of_one_packet(encoder: str) -> None:
    coding, encode = ENCODERS[encoder]
    coded = encode(PAGE)
    body = Body(coding, 8 * MIB, free_bytes=FREE_BYTES)
    body.feed(coded[:-100])
    body.feed(coded[-100:])
    assert held(body)
    assert body._out.tell() == 0  # it is decoded once more when there is room
    body.proceed()
    assert not held(body)
    assert body.finish() == PAGE


def test_a_body_is_held_above_its_free_size() -> None:
    body = Body("", 8 * MIB, free_bytes=FREE_BYTES)
    body.feed(PAGE[:FREE_BYTES])
    assert not held(body)
    body.feed(PAGE[FREE_BYTES : FREE_BYTES + 1])
    body.feed(PAGE[FREE_BYTES + 1 :])
    assert held(body)
    body.proceed()
    body.feed(PAGE)
    assert not held(body)
    assert body.finish() == PAGE * 2


@pytest.mark.parametrize("encoder", ENCODERS)
def test_what_is_cut_short_is_cut_after_it_was_held(encoder: str) -> None:
    coding, encode = ENCODERS[encoder]
    body = Body(coding, 3 * MIB // 2, truncate=True, free_bytes=FREE_BYTES)
    body.feed(encode(PAGE))
    assert (body.is_held, body.is_cut) == (True, False)
    body.proceed()
    assert (body.is_held, body.is_cut) == (False, True)
    assert body.finish() == PAGE[: 3 * MIB // 2]


def test_a_body_that_is_held_has_the_same_limits() -> None:
    body = Body("gzip", 2 * MIB, free_bytes=FREE_BYTES)
    body.feed(gzip.compress(PAGE + b"x"))
    with pytest.raises(FetchFailed, match=f"larger than {2 * MIB} bytes"):
        body.proceed()


def test_what_goes_to_a_sink_is_never_held() -> None:
    taken: list[bytes] = []
    body = Body("", 8 * MIB, sink=taken.append, free_bytes=FREE_BYTES)
    body.feed(PAGE)
    assert (body.is_held, taken) == (False, [PAGE])


# fetches that share a room


def client_of(room: BodyMemory, rules: EgressRules = LOOPBACK) -> HttpClient:
    clock = RealClock()
    client = HttpClient(Egress(rules, clock), clock)
    client._room = room
    return client


def large(url: str, **changes: object) -> Request:
    """Ask for a page of which two do not fit into a room of 3 MiB."""
    return request(url, **{"max_bytes": 3 * MIB, **changes})


CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
ANSWERS: dict[str, Route] = {
    "with-a-length": Reply(PAGE),
    "an-error": Reply(PAGE, status=404),
    "coded": Reply(gzip.compress(PAGE), headers=(("Content-Encoding", "gzip"),)),
    "in-chunks": Raw((CHUNKED, b"%x\r\n" % len(PAGE), PAGE, b"\r\n0\r\n\r\n"), End.KEEP),
    "to-the-end": Raw((b"HTTP/1.1 200 OK\r\n\r\n", PAGE), End.CLOSE),
}


@pytest.mark.parametrize("name", ANSWERS)
@waits
async def test_a_large_body_waits_until_the_one_before_is_let_go(name: str) -> None:
    with Site({"/": ANSWERS[name]}) as site:
        room = BodyMemory(3 * MIB)
        client = client_of(room)
        first = await client.fetch(large(site.url()))
        assert (first.body == PAGE, room.taken_bytes) == (True, len(PAGE))
        second = asyncio.create_task(client.fetch(large(site.url(), read_timeout_s=0.1)))
        await asyncio.sleep(0.3)  # longer than a silence may be: this one is ours
        assert not second.done()
        del first
        assert (await second).body == PAGE
        del second
        await client.fetch(large(site.url()))
        await asyncio.sleep(0)
        assert room.taken_bytes == 0
        await client.aclose()


@waits
async def test_a_large_body_waits_behind_tls_too(tmp_path: Path) -> None:
    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))

    routes: dict[str, Route] = {"/": Reply(PAGE), "/to-the-end": ANSWERS["to-the-end"]}
    with Site(routes, tls=server_context(authority, "shop.test")) as site:
        override = parse_override(f"shop.test:{site.port}:127.0.0.1")
        rules = EgressRules(overrides=(override,), ca_file=tmp_path / "ca.pem")
        client = client_of(BodyMemory(3 * MIB), rules)
        for path in ("/", "/to-the-end"):
            first = await client.fetch(large(site.url(host="shop.test")))
            second = asyncio.create_task(client.fetch(large(site.url(path, host="shop.test"))))
            await asyncio.sleep(0.2)
            assert (first.body == PAGE, second.done()) == (True, False)
            del first
            assert (await second).body == PAGE
            del second
        await client.aclose()


@waits
async def test_small_pages_pass_those_that_wait() -> None:
    with Site({"/": Reply(PAGE), "/small": Reply(PAGE[:FREE_BYTES])}) as site:
        client = client_of(BodyMemory(3 * MIB))
        first = await client.fetch(large(site.url()))
        waiting = asyncio.create_task(client.fetch(large(site.url())))
        await asyncio.sleep(0.1)
        assert (await client.fetch(large(site.url("/small")))).body == PAGE[:FREE_BYTES]
        assert (waiting.done(), first.body == PAGE) == (False, True)
        del first
        await waiting
        await client.aclose()


@waits
async def test_who_waits_too_long_times_out_and_leaves_the_queue() -> None:
    with Site({"/": Reply(PAGE)}) as site:
        room = BodyMemory(3 * MIB)
        client = client_of(room)
        first = await client.fetch(large(site.url()))
        late = await client.fetch(large(site.url(), total_timeout_s=0.3))
        assert late.failure is Outcome.TIMEOUT
        assert "waited for free memory" in late.detail
        assert (room.taken_bytes, len(room._waiting)) == (len(first.body), 0)
        await client.aclose()


@waits
async def test_who_is_cancelled_leaves_the_queue() -> None:
    with Site({"/": Reply(PAGE)}) as site:
        room = BodyMemory(3 * MIB)
        client = client_of(room)
        first = await client.fetch(large(site.url()))
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.2):
                await client.fetch(large(site.url()))
        assert (room.taken_bytes, len(room._waiting)) == (len(first.body), 0)
        await client.aclose()


HEAD = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(PAGE)
BROKEN = {
    "cut-off": Raw((HEAD, PAGE[:-1]), End.CLOSE),
    "reset": Raw((HEAD, PAGE[:-1], 0.05), End.RESET),
    "silent": Raw((HEAD, PAGE[:-1]), End.SILENCE),
    "too-large": Raw((b"HTTP/1.1 200 OK\r\n\r\n", PAGE, PAGE), End.CLOSE),
    "not-chunked": Raw((CHUNKED, b"%x\r\n" % len(PAGE), PAGE, b"\r\nnonsense\r\n"), End.CLOSE),
}


@pytest.mark.parametrize("name", BROKEN)
@waits
async def test_a_body_that_breaks_off_gives_its_room_back(name: str) -> None:
    with Site({"/": BROKEN[name]}) as site:
        room = BodyMemory(3 * MIB)
        client = client_of(room)
        broken = await client.fetch(large(site.url(), read_timeout_s=0.3))
        assert broken.failure is not None
        assert (broken.body, room.taken_bytes) == (b"", 0)
        await client.aclose()


@waits
async def test_a_cancelled_body_gives_its_room_back() -> None:
    with Site({"/": BROKEN["silent"]}) as site:
        room = BodyMemory(3 * MIB)
        client = client_of(room)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.3):
                await client.fetch(large(site.url()))
        assert room.taken_bytes == 0
        await client.aclose()


@waits
async def test_a_body_that_waited_in_vain_is_not_left_to_the_garbage_collector() -> None:
    with Site({"/": ANSWERS["coded"]}) as site:
        gc.collect()
        gc.disable()
        try:
            client = client_of(BodyMemory(3 * MIB))
            first = await client.fetch(large(site.url()))
            late = await client.fetch(large(site.url(), total_timeout_s=0.3))
            assert (first.body == PAGE, late.failure) == (True, Outcome.TIMEOUT)
            await client.aclose()
            alive = [each for each in gc.get_objects() if isinstance(each, ResponseReader | Body)]
        finally:
            gc.enable()
    assert alive == []
