"""`geomi export`: write an output of a job again, from what is committed.

A file appears whole or not at all, and holds nothing that was not committed; the crawl may still be
running.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, BinaryIO

import typer

from geomi.adapters.disk import refusal
from geomi.adapters.outlet.markdown import MarkdownTree
from geomi.app import Home
from geomi.cli.home import in_home
from geomi.cli.options import AsJson, Directory, JobId
from geomi.cli.talk import give, note
from geomi.engine.export import records, segment_ends
from geomi.engine.jobs import find
from geomi.errors import ConfigError, StoreError

CHUNK_BYTES = 1024 * 1024
STDOUT = Path("-")


class Form(StrEnum):
    """What can be written."""

    MD = "md"
    JSONL = "jsonl"
    WARC = "warc"


@dataclass(frozen=True, slots=True)
class Exported:
    """What was written: pages, or segments of an archive."""

    job: str
    format: Form
    to: str
    count: int


def export(
    form: Annotated[Form, typer.Option("-f", "--format", help="What to write.")],
    job: JobId = "latest",
    to: Annotated[
        Path | None,
        typer.Option(
            metavar="PATH",
            help="A file, or a folder for md; `-` is stdout.",
            show_default="stdout; the job's own folder for md",
        ),
    ] = None,
    output: Directory = None,
    json: AsJson = False,
) -> None:
    """Write markdown, JSON lines or one WARC file of everything a job has collected."""
    exported = in_home(output, lambda home: _export(home, form, job, to))
    if json and exported.to != str(STDOUT):
        give(exported)
    else:
        what = "segments" if form is Form.WARC else "pages"
        note(f"{exported.count:,} {what} of job {exported.job} to {exported.to}")


async def _export(home: Home, form: Form, job: str, to: Path | None) -> Exported:
    found = await find(home.world, job)
    match form:
        case Form.MD:
            folder = to or home.root / "jobs" / found.id / "md"
            return Exported(found.id, form, str(folder), await _markdown(home, found.id, folder))
        case Form.JSONL:
            file = to or STDOUT
            return Exported(found.id, form, str(file), await _lines(home, found.id, file))
        case Form.WARC:
            file = to or STDOUT
            return Exported(found.id, form, str(file), await _warc(home, found.id, file))


async def _markdown(home: Home, job: str, folder: Path) -> int:
    if folder == STDOUT:
        raise ConfigError("markdown is one file a page and has no place on stdout", hint="--to DIR")
    tree = MarkdownTree(folder)
    count = 0
    async for record in records(home.world, job):
        tree.write_page(record)
        count += 1
    return count


async def _lines(home: Home, job: str, path: Path) -> int:
    count = 0
    with _written(path) as file:
        async for record in records(home.world, job):
            file.write(record + b"\n")
            count += 1
    return count


async def _warc(home: Home, job: str, path: Path) -> int:
    """Put the committed part of every segment into one file: gzip members may simply follow."""
    if path == STDOUT and sys.stdout.isatty():
        raise ConfigError("a WARC file is not for a terminal", hint="--to pages.warc.gz")
    ends = await segment_ends(home.world.pages, job)
    with _written(path) as file:
        for segment, end in sorted(ends.items()):
            _copy(home.root / segment, end, file)
    return len(ends)


def _copy(segment: Path, end: int, file: BinaryIO) -> None:
    try:
        with segment.open("rb") as source:
            left = end
            while left and (chunk := source.read(min(left, CHUNK_BYTES))):
                file.write(chunk)
                left -= len(chunk)
    except FileNotFoundError as error:
        raise StoreError(f"`{segment}` is missing", hint="restore it from a backup") from error
    if left:
        raise StoreError(f"`{segment}` is {left:,} bytes shorter than what was committed")


@contextmanager
def _written(path: Path) -> Iterator[BinaryIO]:
    """Lend a file that takes its name once it is whole; `-` is stdout."""
    if path == STDOUT:
        sys.stdout.flush()
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    if path.exists() and not path.is_file():
        with _into(path) as file:
            yield file
        return
    part = path.with_name(f".{path.name}.part")
    try:
        with part.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except OSError as error:
        raise refusal(error, path) from error
    finally:
        part.unlink(missing_ok=True)


@contextmanager
def _into(path: Path) -> Iterator[BinaryIO]:
    """Lend a device or a pipe as it is: a file put in its place would be no use to its reader."""
    try:
        with path.open("wb") as file:
            yield file
    except OSError as error:
        raise refusal(error, path) from error
