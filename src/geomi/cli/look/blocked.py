"""`geomi blocked`: list, add and remove URLs that no crawl may request.

A URL can be one page under one profile and another page under the next, because `docs` drops the
query. It is stored under its identity in each profile, so that every crawl leaves it alone.
"""

from __future__ import annotations

import re
from dataclasses import asdict
from typing import Annotated

import typer

from geomi.admit.normalize import identity
from geomi.app import DataDirectory
from geomi.cli import flags
from geomi.cli.console import conclude, moment, print_json, say
from geomi.cli.data_directory import in_data_directory
from geomi.cli.options import configure
from geomi.engine.jobs import read_seeds
from geomi.errors import ConfigError, UnknownName
from geomi.model.site import Refusal
from geomi.settings.layers import profile_names, read_profile, resolve
from geomi.url.parse import url_hash

PER_READ = 1000
MAX_DAYS = 36_500
MAX_REASON_CHARS = 2000
BY_HAND = 0  # no status came: a person decided
DEFAULT_FOR = "30d"
PATTERN_HINT = "geomi crawl --exclude takes patterns, and so does exclude = [...] in geomi.toml"

_SECONDS = {"m": 60, "h": 3600, "d": 86_400}
_DURATION = re.compile(r"([0-9]{1,6})([mhd])")

commands = typer.Typer(help="Block URLs, or list and unblock them.", no_args_is_help=True)

UrlArgument = Annotated[str, typer.Argument(metavar="URL", help="The page.")]


@commands.command("list")
def list_blocked(output: flags.Directory = None, json: flags.AsJson = False) -> None:
    """List blocked URLs, why, and until when."""
    found, wall_s = in_data_directory(output, _list)
    if json:
        print_json([_data(refusal, wall_s) for refusal in found])
        return
    for refusal in found:
        status = f"HTTP {refusal.status}" if refusal.status else "by hand"
        told = [refusal.url, status, _until(refusal, wall_s), refusal.reason]
        say("  ".join(dict.fromkeys(told)))  # of a site that said no the status is the reason


@commands.command("add")
def add(
    url: UrlArgument,
    for_: Annotated[
        str | None,
        typer.Option("--for", metavar="30d|12h|45m", help="How long.", show_default=DEFAULT_FOR),
    ] = None,
    forever: Annotated[bool, typer.Option("--forever", help="For good.")] = False,
    reason: Annotated[str, typer.Option(metavar="TEXT", help="Why.")] = "",
    output: flags.Directory = None,
    json: flags.AsJson = False,
) -> None:
    """Block a URL."""
    if forever and for_ is not None:
        raise ConfigError(
            f"--forever and --for {for_} are both given", hint="leave out one of them"
        )
    seconds = None if forever else _seconds(for_ or DEFAULT_FOR)
    if "*" in url:
        raise ConfigError(f"`{url}` is a pattern; geomi blocks single URLs", hint=PATTERN_HINT)
    if len(reason) > MAX_REASON_CHARS:
        raise ConfigError(f"the reason has more than {MAX_REASON_CHARS} characters")
    (parsed,) = read_seeds([url])
    hashes = _hashes(url)

    async def work(home: DataDirectory) -> tuple[Refusal, float]:
        now_s = home.world.clock.wall_s()
        until_s = None if seconds is None else now_s + seconds
        kept = [
            Refusal(one, parsed.href, BY_HAND, reason or "blocked by hand", now_s, until_s)
            for one in hashes
        ]
        for refusal in kept:
            await home.world.store.refusals.put(refusal)
        return kept[0], now_s

    refusal, wall_s = in_data_directory(output, work, create=True)
    conclude(
        _data(refusal, wall_s), f"{refusal.url} is blocked {_until(refusal, wall_s)}", json=json
    )


@commands.command("remove")
def remove(url: UrlArgument, output: flags.Directory = None, json: flags.AsJson = False) -> None:
    """Unblock a URL."""
    hashes = _hashes(url)

    async def work(home: DataDirectory) -> bool:
        return any([await home.world.store.refusals.remove(one) for one in hashes])

    if not in_data_directory(output, work):
        raise UnknownName(f"`{url}` is not blocked", hint="geomi blocked list")
    conclude({"removed": url}, f"{url} is no longer blocked", json=json)


async def _list(home: DataDirectory) -> tuple[list[Refusal], float]:
    """Read all blocked URLs; one that is stored under several keys is listed once."""
    found: dict[str, Refusal] = {}
    after = b""
    while refusals := await home.world.store.refusals.list(after=after, limit=PER_READ):
        after = refusals[-1].url_hash
        found |= {refusal.url: refusal for refusal in refusals}
    return sorted(found.values(), key=lambda one: one.url), home.world.clock.wall_s()


def _hashes(url: str) -> list[bytes]:
    """Return a URL's identity under the configuration here and under every profile."""
    (parsed,) = read_seeds([url])
    rules = [configure({}).resolved.config.url]
    rules += [resolve([read_profile(name).layer]).config.url for name in profile_names()]
    return list(dict.fromkeys(url_hash(identity(parsed, each)) for each in rules))


def _seconds(text: str) -> float:
    match = _DURATION.fullmatch(text)
    seconds = int(match[1]) * _SECONDS[match[2]] if match else 0
    if not 0 < seconds <= MAX_DAYS * _SECONDS["d"]:
        raise ConfigError(
            f"--for `{text}` is not a time", hint="--for 30d, --for 12h, or --forever"
        )
    return float(seconds)


def _data(refusal: Refusal, wall_s: float) -> dict[str, object]:
    data = asdict(refusal) | {"holds": _holds(refusal, wall_s)}
    return data | {"url_hash": refusal.url_hash.hex()}


def _holds(refusal: Refusal, wall_s: float) -> bool:
    return refusal.until_s is None or refusal.until_s > wall_s


def _until(refusal: Refusal, wall_s: float) -> str:
    if refusal.until_s is None:
        return "for good"
    word = "until" if _holds(refusal, wall_s) else "over since"
    return f"{word} {moment(refusal.until_s)}"
