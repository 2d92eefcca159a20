"""Host names and the addresses the system gives for them, asked once and kept for a while.

Rules: `getaddrinfo` runs in a few threads with a deadline; one question per name is under way at a
time; answers are kept for 300 s, because the system tells no TTL (G-08 clamps one to 60-3600 s),
and failures for 60 s. Nothing here judges an address: the gate does, every time.
"""

from __future__ import annotations

import asyncio
import socket
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from geomi.ports.clock import Clock

KEPT_S = 300.0
FAILURE_KEPT_S = 60.0
MAX_KEPT_NAMES = 65_536
# The system's resolver gives up after 5 s and asks again; whoever is slower than this is not worth
# a slot of the crawl.
LOOKUP_TIMEOUT_S = 8.0
# Most of their time is waiting; a batch of dead names must not hold up the living.
LOOKUP_THREADS = 32

Lookup = Callable[[str], tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Answer:
    """The addresses of a name in the order to try them, or why there are none."""

    addresses: tuple[str, ...] = ()
    problem: str = ""
    good_until_s: float = 0.0


def look_up(name: str) -> tuple[str, ...]:
    """Ask the system for the addresses of a name; blocks, and raises what `getaddrinfo` raises."""
    # Bytes, because a str would go through the idna codec, which refuses names that DNS has.
    found = socket.getaddrinfo(name.encode("ascii"), None, type=socket.SOCK_STREAM)
    return tuple(dict.fromkeys(str(address[0]) for *_, address in found))


class Names:
    """The cache of answers."""

    def __init__(self, clock: Clock, lookup: Lookup = look_up) -> None:
        self._clock = clock
        self._lookup = lookup
        self._kept: OrderedDict[str, Answer] = OrderedDict()
        self._asked: dict[str, asyncio.Event] = {}
        self._threads = ThreadPoolExecutor(LOOKUP_THREADS, thread_name_prefix="geomi-dns")

    async def find(self, name: str) -> Answer:
        """Return what is known of a name, asking the system if need be."""
        while True:
            kept = self._kept.get(name)
            if kept is not None and self._clock.now_s() < kept.good_until_s:
                return kept
            under_way = self._asked.get(name)
            if under_way is None:
                return await self._ask(name)
            await under_way.wait()  # then look again: whoever asked may have been cancelled

    def close(self) -> None:
        """Take no more questions; those under way end by themselves."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def _ask(self, name: str) -> Answer:
        answered = self._asked[name] = asyncio.Event()
        try:
            addresses, problem = await self._question(name)
            keep_s = KEPT_S if addresses else FAILURE_KEPT_S
            answer = Answer(addresses, problem, self._clock.now_s() + keep_s)
            self._kept[name] = answer
            self._kept.move_to_end(name)
            if len(self._kept) > MAX_KEPT_NAMES:
                self._kept.popitem(last=False)
            return answer
        finally:
            del self._asked[name]
            answered.set()

    async def _question(self, name: str) -> tuple[tuple[str, ...], str]:
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(LOOKUP_TIMEOUT_S):
                addresses = await loop.run_in_executor(self._threads, self._lookup, name)
        except TimeoutError:
            return (), f"no answer within {LOOKUP_TIMEOUT_S:g} s"
        except socket.gaierror as error:
            return (), str(error.strerror)
        except (OSError, ValueError) as error:  # ValueError: text that cannot be a name at all
            return (), str(error)
        return addresses, "" if addresses else "it has no address"
