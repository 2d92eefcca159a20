"""`geomi backup` and `geomi restore`: copy a data directory into one file, and back."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from geomi.app.use import backup as use
from geomi.cli import flags
from geomi.cli.console import conclude
from geomi.cli.data_directory import in_data_directory
from geomi.cli.options import data_directory_path


def backup(
    target: Annotated[Path, typer.Argument(metavar="FILE.tar", help="The file to write.")],
    output: flags.Directory = None,
    json: flags.AsJson = False,
) -> None:
    """Copy a data directory into one file while crawls run; `.tar.gz` compresses it."""
    packed = in_data_directory(output, lambda home: use.backup(home, target))
    _tell(packed, "backed up to", json=json)


def restore(
    source: Annotated[Path, typer.Argument(metavar="FILE.tar", help="A backup.")],
    output: flags.Directory = None,
    json: flags.AsJson = False,
) -> None:
    """Create a data directory from a backup; refuse one that is not empty."""
    packed = use.restore(source, data_directory_path(output))
    _tell(packed, "restored to", json=json)


def _tell(packed: use.BackupSummary, verb: str, *, json: bool) -> None:
    conclude(packed, f"{packed.jobs} jobs, {packed.files:,} files {verb} {packed.path}", json=json)
