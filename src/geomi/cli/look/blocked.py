"""`geomi blocked`: list, add and remove URLs that no crawl may request, and lists of domains.

A URL can be one page under one profile and another page under the next, because `docs` drops the
query. It is stored under its identity in each profile, so that every crawl leaves it alone. Lists
of domains are other people's; they hold for every job and tenant of a store.
"""

from __future__ import annotations

import re
from dataclasses import asdict
from typing import Annotated

import typer

from geomi.admit.normalize import identity
from geomi.app import DataDirectory
from geomi.app.use import domain_lists
from geomi.cli import flags
from geomi.cli.console import conclude, moment, print_json, say
from geomi.cli.data_directory import in_data_directory
from geomi.cli.options import configure
from geomi.engine.jobs import read_seeds
from geomi.errors import ConfigError, NothingFetched, UnknownName
from geomi.model.site import DomainList, Refusal
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

commands = typer.Typer(help="Block URLs, and subscribe to lists of domains.", no_args_is_help=True)

ListArgument = Annotated[str, typer.Argument(metavar="NAME", help="How the list is called here.")]
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


@commands.command("subscribe")
def subscribe(
    name: ListArgument,
    source: Annotated[
        str,
        typer.Argument(metavar="URL|FILE", help="A hosts file, names in lines, or filters."),
    ],
    output: flags.Directory = None,
    db: flags.Database = None,
    json: flags.AsJson = False,
) -> None:
    """Keep every crawl away from the domains of a list; it is read again each day."""
    kept = in_data_directory(
        output, lambda home: domain_lists.subscribe(home, name, source), db=db, create=True
    )
    conclude(asdict(kept), f"no crawl visits the {kept.domains:,} domains of `{name}`", json=json)


@commands.command("unsubscribe")
def unsubscribe(
    name: ListArgument,
    output: flags.Directory = None,
    db: flags.Database = None,
    json: flags.AsJson = False,
) -> None:
    """Forget a list of domains."""
    in_data_directory(output, lambda home: domain_lists.unsubscribe(home, name), db=db)
    conclude({"removed": name}, f"the list `{name}` is gone", json=json)


@commands.command("lists")
def lists(
    output: flags.Directory = None, db: flags.Database = None, json: flags.AsJson = False
) -> None:
    """Show the lists of domains, and whether they are fresh."""
    _tell_lists(in_data_directory(output, lambda home: home.store.domain_lists.list(), db=db), json)


@commands.command("refresh")
def refresh(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="NAME", help="The lists; all where none is named.")
    ] = None,
    output: flags.Directory = None,
    db: flags.Database = None,
    json: flags.AsJson = False,
) -> None:
    """Read lists of domains again now; one that cannot be read stays as it was."""
    fresh = in_data_directory(output, lambda home: domain_lists.refresh(home, names or ()), db=db)
    _tell_lists(fresh, json)
    if failed := [one.name for one in fresh if one.problem]:
        raise NothingFetched(f"not refreshed: {', '.join(failed)}", hint="geomi blocked lists")


def _tell_lists(found: list[DomainList], json: bool) -> None:
    if json:
        print_json([asdict(one) for one in found])
        return
    for one in found:
        problem = f"  not refreshed: {one.problem}" if one.problem else ""
        many, when = f"{one.domains:,} domains", f"as of {moment(one.read_s)}"
        say("  ".join((one.name, many, when, one.source)) + problem)


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
