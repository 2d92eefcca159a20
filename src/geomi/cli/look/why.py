"""`geomi why`: explain what happened to a URL, which rule decided, and how to change it."""

from __future__ import annotations

from typing import Annotated

import typer

from geomi.app import DataDirectory
from geomi.app.use import providers
from geomi.cli import flags
from geomi.cli.console import note, print_json, say, say_check
from geomi.cli.data_directory import in_data_directory
from geomi.engine.inspect.why import Explanation, explain
from geomi.engine.jobs import find, read_seeds
from geomi.settings.compliance import same_archive
from geomi.url.parse import Url


def why(
    url: Annotated[str, typer.Argument(help="The URL of the page.", metavar="URL")],
    job: flags.JobId = "latest",
    output: flags.Directory = None,
    db: flags.Database = None,
    json: flags.AsJson = False,
) -> None:
    """Print why geomi did or did not collect a page: every check in order, and which decided."""
    (asked,) = read_seeds([url])
    explanation = in_data_directory(output, lambda home: _explain(home, job, asked), db=db)
    if json:
        print_json(explanation)
    else:
        _tell(explanation)


async def _explain(home: DataDirectory, job: str, url: Url) -> Explanation:
    world = home.world
    found = await find(world, job)
    same_archive(found, home.settings)
    if found.channel.is_source:
        source = found.channel.source
        note(f"this job asked {source} for {found.library}; it sent no request to a site")
    return await explain(world, found, url, await providers.read_site_decisions(world.store))


def _tell(explanation: Explanation) -> None:
    say(f"{explanation.url}: {explanation.answer}", style="bold")
    width = max(len(step.name) for step in explanation.steps)
    for step in explanation.steps:
        told = step.verdict.detail
        if step.verdict.rule != step.name:
            told = f"{step.verdict.rule}: {told}" if told else step.verdict.rule
        say_check(f"{step.name:<{width}}  {told}".rstrip(), is_good=step.verdict.admitted)
    decided = [explanation.decided_by, explanation.detail]
    say(f"decided by: {': '.join(part for part in decided if part)}", style="bold")
    if explanation.hint:
        say(f"to change it: {explanation.hint}")
