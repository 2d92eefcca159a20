"""`geomi export`: write an output of a job again, from what is committed.

A file appears whole or not at all, and holds nothing that was not committed; the crawl may still be
running.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, BinaryIO

import typer

from geomi.adapters.machine.disk import refusal, whole_file
from geomi.adapters.outlet import parquet
from geomi.adapters.outlet.knowledge_base import in_folder
from geomi.adapters.outlet.markdown import MarkdownTree
from geomi.app import DataDirectory
from geomi.app.use.outputs import write_knowledge_base, write_output
from geomi.cli import flags
from geomi.cli.console import note, print_json
from geomi.cli.data_directory import in_data_directory
from geomi.engine.inspect.export import records
from geomi.engine.jobs import find
from geomi.errors import ConfigError
from geomi.model.job import CrawlJob
from geomi.settings.compliance import same_archive

STDOUT = Path("-")


class ExportFormat(StrEnum):
    """What can be written."""

    MD = "md"
    JSONL = "jsonl"
    WARC = "warc"
    CDXJ = "cdxj"
    LLMS = "llms"
    LLMS_FULL = "llms-full"
    PARQUET = "parquet"
    KB = "kb"


# What a terminal should not be sent, and where it could go.
_BINARY = {
    ExportFormat.WARC: ("a WARC file", "pages.warc.gz"),
    ExportFormat.PARQUET: ("a parquet file", "pages.parquet"),
}
_FOLDERS = {ExportFormat.MD: "markdown", ExportFormat.KB: "the layout of a knowledge base"}
_COUNTED = {ExportFormat.WARC: "segments", ExportFormat.CDXJ: "responses"}


@dataclass(frozen=True, slots=True)
class Exported:
    """What was written: pages, responses, or segments of an archive."""

    job: str
    format: ExportFormat
    to: str
    count: int


def export(  # noqa: PLR0913  # one parameter a flag is what the command line is
    form: Annotated[ExportFormat, typer.Option("-f", "--format", help="What to write.")],
    job: flags.JobId = "latest",
    to: Annotated[
        Path | None,
        typer.Option(
            metavar="PATH",
            help="A file, or a folder for md and kb; `-` is stdout.",
            show_default="stdout; the job's own folder for md and kb",
        ),
    ] = None,
    public: Annotated[
        bool, typer.Option("--public", help="Leave out pages that geomi signed in for.")
    ] = False,
    output: flags.Directory = None,
    db: flags.Database = None,
    blobs: flags.Blobs = None,
    json: flags.AsJson = False,
) -> None:
    """Write an output of a job again, as one file or a folder."""
    exported = in_data_directory(
        output, lambda home: _export(home, form, job, to, is_public=public), db=db, blobs=blobs
    )
    if json and exported.to != str(STDOUT):
        print_json(exported)
    else:
        what = _COUNTED.get(form, "pages")
        note(f"{exported.count:,} {what} of job {exported.job} to {exported.to}")


async def _export(
    home: DataDirectory, form: ExportFormat, job: str, to: Path | None, *, is_public: bool
) -> Exported:
    found = await find(home.world, job)
    same_archive(found, home.settings)
    if form in _FOLDERS:
        folder = to or home.root / "jobs" / found.id / form
        count = await _many(home, form, found, folder, is_public=is_public)
        return Exported(found.id, form, str(folder), count)
    file = to or STDOUT
    if form in _BINARY and file == STDOUT and sys.stdout.isatty():
        what, name = _BINARY[form]
        raise ConfigError(f"{what} is not for a terminal", hint=f"--to {name}")
    if form is ExportFormat.PARQUET:
        parquet.require()
    with _written(file) as output:
        count = await write_output(home, found.id, form, output, is_public=is_public)
    return Exported(found.id, form, str(file), count)


async def _many(
    home: DataDirectory, form: ExportFormat, job: CrawlJob, folder: Path, *, is_public: bool
) -> int:
    if folder == STDOUT:
        what = _FOLDERS[form]
        raise ConfigError(f"{what} is many files and has no place on stdout", hint="--to DIR")
    if form is ExportFormat.KB:
        return await write_knowledge_base(home, job, in_folder(folder), is_public=is_public)
    return await _markdown(home, job.id, folder, is_public=is_public)


async def _markdown(home: DataDirectory, job: str, folder: Path, *, is_public: bool) -> int:
    tree = MarkdownTree(folder)
    count = 0
    async for record in records(home.world, job, is_public=is_public):
        tree.write_page(record)
        count += 1
    return count


@contextmanager
def _written(path: Path) -> Iterator[BinaryIO]:
    """Lend a file that takes its name once it is whole; `-` is stdout."""
    if path == STDOUT:
        sys.stdout.flush()
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    with _into(path) if path.exists() and not path.is_file() else whole_file(path) as file:
        yield file


@contextmanager
def _into(path: Path) -> Iterator[BinaryIO]:
    """Lend a device or a pipe as it is: a file put in its place would be no use to its reader."""
    try:
        with path.open("wb") as file:
            yield file
    except OSError as error:
        raise refusal(error, path) from error
