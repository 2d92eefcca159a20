"""`geomi seeds`: turn lists of URLs into contracts that say how each domain is fetched."""

from __future__ import annotations

import asyncio
import shlex
from dataclasses import asdict
from typing import Annotated

import typer

from geomi.app.use.datasets import SEED_PROFILE
from geomi.cli import INTERRUPTED, flags
from geomi.cli.console import note, print_json, say, say_pairs
from geomi.cli.options import process_flags, warn_about_settings
from geomi.cli.prepare import dead_letters
from geomi.cli.prepare.dataset import (
    Category,
    Country,
    DatasetChoice,
    DatasetUrl,
    Date,
    choose_dataset,
    open_seeding,
    with_seeding,
)
from geomi.cli.prepare.seed_run import (
    SeedPrinter,
    describe_tally,
    hint_about_layout,
    raise_if_unsent,
    run_to_end,
    serve_queues,
    standby,
)
from geomi.engine.seeds.orchestrate import orchestrate as send_files
from geomi.engine.seeds.report import (
    EVERYTHING,
    DatasetProgress,
    judge_seeds,
    make_report,
    read_progress,
)
from geomi.engine.seeds.validate import check_dataset
from geomi.errors import SeedsDead
from geomi.model.dataset.queue import QueueDepth
from geomi.model.dataset.seed import DatasetCheck, OrchestrationReport

EXIT_INVALID = 1

commands = typer.Typer(
    help="Prepare domains: turn lists of URLs into contracts, which say how to fetch them.",
    no_args_is_help=True,
)
commands.add_typer(dead_letters.commands, name="dlq")

Force = Annotated[bool, typer.Option("--force", help="Process finished files again too.")]
Profile = Annotated[
    str | None,
    typer.Option(
        "--profile", metavar="NAME", help="A named set of settings.", show_default=SEED_PROFILE
    ),
]
Workers = Annotated[int | None, typer.Option("--workers", help="Processes.", show_default="1")]


@commands.command("run")
def run(  # noqa: PLR0913  # one parameter a flag is what the command line is
    dataset: DatasetUrl,
    country: Country = None,
    category: Category = None,
    date: Date = None,
    force: Force = False,
    workers: Workers = None,
    output: flags.Directory = None,
    db: flags.Database = None,
    profile: Profile = None,
    assignments: flags.Assignments = None,
    allow_private: flags.AllowPrivate = None,
    resolve: flags.Resolve = None,
    ca_file: flags.CaFile = None,
    config: flags.ConfigFile = None,
    json: flags.AsJson = False,
    quiet: flags.Quiet = False,
    verbose: flags.Verbose = False,
) -> None:
    """Process raw files and collect their domains until nothing is left; run again to continue."""
    chosen = choose_dataset(
        dataset,
        {"output": output, "profile": profile, "workers": workers},
        assignments=assignments,
        config=config,
        process=process_flags(allow_private, resolve, ca_file, db),
        which=(country, category, date),
    )
    if not quiet:
        warn_about_settings(chosen.configured, is_verbose=verbose)
    show = SeedPrinter(json=json, quiet=quiet, verbose=verbose)
    was_interrupted = asyncio.run(run_to_end(chosen, show, standby(chosen), force=force))
    if was_interrupted:
        note("interrupted; the same command continues")
        raise typer.Exit(INTERRUPTED)
    if show.counts.dead:
        place = shlex.join([dataset, *(["-o", str(output)] if output else [])])
        raise SeedsDead(
            f"{show.counts.dead} raw files or domains failed for good and are dead letters",
            hint=f"geomi seeds dlq list {place}, then geomi seeds dlq retry {place} --all",
        )


@commands.command("orchestrate")
def orchestrate(  # noqa: PLR0913  # one parameter a flag is what the command line is
    dataset: DatasetUrl,
    country: Country = None,
    category: Category = None,
    date: Date = None,
    force: Force = False,
    output: flags.Directory = None,
    db: flags.Database = None,
    profile: Profile = None,
    assignments: flags.Assignments = None,
    config: flags.ConfigFile = None,
    json: flags.AsJson = False,
) -> None:
    """Put raw files into the queue; `geomi seeds work` processes them."""
    chosen = choose_dataset(
        dataset,
        {"output": output, "profile": profile},
        process={"db": db},
        assignments=assignments,
        config=config,
        which=(country, category, date),
    )
    show = SeedPrinter(json=False, quiet=True, verbose=False)

    async def send() -> OrchestrationReport:
        async with open_seeding(chosen, show.listen, create=True) as (_, seeding):
            return await send_files(seeding, chosen.which, force=force)

    found = asyncio.run(send())
    if json:
        print_json({"success": not found.unsent, "data": asdict(found)})
    else:
        say(f"{found.sent} of {found.files_found} raw files queued, {found.skipped} skipped")
        hint_about_layout(found.files_found)
    raise_if_unsent(found)


@commands.command("work")
def work(  # noqa: PLR0913  # one parameter a flag is what the command line is
    dataset: DatasetUrl,
    workers: Workers = None,
    output: flags.Directory = None,
    db: flags.Database = None,
    profile: Profile = None,
    assignments: flags.Assignments = None,
    allow_private: flags.AllowPrivate = None,
    resolve: flags.Resolve = None,
    ca_file: flags.CaFile = None,
    config: flags.ConfigFile = None,
    json: flags.AsJson = False,
    quiet: flags.Quiet = False,
    verbose: flags.Verbose = False,
) -> None:
    """Work on the queues until SIGTERM or Ctrl-C; then finish the current work and end."""
    chosen = choose_dataset(
        dataset,
        {"output": output, "profile": profile, "workers": workers},
        assignments=assignments,
        config=config,
        process=process_flags(allow_private, resolve, ca_file, db),
    )
    if not quiet:
        warn_about_settings(chosen.configured, is_verbose=verbose)
    show = SeedPrinter(json=json, quiet=quiet, verbose=verbose)
    asyncio.run(serve_queues(chosen, show, standby(chosen)))


@commands.command("status")
def status(  # noqa: PLR0913  # one parameter a flag is what the command line is
    dataset: DatasetUrl,
    country: Country = None,
    category: Category = None,
    date: Date = None,
    output: flags.Directory = None,
    db: flags.Database = None,
    profile: Profile = None,
    assignments: flags.Assignments = None,
    config: flags.ConfigFile = None,
    json: flags.AsJson = False,
) -> None:
    """Show the progress of a dataset: raw files, domains, what was found, and alarms."""
    chosen = choose_dataset(
        dataset,
        {"output": output, "profile": profile},
        process={"db": db},
        assignments=assignments,
        config=config,
        which=(country, category, date),
    )
    standing = with_seeding(chosen, lambda seeding: read_progress(seeding, chosen.which))
    alarms = judge_seeds(standing)
    if json:
        depths = {name: asdict(depth) for name, depth in _depths(chosen, standing).items()}
        more = {"queues": depths, "alarms": [asdict(one) for one in alarms]}
        print_json(asdict(make_report(standing)) | more)
        return
    say_pairs(_lines(chosen, standing))
    for alarm in alarms:
        say(f"alarm {alarm.rule}: {alarm.message}", style="yellow")
    if not standing.files.total and chosen.which == EVERYTHING:
        note(
            "hint: no raw file was queued yet: run geomi seeds run. For the dataset of a service, "
            "set GEOMI_DATASETS as the service does"
        )


@commands.command("validate")
def validate(  # noqa: PLR0913  # one parameter a flag is what the command line is
    dataset: DatasetUrl,
    country: Country = None,
    category: Category = None,
    date: Date = None,
    profile: Profile = None,
    assignments: flags.Assignments = None,
    config: flags.ConfigFile = None,
    json: flags.AsJson = False,
) -> None:
    """Read a dataset and print its errors; write nothing, send no request."""
    chosen = choose_dataset(
        dataset,
        {"profile": profile},
        process={},
        assignments=assignments,
        config=config,
        which=(country, category, date),
    )
    found = asyncio.run(
        check_dataset(chosen.dataset, chosen.configured.resolved.config, chosen.which)
    )
    if json:
        print_json(asdict(found))
    else:
        say_pairs({name: f"{many:,}" for name, many in _counts(found).items()})
        for problem in found.problems:
            say(f"{problem.key}: {problem.what}; {problem.remedy}", style="red")
        if found.found > len(found.problems):
            say(f"and {found.found - len(found.problems):,} more")
        hint_about_layout(found.files)
    if found.found:
        raise typer.Exit(EXIT_INVALID)


def _counts(found: DatasetCheck) -> dict[str, int]:
    told = asdict(found)
    problems = told.pop("found")
    del told["problems"]
    return {**told, "problems": problems}


def _lines(chosen: DatasetChoice, standing: DatasetProgress) -> dict[str, str]:
    stats = make_report(standing).collection_stats
    rules = chosen.configured.resolved.config.seeds
    return {
        "dataset": chosen.dataset.name,
        "files": describe_tally(standing.files),
        "domains": describe_tally(standing.domains),
        "robots.txt": f"{stats.robots_txt_found:,} ({stats.robots_txt_rate:.0%})",
        "sitemap.xml": f"{stats.sitemap_xml_found:,} ({stats.sitemap_xml_rate:.0%})",
        "mean time": f"{stats.avg_processing_time_ms:,} ms a domain, "
        f"{standing.files.duration_ms:,.0f} ms a file",
        **{
            name: f"{depth.waiting:,} waiting, {depth.lent:,} in hand"
            for name, depth in _depths(chosen, standing).items()
        },
        rules.dead_letter_queue: f"{standing.dead_letters:,} dead letters",
    }


def _depths(chosen: DatasetChoice, standing: DatasetProgress) -> dict[str, QueueDepth]:
    """Return how full each queue is, by the name that the rules give it."""
    rules = chosen.configured.resolved.config.seeds
    return {rules.seed_queue: standing.seed_queue, rules.domain_queue: standing.domain_queue}
