"""What happens around a crawl: the network goes, clocks are set, messages come twice."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from itertools import count

from tests.chaos.deaths import LONGEST_LIFE_S, SHORT, let_live
from tests.chaos.ground import Ground
from tests.chaos.layer import Plan
from tests.chaos.table import NOTHING, Held, Row
from tests.support.server import Answer, End, Raw, Reply, Seen

DAY_S = 86_400.0
RETRY_S = 0.3
# How long nobody gets a whole answer; a host is asked once in it, and rests for a second after.
OUTAGE_S = 0.5
IMPATIENT = (*SHORT, "--set", "http.read_timeout_s=0.5")


def lose_network(ground: Ground, *, runs: int, rng: random.Random) -> Row:
    """Let servers fall silent, reset connections, or stop in the middle of an answer."""
    row = Row("network loss", ground.back.name)
    for number in range(runs):
        with ground.case() as case:
            case.options = IMPATIENT
            weather = _Weather(number, begins=rng.randrange(20, 150))
            ground.weather = weather.answer
            try:
                found = case.finish(Plan(retry_s=RETRY_S))
            finally:
                ground.weather = lambda _, reply: reply
            row.add(found, Held(urls=weather.lost), faults=weather.lost)
    return row


class _Weather:
    """An outage: it begins with some request and lasts a while."""

    def __init__(self, number: int, *, begins: int) -> None:
        self.lost = 0
        self._begins = begins
        self._numbers = count(1)
        self._until_s = 0.0
        kinds: list[Callable[[Reply], Raw]] = [_silent, _reset, _half]
        self._break = kinds[number % len(kinds)]

    def answer(self, seen: Seen, reply: Reply) -> Answer:
        number = next(self._numbers)
        if number == self._begins:
            self._until_s = time.monotonic() + OUTAGE_S
        if time.monotonic() >= self._until_s:
            return reply
        self.lost += 1
        return self._break(reply)


def _silent(reply: Reply) -> Raw:
    return Raw((), End.SILENCE)


def _reset(reply: Reply) -> Raw:
    return Raw((), End.RESET)


def _half(reply: Reply) -> Raw:
    head = (
        f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {len(reply.body)}\r\n\r\n"
    )
    return Raw((head.encode() + reply.body[: len(reply.body) // 2],), End.CLOSE)


def set_clocks(ground: Ground, *, runs: int, rng: random.Random) -> Row:
    """Set the wall clock while crawls run, and between a death and its resume.

    The second run begins on a clock a day before or after the first one's, also that of the
    database's server.
    """
    row = Row("clock jumps", ground.back.name)
    for _ in range(runs):
        with ground.case() as case:
            jumps = tuple(
                (rng.uniform(0, LONGEST_LIFE_S), rng.choice((-DAY_S, 3600.0, DAY_S, -60.0)))
                for _ in range(3)
            )
            crawl = case.start(Plan(wall_s=tuple(sorted(jumps))))
            faults = 3
            let_live(ground, crawl, rng)
            if not crawl.is_over:
                case.kill(crawl)
                faults += 1
            off_s = rng.choice((-DAY_S, DAY_S))
            found = case.finish(Plan(wall_s=((0.0, off_s),), server_s=off_s))
            row.add(found, case.held, faults=faults)
    return row


def deliver_twice(ground: Ground, *, runs: int) -> Row:
    """Deliver every settlement a second time, at once or after some others."""
    row = Row("settlements sent twice", ground.back.name)
    for number in range(runs):
        with ground.case() as case:
            row.add(case.finish(Plan(twice=3 * (number % 3))), NOTHING)
    return row
