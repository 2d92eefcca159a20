"""What is tried again, how often and when, by the server's log and the hand of the clock."""

from __future__ import annotations

import socket
from collections.abc import Callable
from dataclasses import replace
from email.utils import formatdate
from pathlib import Path
from typing import Any

import pytest

from geomi.model.config import CrawlConfig, HttpRules, Limits, Politeness
from geomi.model.verdict import Outcome, State
from tests.support.crawl import gaps, page
from tests.support.server import Answer, End, Raw, Reply, Route, Seen, Site
from tests.support.timed_crawl import Hand, hand_in
from tests.support.waiting import waits

CONFIG = CrawlConfig(politeness=Politeness(delay_s=1.0), limits=Limits(max_pages=0, max_depth=10))
EXACT = replace(CONFIG, http=HttpRules(retry_jitter=0.0))
JITTER = CONFIG.http.retry_jitter  # of a wait (C-36)
REST_S = 4.0  # a few delays between being due and being asked


def in_turn(*answers: Answer) -> Callable[[Seen], Answer]:
    """Answer with each in turn, and with the last for ever."""
    left = list(answers)
    return lambda _: left.pop(0) if len(left) > 1 else left[0]


def about(waits: list[float], expected: list[float]) -> bool:
    """Whether each wait is as long as the table says, with its jitter and the host's rest."""
    return len(waits) == len(expected) and all(
        wanted <= waited <= wanted * (1 + JITTER) + REST_S
        for waited, wanted in zip(waits, expected, strict=True)
    )


@pytest.mark.req("ERR-07", "ERR-08", "ERR-09", "ERR-12", "WF-11")
@pytest.mark.parametrize(
    ("status", "waits"),
    [
        (500, [30, 60]),
        (502, [30, 60]),
        (503, [30, 60, 120]),
        (504, [30, 60]),
        (501, [30, 60]),
        (520, [30, 60]),
    ],
)
@waits
async def test_a_server_error_is_tried_again_by_the_table(
    tmp_path: Path, status: int, waits: list[float]
) -> None:
    """Two or three more tries with growing waits, then the entry has failed for good."""
    with Site({"/": page("home", "/bad"), "/bad": Reply(status=status)}) as site:
        async with hand_in(tmp_path) as hand:
            job = await hand.crawl(CONFIG, site.url("/"))
            times = hand.asked("/bad")
            entry = (await hand.entries(job))["/bad"]
    assert about(gaps(times), waits), gaps(times)
    assert (entry.state, entry.outcome, entry.status) == (
        State.FAILED,
        Outcome.SERVER_ERROR,
        status,
    )
    assert entry.attempts == len(waits) + 1
    assert (job.stats.retries, job.stats.failed, job.stats.settled) == (len(waits), 1, 2)


@pytest.mark.req("ERR-10", "ERR-11", "WF-10")
@pytest.mark.parametrize(
    ("answer", "outcome", "waits"),
    [
        (Raw((), End.RESET), Outcome.CONNECT_ERROR, [1, 30]),
        (Raw((), End.CLOSE), Outcome.CONNECT_ERROR, [1, 30]),
        (Raw((b"HTTP/1.1 200 OK\r\nContent-", 5.0)), Outcome.TIMEOUT, [30]),
        (Reply(status=408), Outcome.TIMEOUT, [30]),
        (Reply(status=425), Outcome.TIMEOUT, [30]),
    ],
)
@waits
async def test_a_broken_connection_gets_one_more_try_after_half_a_minute(
    tmp_path: Path, answer: Answer, outcome: Outcome, waits: list[float]
) -> None:
    """No answer, or half of one: once more after 30 s, then it has failed.

    A kept connection that broke before the answer is tried anew first, and not before its turn.
    """
    config = replace(CONFIG, http=HttpRules(read_timeout_s=0.15))

    with Site({"/": page("home", "/bad"), "/bad": answer}) as site:
        async with hand_in(tmp_path) as hand:
            job = await hand.crawl(config, site.url("/"))
            times = hand.asked("/bad")
            entry = (await hand.entries(job))["/bad"]
    assert about(gaps(times), waits), gaps(times)
    assert (entry.state, entry.outcome) == (State.FAILED, outcome)


@pytest.mark.req("WF-10", "SCP-15", "LEG-09", "ERR-05")
@pytest.mark.parametrize(
    ("status", "outcome"),
    [
        (401, Outcome.REFUSED),
        (403, Outcome.REFUSED),
        (407, Outcome.REFUSED),
        (451, Outcome.REFUSED),
        (404, Outcome.GONE),
        (410, Outcome.GONE),
        (400, Outcome.CLIENT_ERROR),
        (405, Outcome.CLIENT_ERROR),
        (418, Outcome.CLIENT_ERROR),
    ],
)
@waits
async def test_a_refusal_is_taken_for_an_answer(
    tmp_path: Path, status: int, outcome: Outcome
) -> None:
    """A client error is asked for once and never again."""
    bad = replace(page("no", "/hidden"), status=status)
    with Site({"/": page("home", "/bad"), "/bad": bad}) as site:
        async with hand_in(tmp_path) as hand:
            job = await hand.crawl(CONFIG, site.url("/"))
            assert len(hand.asked("/bad")) == 1
            assert hand.asked("/hidden") == [], "a failed page yields no links"
            entry = (await hand.entries(job))["/bad"]
    assert (entry.state, entry.outcome, entry.attempts) == (State.FAILED, outcome, 1)


@pytest.mark.req("ERR-10", "ERR-12", "ERR-18")
@pytest.mark.parametrize("name", ["gone.test", "127.0.0.1"], ids=["no address", "nobody there"])
@waits
async def test_a_host_that_cannot_be_reached_gets_one_more_try(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """No address, or nobody behind it: once more after 30 s, and never again in this job."""
    look_up = socket.getaddrinfo

    def nowhere(host: bytes, *rest: Any, **named: Any) -> Any:
        if host == b"gone.test":
            raise socket.gaierror(socket.EAI_NONAME, "no such name")
        return look_up(host, *rest, **named)

    monkeypatch.setattr(socket, "getaddrinfo", nowhere)
    with Site({}) as site:
        port = site.port
    outcome = Outcome.CONNECT_ERROR if name == "127.0.0.1" else Outcome.DNS_ERROR

    async with hand_in(tmp_path) as hand:
        job = await hand.crawl(CONFIG, f"http://{name}:{port}/bad")
        times = hand.asked("/robots.txt")  # comes first, and the page with it fails
        entry = (await hand.entries(job))["/bad"]
        assert hand.asked("/bad") == []
    assert about(gaps(times), [30]), gaps(times)
    assert (entry.state, entry.outcome, entry.attempts) == (State.FAILED, outcome, 2)


@pytest.mark.req("ERR-12", "ERR-18")
@pytest.mark.parametrize("bad", [Raw((), End.RESET), Reply(status=500), Reply(status=404)])
@waits
async def test_what_has_failed_is_not_asked_for_again(tmp_path: Path, bad: Answer) -> None:
    """A page that comes later and links to it changes nothing in this job."""
    routes: dict[str, Route] = {
        "/": page("home", "/bad", "/late"),
        "/bad": bad,
        "/late": in_turn(*[Reply(status=503)] * 3, page("late", "/bad", "/new")),
        "/new": page("new"),
    }

    with Site(routes) as site:
        async with hand_in(tmp_path) as hand:
            job = await hand.crawl(CONFIG, site.url("/"))
            entries = await hand.entries(job)
            assert max(hand.asked("/bad")) < min(hand.asked("/new"))
    assert entries["/bad"].state is State.FAILED
    assert entries["/new"].state is State.COMPLETED


CAP_S = HttpRules().max_retry_after_s


@pytest.mark.req("ERR-06", "ERR-09", "WF-10", "WF-11")
@pytest.mark.parametrize(
    ("status", "asked_s", "is_date", "waits"),
    [
        (429, None, False, [60]),
        (429, 300, False, [300]),
        (429, 300, True, [300]),
        (429, 5, False, [60]),
        (429, 2 * CAP_S, False, [CAP_S]),
        (503, None, False, [30, 60, 120]),
        (503, 90, False, [90, 90, 120]),
        (503, 90, True, [90, 90, 120]),
        (503, 2 * CAP_S, True, [CAP_S, CAP_S, CAP_S]),
    ],
)
@waits
async def test_retry_after_is_obeyed_c71(
    tmp_path: Path, status: int, asked_s: float | None, is_date: bool, waits: list[float]
) -> None:
    """Seconds or a date, for 429 and 503, never less than the table, up to the job's cap."""
    async with hand_in(tmp_path) as hand:

        def busy(_: Seen) -> Answer:
            if asked_s is None:
                return Reply(status=status)
            at_s = hand.clock.wall_s() + asked_s
            told = formatdate(at_s, usegmt=True) if is_date else f"{asked_s:.0f}"
            return Reply(status=status, headers=(("Retry-After", told),))

        with Site({"/": page("home", "/busy"), "/busy": busy}) as site:
            job = await hand.crawl(EXACT, site.url("/"))
            times = hand.asked("/busy")
            entry = (await hand.entries(job))["/busy"]
    assert len(gaps(times)) == len(waits)
    for waited, wanted in zip(gaps(times), waits, strict=True):
        # A date has whole seconds. Errors make the host itself slower, too, up to a minute.
        assert wanted - 1 <= waited <= wanted + 60 + REST_S
    assert entry.state is State.FAILED


@pytest.mark.req("ERR-06", "WF-10", "WF-11")
@pytest.mark.parametrize(
    ("header", "wait_s", "rest_s"),
    [
        ((), 60.0, 1.0),
        ((("Retry-After", "300"),), 300.0, 300.0),
        ((("Retry-After", "90000"),), CAP_S, CAP_S),
    ],
    ids=["unsaid", "said", "beyond the cap"],
)
@waits
async def test_a_host_that_limits_us_is_left_alone(
    tmp_path: Path, header: tuple[tuple[str, str], ...], wait_s: float, rest_s: float
) -> None:
    """429: the URL waits a minute or as long as it is told, and then the whole host with it."""
    routes: dict[str, Route] = {
        "/": page("home", "/busy", "/other"),
        "/busy": in_turn(Reply(status=429, headers=header), page("busy")),
        "/other": page("other"),
    }
    with Site(routes) as site:
        async with hand_in(tmp_path) as hand:
            job = await hand.crawl(EXACT, site.url("/"))
            (limited, again), (other,) = hand.asked("/busy"), hand.asked("/other")
            entry = (await hand.entries(job))["/busy"]
    assert again - limited >= wait_s
    assert other - limited >= rest_s
    assert entry.state is State.COMPLETED
    assert job.stats.collected == 3


@pytest.mark.req("ERR-06", "ERR-12")
@waits
async def test_a_second_429_is_the_last(tmp_path: Path) -> None:
    """One retry and no more (C-75)."""
    with Site({"/": page("home", "/busy"), "/busy": Reply(status=429)}) as site:
        async with hand_in(tmp_path) as hand:
            job = await hand.crawl(CONFIG, site.url("/"))
            assert len(hand.asked("/busy")) == 2
            entry = (await hand.entries(job))["/busy"]
    assert (entry.state, entry.outcome) == (State.FAILED, Outcome.RATE_LIMITED)


@waits
async def test_a_job_may_wait_exactly_as_the_table_says_c36(tmp_path: Path) -> None:
    """Without jitter the waits are the table's, and what the host's own rest adds."""
    with Site({"/": page("home", "/bad"), "/bad": Reply(status=503)}) as site:
        async with hand_in(tmp_path) as hand:
            await hand.crawl(EXACT, site.url("/"))
            times = hand.asked("/bad")
    for waited, wanted in zip(gaps(times), [30, 60, 120], strict=True):
        assert wanted <= waited <= wanted + REST_S


@waits
async def test_max_retries_caps_the_table(tmp_path: Path) -> None:
    """`http.max_retries` = 1 leaves a 503 one more try instead of three."""
    config = replace(CONFIG, http=HttpRules(max_retries=1))

    with Site({"/": Reply(status=503)}) as site:
        async with hand_in(tmp_path) as hand:
            await hand.crawl(config, site.url("/"))
            assert len(hand.asked("/")) == 2


@waits
async def test_a_site_that_comes_back_loses_no_page(tmp_path: Path) -> None:
    """An outage of a minute, in the middle of a crawl of a host, costs time and no URL."""
    outage: list[float] = []

    async with hand_in(tmp_path) as hand:

        def child(seen: Seen) -> Answer:
            now_s = hand.clock.now_s()
            outage.append(now_s)
            return Raw((), End.RESET) if now_s - outage[0] < 60.0 else page(seen.path)

        names = [f"/{number}" for number in range(30)]
        routes: dict[str, Route] = {"/": page("home", *names)}
        with Site(routes | dict.fromkeys(names, child)) as site:
            job = await hand.crawl(CONFIG, site.url("/"))
            entries = await hand.entries(job)
    assert {entry.state for entry in entries.values()} == {State.COMPLETED}
    assert job.stats.collected == 31


@waits
async def test_a_host_that_stays_down_is_given_up(tmp_path: Path) -> None:
    """A few requests find out that nobody answers; the other URLs are closed without any."""
    names = [f"/{number}" for number in range(40)]
    with Site({"/": page("home", *names)}, otherwise=Raw((), End.RESET)) as site:
        async with hand_in(tmp_path) as hand:
            job = await hand.crawl(
                replace(CONFIG, robots=replace(CONFIG.robots, respect=False)), site.url("/")
            )
            entries = await hand.entries(job)
            assert 5 <= len(hand.fetcher.asked) < 20
            assert _hours(hand) < 1
    states = {entry.state for path, entry in entries.items() if path != "/"}
    assert states == {State.FAILED}


def _hours(hand: Hand) -> float:
    return (hand.clock.now_s() - hand.began_s) / 3600


@waits
async def test_a_late_copy_that_lies_nearer_than_the_first_speaks_for_itself(
    tmp_path: Path,
) -> None:
    """What the first links to is too deep from there, and not from here (C-41)."""
    copy = page("copy", "/leaf")
    routes: dict[str, Route] = {
        "/": page("home", "/late", "/way"),
        "/late": in_turn(Reply(status=503), copy),
        "/way": page("way", "/first"),
        "/first": copy,
        "/leaf": page("leaf"),
    }
    with Site(routes) as site:
        async with hand_in(tmp_path) as hand:
            limits = Limits(max_pages=0, max_depth=2)
            job = await hand.crawl(replace(CONFIG, limits=limits), site.url("/"))
            entries = await hand.entries(job)
    assert entries["/first"].outcome is Outcome.OK
    assert entries["/late"].outcome is Outcome.DUPLICATE
    assert entries["/leaf"].outcome is Outcome.OK
