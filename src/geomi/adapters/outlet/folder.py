"""A job's outputs in a data directory: `jobs/<job>/…`, and links at the top to the newest job's."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from geomi.adapters.disk import refusal
from geomi.adapters.outlet.jsonl import JsonLines
from geomi.adapters.outlet.markdown import MarkdownTree
from geomi.errors import StoreError

LINKS = ("pages.jsonl", "md", "warc")  # at the top of the data directory, to the newest job


def job_outlets(root: Path, job: str, formats: Sequence[str]) -> list[JsonLines | MarkdownTree]:
    """Make a job's derived outputs, and point the directory's top at them."""
    folder = root / "jobs" / job
    outlets: list[JsonLines | MarkdownTree] = []
    if "jsonl" in formats:
        outlets.append(JsonLines(folder / "pages.jsonl"))
        _point(root / "pages.jsonl", Path("jobs") / job / "pages.jsonl")
    if "md" in formats:
        outlets.append(MarkdownTree(folder / "md"))
        _point(root / "md", Path("jobs") / job / "md")
    _point(root / "warc", Path("jobs") / job / "warc")
    return outlets


def remove_job(root: Path, job: str) -> None:
    """Remove a job's files, and the links at the top that led to them."""
    folder = root / "jobs" / job
    try:
        if folder.exists():
            shutil.rmtree(folder)
        for link in (root / name for name in LINKS):
            if link.is_symlink() and not link.exists():
                link.unlink()
    except OSError as error:
        raise refusal(error, folder) from error


def _point(link: Path, target: Path) -> None:
    """Make a link at the top of the data directory lead to the newest job's output."""
    if link.exists() and not link.is_symlink():
        return  # something of the user's own is there
    part = link.with_name(f".{link.name}.part")
    try:
        part.unlink(missing_ok=True)
        part.symlink_to(target)
        part.replace(link)
    except OSError as error:
        raise StoreError(f"cannot link `{link}` to `{target}`: {error.strerror}") from error
