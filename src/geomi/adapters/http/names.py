"""Host names and the addresses the system gives for them: asked once, kept, renewed in time.

Rules: `getaddrinfo` runs in a few threads with a deadline; one question per name is under way at a
time. An answer is kept for its TTL within bounds (G-08), a failure for a minute. A name that is
still asked for in the second half of that time is looked up again in the background before its
answer ends, so that no request waits for DNS (DNS-02); where that fails, the old answer holds to
its end. Addresses and `localhost` need no look-up. Nothing here judges an address: the gate does,
every time.
"""

from __future__ import annotations

import asyncio
import math
import socket
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from ipaddress import ip_address

from geomi.ports.runtime import Clock

KEPT_S = 300.0  # where nobody tells a TTL: the system's resolver never does
LEAST_KEPT_S, MOST_KEPT_S = 60.0, 3600.0
FAILURE_KEPT_S = 60.0
MAX_KEPT_NAMES = 65_536
# The system's resolver gives up after 5 s and asks again; whoever is slower than this is not worth
# a slot of the crawl.
LOOKUP_TIMEOUT_S = 8.0
# Most of their time is waiting; a batch of dead names must not hold up the living.
LOOKUP_THREADS = 32
# A renewal may take its whole time and still be there before the old answer ends.
RENEWED_BEFORE_S = 15.0
# Far more names than one worker has hosts; whoever comes later waits for DNS once in a while.
MAX_RENEWALS = 1024


@dataclass(frozen=True, slots=True)
class Records:
    """The addresses of a name, with their time to live."""

    addresses: tuple[str, ...]
    ttl_s: float


Lookup = Callable[[str], tuple[str, ...] | Records]


@dataclass(frozen=True, slots=True)
class ResolvedName:
    """The addresses of a name in the order to try them, or why there are none.

    Args:
        wanted_from_s: who asks after this time shows that the answer is worth renewing.
    """

    addresses: tuple[str, ...] = ()
    problem: str = ""
    good_until_s: float = math.inf
    wanted_from_s: float = math.inf


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
        self._kept: OrderedDict[str, ResolvedName] = OrderedDict()
        self._asked: dict[str, asyncio.Event] = {}
        self._renewals: dict[str, asyncio.Task[None]] = {}
        self._threads = ThreadPoolExecutor(LOOKUP_THREADS, thread_name_prefix="geomi-dns")
        self._is_closed = False

    async def find(self, name: str) -> ResolvedName:
        """Return what is known of a name, asking the system if need be."""
        while True:
            kept, now_s = self._kept.get(name), self._clock.now_s()
            if kept is not None and now_s < kept.good_until_s:
                if now_s >= kept.wanted_from_s:
                    self._renew_in_time(name, kept)
                return kept
            if addresses := _known(name):
                return ResolvedName(addresses)
            under_way = self._asked.get(name)
            if under_way is None:
                return await self._ask(name)
            await under_way.wait()  # then look again: whoever asked may have been cancelled

    def close(self) -> None:
        """Take no more questions and renew nothing; look-ups under way end by themselves."""
        self._is_closed = True
        for renewal in self._renewals.values():
            renewal.cancel()
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _renew_in_time(self, name: str, kept: ResolvedName) -> None:
        if name in self._renewals or len(self._renewals) >= MAX_RENEWALS or self._is_closed:
            return
        loop = asyncio.get_running_loop()
        renewal = loop.create_task(self._renew(name, kept), name=f"renew {name}")
        self._renewals[name] = renewal
        renewal.add_done_callback(lambda _: self._renewals.pop(name))

    async def _renew(self, name: str, kept: ResolvedName) -> None:
        await self._clock.sleep_until(kept.good_until_s - RENEWED_BEFORE_S)
        if self._kept.get(name) is kept and name not in self._asked:
            await self._ask(name)

    async def _ask(self, name: str) -> ResolvedName:
        answered = self._asked[name] = asyncio.Event()
        try:
            answer = await self._question(name)
            old = self._kept.get(name)
            if answer.problem and old is not None and self._clock.now_s() < old.good_until_s:
                answer = replace(old, wanted_from_s=math.inf)  # the same question would fail again
            self._keep(name, answer)
            return answer
        finally:
            del self._asked[name]
            answered.set()

    def _keep(self, name: str, answer: ResolvedName) -> None:
        self._kept[name] = answer
        self._kept.move_to_end(name)
        if len(self._kept) > MAX_KEPT_NAMES:
            self._kept.popitem(last=False)

    async def _question(self, name: str) -> ResolvedName:
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(LOOKUP_TIMEOUT_S):
                found = await loop.run_in_executor(self._threads, self._lookup, name)
        except TimeoutError:
            return self._failed(f"no answer within {LOOKUP_TIMEOUT_S:g} s")
        except socket.gaierror as error:
            return self._failed(str(error.strerror))
        except (OSError, ValueError) as error:  # ValueError: text that cannot be a name at all
            return self._failed(str(error) or type(error).__name__)
        records = found if isinstance(found, Records) else Records(found, KEPT_S)
        return self._found(records) if records.addresses else self._failed("it has no address")

    def _found(self, records: Records) -> ResolvedName:
        life_s = min(max(records.ttl_s, LEAST_KEPT_S), MOST_KEPT_S)
        end_s = self._clock.now_s() + life_s
        return ResolvedName(records.addresses, "", end_s, end_s - life_s / 2)

    def _failed(self, problem: str) -> ResolvedName:
        return ResolvedName((), problem, self._clock.now_s() + FAILURE_KEPT_S)


def _known(name: str) -> tuple[str, ...]:
    """Return the addresses of a text that needs no resolver."""
    bare = name.removesuffix(".")
    if bare == "localhost" or bare.endswith(".localhost"):  # RFC 6761 §6.3: never asked of DNS
        return "127.0.0.1", "::1"
    try:
        return (str(ip_address(name)),)
    except ValueError:  # a name, or an odd spelling of an address, which is the system's to read
        return ()
