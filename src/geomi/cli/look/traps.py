"""`geomi traps`: list suspected traps, allow a pattern, or exclude a site."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from geomi.app import DataDirectory
from geomi.app.use import providers
from geomi.cli import flags
from geomi.cli.console import conclude, note, print_json, say
from geomi.cli.data_directory import in_data_directory
from geomi.engine.inspect import traps as use
from geomi.engine.jobs import find
from geomi.model.site import Review, SiteRule

EXAMPLES = 2  # shown of each rule

commands = typer.Typer(help="Review suspected traps.", no_args_is_help=True)

HostArgument = Annotated[str, typer.Argument(metavar="HOST", help="The site's host name.")]
PatternArgument = Annotated[
    str | None,
    typer.Argument(
        metavar="[PATTERN]", help="A pattern or a rule, spelled as in `geomi traps list`."
    ),
]
NoteOption = Annotated[
    str, typer.Option("--note", metavar="TEXT", help="The reason, to store with the decision.")
]


@commands.command("list")
def list_traps(
    job: flags.JobId = "latest", output: flags.Directory = None, json: flags.AsJson = False
) -> None:
    """List the traps and suspected traps of a job, and the decisions about sites."""

    async def work(home: DataDirectory) -> use.SuspectedTraps:
        decided = await providers.read_site_decisions(home.store)
        return await use.list_suspected_traps(home.world, await find(home.world, job), decided)

    found = in_data_directory(output, work)
    if json:
        print_json(_data(found))
    else:
        _tell(found)


@commands.command("allow")
def allow(
    host: HostArgument,
    pattern: PatternArgument = None,
    why: NoteOption = "",
    output: flags.Directory = None,
    json: flags.AsJson = False,
) -> None:
    """Declare that a pattern of a site, or anything on it, is no trap."""
    _decide(host, pattern or "", Review.ALLOW, why, output, json)


@commands.command("exclude")
def exclude(
    host: HostArgument,
    why: NoteOption = "",
    output: flags.Directory = None,
    json: flags.AsJson = False,
) -> None:
    """Send a site no more requests."""
    _decide(host, "", Review.EXCLUDE, why, output, json)


@commands.command("reset")
def reset(
    host: HostArgument,
    pattern: PatternArgument = None,
    output: flags.Directory = None,
    json: flags.AsJson = False,
) -> None:
    """Delete the decision about a site, or about one pattern of it."""

    async def work(home: DataDirectory) -> list[SiteRule]:
        return await use.reset(
            home.world, host, pattern, await providers.read_site_decisions(home.store)
        )

    gone = in_data_directory(output, work)
    if json:
        print_json([asdict(rule) for rule in gone])
        return
    for rule in gone:
        note(f"forgotten: {_told(rule)}")


def _decide(
    host: str, pattern: str, review: Review, why: str, output: flags.Directory, json: bool
) -> None:
    async def work(home: DataDirectory) -> tuple[SiteRule, bool]:
        decided = await use.decide(home.world, host, pattern, review, why)
        return decided, await use.was_asked(home.world, decided)

    rule, is_known = in_data_directory(output, work, create=True)
    if not is_known:
        note(f"note: no request to `{rule.host}` is in the log of this store")
    conclude(
        asdict(rule), f"{_told(rule)}; crawls that start or resume from now on obey", json=json
    )


def _data(found: use.SuspectedTraps) -> dict[str, object]:
    patterns = [
        {
            "host": suspect.host,
            "pattern": suspect.pattern,
            "standing": suspect.standing,
            "visited": suspect.tally.visited,
            "stale_links": suspect.tally.stale_links,
            "stale_text": suspect.tally.stale_text,
        }
        for suspect in found.patterns
    ]
    rules = {
        rule: {"count": count, "examples": examples}
        for rule, (count, examples) in found.rules.items()
    }
    reviews = [asdict(rule) for rule in found.reviews]
    return {"job": found.job, "patterns": patterns, "rules": rules, "reviews": reviews}


def _tell(found: use.SuspectedTraps) -> None:
    for suspect in found.patterns:
        tally = suspect.tally
        counts = (
            f"{tally.visited:,} visited, {tally.stale_links:,} since a new place, "
            f"{tally.stale_text:,} since a new text"
        )
        say(f"{suspect.standing:<9}  {suspect.host}  {suspect.pattern}  {counts}")
    for rule, (count, examples) in found.rules.items():
        say(f"{rule}: {count:,} links kept out, such as {' '.join(examples[:EXAMPLES])}")
    for decided in found.reviews:
        say(f"decided: {_told(decided)}")
    if not (found.patterns or found.rules or found.reviews):
        note(f"job {found.job}: no pattern looks like a trap")


def _told(rule: SiteRule) -> str:
    about = f"{rule.host} {rule.pattern}".rstrip()
    why = "; ".join(part for part in (rule.note, rule.remedy) if part)
    return f"{rule.review} {about}" + (f" ({why})" if why else "")
