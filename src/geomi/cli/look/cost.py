"""`geomi cost`: show what models have cost, or estimate the cost of a number of pages."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from geomi.app import DataDirectory
from geomi.cli import flags
from geomi.cli.console import print_json, say, say_pairs
from geomi.cli.data_directory import in_data_directory
from geomi.cli.options import configure
from geomi.engine.jobs import find
from geomi.engine.survey.cost import Estimate, estimate
from geomi.model.index.language_model import MICROS, CostLine
from geomi.settings.prices import prices_here, read_unit_prices

MAX_PAGES = 1_000_000_000


def cost(
    job: Annotated[
        str, typer.Option("--job", metavar="ID", help="Count this job alone.", show_default="all")
    ] = "",
    pages: Annotated[
        int | None,
        typer.Option("--estimate", metavar="PAGES", min=1, max=MAX_PAGES, help="Reckon instead."),
    ] = None,
    catalogue: Annotated[
        bool,
        typer.Option(
            "--catalogue", help="With --estimate: rent every part, at the catalogue's prices."
        ),
    ] = False,
    output: flags.Directory = None,
    db: flags.Database = None,
    json: flags.AsJson = False,
) -> None:
    """Print what models cost, by day, purpose and model; or estimate what pages will cost."""
    if pages is not None:
        settings = configure({}).settings
        prices = read_unit_prices(settings.unit_prices) if catalogue else prices_here(settings)
        _tell_estimate(estimate(pages, prices), json)
        return
    lines = in_data_directory(output, lambda home: _lines(home, job), db=db)
    if json:
        total = sum(line.micros for line in lines) / MICROS
        print_json({"lines": [asdict(line) for line in lines], "dollars": total})
    else:
        _tell(lines)


async def _lines(home: DataDirectory, job: str) -> list[CostLine]:
    only = (await find(home.world, job)).id if job else ""
    return await home.world.store.costs.list(only)


def _tell(lines: list[CostLine]) -> None:
    for line in lines:
        failed = f", {line.failures} failed" if line.failures else ""
        say(
            f"{line.day}  {line.job}  {line.purpose:<9}  {line.model}: "
            f"{line.calls:,} calls{failed}, "
            f"{line.tokens_in:,} + {line.tokens_out:,} tokens, {line.micros / MICROS:.4f} $"
        )
    say(f"{sum(line.micros for line in lines) / MICROS:.4f} $ in total", style="bold")


def _tell_estimate(reckoned: Estimate, as_json: bool) -> None:
    if as_json:
        parts = {name: round(dollars, 6) for name, dollars in reckoned.parts}
        print_json({"pages": reckoned.pages, "parts": parts, "dollars": round(reckoned.total, 6)})
        return
    say_pairs({name: f"{dollars:,.4f} $" for name, dollars in reckoned.parts})
    say(f"{reckoned.total:,.2f} $ for {reckoned.pages:,} pages", style="bold")
    if reckoned.total:
        say(f"of it {reckoned.models:,.2f} $ is for models; without models this part is free")
    else:
        say("no model is configured and the machines are yours; --catalogue estimates rented ones")
