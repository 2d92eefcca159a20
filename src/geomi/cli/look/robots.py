"""`geomi robots`: show whether robots.txt allows a URL, and which line decides."""

from __future__ import annotations

import asyncio
import sys
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import typer

from geomi import __version__
from geomi.adapters.machine.clock import system_readings
from geomi.adapters.telemetry.fan_out import EventFanOut
from geomi.app import open_directory
from geomi.app.use.crawl import REMEDIES
from geomi.cli import flags
from geomi.cli.console import print_json, say, say_check
from geomi.cli.options import Configured, configure, process_flags
from geomi.engine.host.reserve import look_up_robots
from geomi.engine.host.robots import JobRobots, read_copy
from geomi.engine.jobs import read_seeds
from geomi.errors import ConfigError, NothingFetched
from geomi.fetch.request import product_token, user_agent
from geomi.model.robots import RobotsCopy, RobotsKey
from geomi.model.verdict import Outcome
from geomi.robots.match import matching
from geomi.robots.parse import PathRule, token_in
from geomi.robots.report import RuleObject, notes, rule_object
from geomi.url.parse import Url

STDIN = "-"
ANY_HOST = "example.com"  # of a path that is judged by a file: no host matters there


def robots(  # noqa: PLR0913  # one parameter a flag is what the command line is
    url: Annotated[
        str,
        typer.Argument(help="The URL of the page; with --file a path is enough.", metavar="URL"),
    ],
    agent: Annotated[
        str | None,
        typer.Option(
            "--as",
            metavar="AGENT",
            help="The agent whose rules to apply: a product token, or a whole user agent.",
            show_default="our own",
        ),
    ] = None,
    file: Annotated[
        str | None,
        typer.Option(
            "--file", metavar="PATH", help="Judge by this file and send no request; `-` is stdin."
        ),
    ] = None,
    profile: flags.Profile = None,
    assignments: flags.Assignments = None,
    allow_private: flags.AllowPrivate = None,
    resolve: flags.Resolve = None,
    ca_file: flags.CaFile = None,
    config: flags.ConfigFile = None,
    json: flags.AsJson = False,
) -> None:
    """Print whether robots.txt allows a URL, and which line decides; store nothing."""
    is_bare = file is not None and url.startswith("/")
    (asked,) = read_seeds([f"https://{ANY_HOST}{url}" if is_bare else url])
    configured = configure(
        {"profile": profile},
        assignments=assignments,
        process=process_flags(allow_private, resolve, ca_file),
        config=config,
    )
    reading = _from_file(file, asked, configured) if file else _from_site(asked, configured)
    answer = _judge(reading, asked, agent)
    if is_bare:
        answer = replace(answer, url=asked.target)
    if file:
        answer = replace(answer, notes=notes(reading.copy.body, reading.file.dialect))
    if json:
        print_json(answer)
    else:
        _tell(answer)


@dataclass(frozen=True, slots=True)
class RobotsLine:
    """One Allow or Disallow line that covers the URL."""

    line: int
    rule: str


@dataclass(frozen=True, slots=True)
class RobotsAnswer:
    """What `geomi robots` prints.

    Args:
        group: whose group was read: the agent's own, or `*`; empty where the file has neither.
        winner: the line that decides; None where none matches or there is no file to ask.
        match_len: the length of its pattern in octets, by which it wins.
        others: the lines that match too and are weaker, the strongest first.
        obeys_crawl_delay: whether a crawl with these settings waits as long.
        notes: what is odd about a file that was given.
    """

    url: str
    agent: str
    decision: str
    reason: str
    group: str
    winner: RobotsLine | None
    match_len: int
    others: tuple[RobotsLine, ...]
    crawl_delay_s: float | None
    obeys_crawl_delay: bool
    sitemaps: tuple[str, ...]
    status: int
    stored: RuleObject
    notes: tuple[str, ...] = ()


def _from_file(path: str, url: Url, configured: Configured) -> JobRobots:
    """Read a local file as if the site had sent it now."""
    rules = configured.resolved.config.robots
    now_s = system_readings().wall_s()
    key = RobotsKey(url.scheme, url.authority, _own_token(configured))
    body = _read(path, rules.max_bytes + 1)  # one byte more shows whether there was more
    return read_copy(RobotsCopy(key, 200, body, now_s), rules, now_s=now_s)


def _read(path: str, limit_bytes: int) -> bytes:
    try:
        if path == STDIN:
            return sys.stdin.buffer.read(limit_bytes)
        with Path(path).open("rb") as stream:
            return stream.read(limit_bytes)
    except OSError as error:
        raise ConfigError(
            f"cannot read `{path}`: {error.strerror}", hint="give a robots.txt, or `-` for stdin"
        ) from error


def _from_site(url: Url, configured: Configured) -> JobRobots:
    """Fetch the file through the egress gate, under our own name for every agent.

    A file out of reach is an answer where a crawl with these settings goes on without it.
    """
    _own_token(configured)  # refuse a name that cannot be sent before anything is opened
    reading = asyncio.run(_fetch(url, configured))
    failure = reading.copy.failure
    if reading.unreached or failure is Outcome.ADDRESS_REFUSED:  # then nothing was even asked
        told = [f"robots.txt of `{url.authority}`", str(failure), reading.copy.detail]
        raise NothingFetched(
            ": ".join(part for part in told if part),
            hint=REMEDIES.get(str(failure), "") or "--file PATH judges by a file on your disk",
        )
    return reading


async def _fetch(url: Url, configured: Configured) -> JobRobots:
    with tempfile.TemporaryDirectory(prefix="geomi-") as folder:
        settings = replace(configured.settings, db="")  # what is read here stays in no store
        async with open_directory(Path(folder), settings, lambda _: EventFanOut()) as home:
            return await look_up_robots(home.world, configured.resolved.config, url)


def _own_token(configured: Configured) -> str:
    return product_token(user_agent(configured.resolved.config, version=__version__))


def _judge(reading: JobRobots, url: Url, agent: str | None) -> RobotsAnswer:
    token = reading.copy.key.token if agent is None else token_in(agent)
    if not token:
        raise ConfigError(f"`{agent}` is not an agent", hint="write for example --as Googlebot")
    copy = replace(reading.copy, key=replace(reading.copy.key, token=token))
    own = replace(reading, copy=copy)
    found, verdict = own.rule(url), own.judge(url)
    lines = [_line(rule) for rule in matching(own.file, token, url.target)] if found.line else []
    return RobotsAnswer(
        url=url.href,
        agent=token,
        decision="ALLOW" if verdict.admitted else "DISALLOW",
        reason=verdict.detail,
        group=found.agent,
        winner=lines[0] if lines else None,
        match_len=found.size,
        others=tuple(lines[1:]),
        crawl_delay_s=own.crawl_delay_s,
        obeys_crawl_delay=own.file.dialect.respect_crawl_delay,
        sitemaps=own.file.sitemaps,
        status=copy.status,
        stored=rule_object(copy, own.file, expires_s=own.policy.expires_s),
    )


def _line(rule: PathRule) -> RobotsLine:
    return RobotsLine(rule.line, f"{'Allow' if rule.allows else 'Disallow'}: {rule.pattern}")


def _tell(answer: RobotsAnswer) -> None:
    is_allowed = answer.decision == "ALLOW"
    say_check(f"{answer.decision} {answer.url} for {answer.agent}", is_good=is_allowed)
    winner = f"line {answer.winner.line}: {answer.winner.rule}" if answer.winner else answer.reason
    group = f"User-agent: {answer.group}" if answer.group else "none for this agent or `*`"
    rows = [("decided by", winner), ("group", group)]
    rows += [("also matches", f"line {other.line}: {other.rule}") for other in answer.others]
    if answer.crawl_delay_s is not None:
        ignored = "" if answer.obeys_crawl_delay else ", ignored (robots.respect_crawl_delay=false)"
        rows.append(("crawl delay", f"{answer.crawl_delay_s:g} s{ignored}"))
    rows += [("sitemap", sitemap) for sitemap in answer.sitemaps]
    rows += [("note", text) for text in answer.notes]
    for name, value in rows:
        say(f"{name:<{_WIDTH}}  {value}")


_WIDTH = len("also matches")
