"""A job's outputs in a data directory: `jobs/<job>/…`, and links at the top to the newest job's."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from geomi.adapters.machine.disk import refusal
from geomi.adapters.outlet.appended_file import AppendedFile, json_lines
from geomi.adapters.outlet.llms import llms_full_file
from geomi.adapters.outlet.markdown import MarkdownTree
from geomi.errors import StoreError

# What is made at once of a whole job, when it is over, and where it lies in the job's folder.
WHOLE = {"llms": "llms.txt", "cdxj": "warc/index.cdxj", "parquet": "pages.parquet"}
# Everything that is derived of a job.
OUTPUTS = {"jsonl": "pages.jsonl", "md": "md", "llms-full": "llms-full.txt"} | WHOLE
# At the top of the data directory, to the newest job; the index lies in `warc`.
LINKS = ("pages.jsonl", "md", "warc", "llms-full.txt", "llms.txt", "pages.parquet")


def job_outlets(
    root: Path, job: str, formats: Sequence[str], *, is_linked: bool = True
) -> list[AppendedFile | MarkdownTree]:
    """Make a job's derived outputs, and point the directory's top at them.

    Args:
        is_linked: False for a job that has only some pages of its crawl.
    """
    folder = root / "jobs" / job
    outlets: dict[str, AppendedFile | MarkdownTree] = {}
    if "jsonl" in formats:
        outlets["pages.jsonl"] = json_lines(folder / "pages.jsonl")
    if "md" in formats:
        outlets["md"] = MarkdownTree(folder / "md")
    if "llms-full" in formats:
        outlets["llms-full.txt"] = llms_full_file(folder / "llms-full.txt")
    for name in (*outlets, "warc") if is_linked else ():
        point_at(root, job, name)
    return list(outlets.values())


def point_at(root: Path, job: str, name: str) -> None:
    """Let a link at the top lead to an output of the newest job, if one of that name may be."""
    if name in LINKS:
        _point(root / name, Path("jobs") / job / name)


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
