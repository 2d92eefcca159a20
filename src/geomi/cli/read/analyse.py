"""`geomi analyse` and `geomi preview`: show the analysis of a page and whether it is indexed.

`analyse` reads a collected page, an HTML file, or the counts of a job. With `--compare` it shows
which pages two settings files decide differently. `preview` fetches one page and stores nothing.
"""

from __future__ import annotations

import asyncio
import mimetypes
import re
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Annotated
from urllib.parse import quote

import orjson
import typer

from geomi.analyse.page import analyse as analyse_page
from geomi.api.schema.analysis import ContentAnalysisResponse
from geomi.app import DataDirectory
from geomi.cli import flags
from geomi.cli.console import print_json, say, say_check, say_pairs
from geomi.cli.data_directory import in_data_directory
from geomi.cli.options import configure, process_flags
from geomi.engine.enrich.document import analysis_json
from geomi.engine.inspect.export import captures
from geomi.engine.inspect.index_report import (
    IndexReport,
    RulesComparison,
    compare_rules,
    report_index,
)
from geomi.engine.jobs import find, read_seeds
from geomi.engine.visit.identity import UrlIdentity
from geomi.engine.visit.record import read_line, subject_of
from geomi.engine.world import World
from geomi.errors import ConfigError
from geomi.extract.page import extract
from geomi.library import Crawler, Options
from geomi.model.config import CrawlConfig
from geomi.model.index.analysis import Analysis, AnalysisInput, AnalysisRules
from geomi.model.job import CrawlJob
from geomi.model.page import Ref
from geomi.url.parse import Url, split

PAGE_SUFFIXES = (".html", ".htm", ".xhtml")
NEWEST = "latest"  # of a page: its newest copy, whichever job that is from
MAX_FILE_BYTES = 10 * 1024 * 1024

# Whatever has neither a dot nor a slash is no URL.
_JOB = re.compile(r"[0-9A-Za-z]{1,40}")


def analyse(  # noqa: PLR0913  # one parameter a flag is what the command line is
    page: Annotated[
        str, typer.Argument(help="A collected page, a file, or a job.", metavar="URL|FILE|JOB")
    ] = "",
    compared: Annotated[
        tuple[Path, Path] | None,
        typer.Option(
            "--compare",
            metavar="A.toml B.toml",
            help="Instead decide about every page of a job by the settings of two files.",
        ),
    ] = None,
    job: flags.JobId = NEWEST,
    profile: flags.Profile = None,
    assignments: flags.Assignments = None,
    output: flags.Directory = None,
    db: flags.Database = None,
    blobs: flags.Blobs = None,
    config: flags.ConfigFile = None,
    json: flags.AsJson = False,
) -> None:
    """Print the analysis of a collected page, an HTML file, or a job."""
    if (compared is None) == (not page):
        raise ConfigError(
            "name either a page or two files",
            hint="geomi analyse URL, or geomi analyse --compare A.toml B.toml",
        )
    if compared is not None:
        first, second = (configure({}, config=path).resolved.config.analysis for path in compared)
        _tell(
            in_data_directory(
                output, lambda home: _compare(home, job, first, second), db=db, blobs=blobs
            ),
            json,
        )
        return
    if _JOB.fullmatch(page) and not Path(page).exists():
        _count(
            in_data_directory(output, lambda home: _judged(home, page), db=db, blobs=blobs), json
        )
        return
    configured = configure({"profile": profile}, assignments=assignments, config=config)
    rules = configured.resolved.config
    if Path(page).is_file():
        subject = _in_file(Path(page), rules)
    else:
        if Path(page).suffix.lower() in PAGE_SUFFIXES and "://" not in page:
            raise ConfigError(f"there is no file `{page}`", hint="write a URL with https://")
        (url,) = read_seeds([page])
        subject = in_data_directory(
            output, lambda home: _collected(home, job, url), db=db, blobs=blobs
        )
    _give(analyse_page(subject, rules.analysis), json)


def preview(  # noqa: PLR0913  # one parameter a flag is what the command line is
    url: Annotated[str, typer.Argument(help="The page.", metavar="URL")],
    profile: flags.Profile = None,
    assignments: flags.Assignments = None,
    allow_private: flags.AllowPrivate = None,
    resolve: flags.Resolve = None,
    ca_file: flags.CaFile = None,
    config: flags.ConfigFile = None,
    json: flags.AsJson = False,
) -> None:
    """Fetch one page and print its analysis; obey robots.txt, store nothing."""
    configured = configure(
        {"profile": profile},
        assignments=assignments,
        process=process_flags(allow_private, resolve, ca_file),
        config=config,
    )
    options = Options(configured.settings, configured.resolved, configured.flags)
    subject = asyncio.run(_fetched(url, options))
    _give(analyse_page(subject, configured.resolved.config.analysis), json)


async def _judged(home: DataDirectory, job: str) -> IndexReport:
    return await report_index(home.world, (await find(home.world, job)).id)


def _count(found: IndexReport, as_json: bool) -> None:
    if as_json:
        counts = {name: dict(getattr(found, name)) for name in ("states", "reasons", "types")}
        print_json(asdict(found) | counts)
        return
    for name, counted in (("states", found.states), ("why", found.reasons), ("types", found.types)):
        say(f"{name}: {', '.join(f'{what} {many:,}' for what, many in counted) or '-'}")
    quality = "" if found.quality is None else f", quality {found.quality:g} of 10 on average"
    say(f"{found.documents:,} pages of job {found.job}{quality}", style="bold")


async def _fetched(url: str, options: Options) -> AnalysisInput:
    async with Crawler(configured=options) as crawler:
        page = await crawler.scrape(url)
    return subject_of(read_line(page.to_json().encode()), now_s=time.time())


async def _collected(home: DataDirectory, job: str, url: Url) -> AnalysisInput:
    world = home.world
    own = await find(world, job)
    naming = UrlIdentity(own.config)
    page = await world.store.pages.get(naming.hash(url))
    place = page.record if page else None
    if job != NEWEST and (place is None or place.job != own.id):
        place = await _place(world, own, naming, url)
    if place is None:
        raise ConfigError(
            f"{url.href} was not collected" + ("" if job == NEWEST else f" by job {own.id}"),
            hint="`geomi why URL` explains it; `geomi preview URL` fetches and analyses the page",
        )
    record = await world.archive.read(place)
    return subject_of(read_line(record), now_s=world.clock.wall_s())


async def _place(world: World, job: CrawlJob, naming: UrlIdentity, url: Url) -> Ref | None:
    """Return where a job's own newest record of a page lies; another job may keep more of it."""
    key = naming.key(url)
    found = None
    async for rows in captures(world.store.pages, job.id):
        for row in rows:
            if naming.key(split(row.url)) == key:
                found = row.record
    return found


def _in_file(path: Path, rules: CrawlConfig) -> AnalysisInput:
    """Read a page from a file, as if it lay at the root of a site without a name."""
    with path.open("rb") as file:
        body = file.read(MAX_FILE_BYTES + 1)
    if len(body) > MAX_FILE_BYTES:
        raise ConfigError(
            f"`{path}` has more than {MAX_FILE_BYTES:,} bytes", hint="give a smaller file"
        )
    url = f"https://file.invalid/{quote(path.name)}"
    kind = mimetypes.guess_type(path.name)[0] or "text/html"
    return AnalysisInput(url, extract(body, url, kind, rules.extract), now_s=time.time())


async def _compare(
    home: DataDirectory, job: str, first: AnalysisRules, second: AnalysisRules
) -> RulesComparison:
    return await compare_rules(home.world, (await find(home.world, job)).id, first, second)


def _tell(found: RulesComparison, as_json: bool) -> None:
    if as_json:
        print_json(found)
        return
    for name, counts in (("A", found.first), ("B", found.second)):
        say(f"{name}: {', '.join(f'{reason} {many}' for reason, many in counts)}")
    for change in found.changes:
        sign = "+" if change.second.should_index else "-"
        say(f"{sign} {change.url}: {change.first.detail} → {change.second.detail}")
    say(f"{found.changed} of {found.pages} pages change", style="bold")


def _give(analysis: Analysis, as_json: bool) -> None:
    if as_json:
        told = ContentAnalysisResponse.of(orjson.loads(analysis_json(analysis)))
        print(told.model_dump_json(by_alias=True))
        return
    decision = analysis.decision
    answer = "indexed" if decision.should_index else f"not indexed:  {decision.reason}"
    say_check(f"{answer} ({decision.detail})", is_good=decision.should_index)
    say_pairs(dict(_told(analysis)))


def _told(analysis: Analysis) -> Iterator[tuple[str, str]]:
    kind, quality, summary = analysis.classification, analysis.quality, analysis.summary
    if kind is not None:
        finer = f" ({', '.join(kind.subtypes)})" if kind.subtypes else ""
        yield "type", f"{kind.page_type}{finer}, confidence {kind.confidence:.2f}: {kind.reasoning}"
    if quality is not None:
        raised = f"; {', '.join(quality.raised)}" if quality.raised else ""
        yield "quality", f"{quality.overall} of 10{raised}"
    if analysis.fields is not None:
        yield "fields", orjson.dumps(analysis.fields.data).decode()
    if summary is not None:
        yield "summary", summary.short
        yield "keywords", ", ".join(summary.keywords)
        yield "entities", ", ".join(f"{one.text} ({one.type})" for one in summary.entities)
    if analysis.custom is not None:
        yield "own fields", orjson.dumps(analysis.custom.data).decode()
    if analysis.copyright is not None:
        yield "copyright", analysis.copyright.notice
    if analysis.sensitive:
        yield "sensitive", ", ".join(one.category for one in analysis.sensitive)
