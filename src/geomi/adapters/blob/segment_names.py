"""The names of archive segments: `jobs/<job>/warc/<worker>-<NNNN>.warc.gz`, wherever they lie.

No name leads out of the archive, whatever the database says.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from geomi.errors import StoreError

SUFFIX = ".warc.gz"

_NAME = re.compile(r"[A-Za-z0-9-]+")
_SEGMENT = re.compile(r"jobs/[A-Za-z0-9-]+/warc/[A-Za-z0-9-]+\.warc\.gz")

_WRITTEN_BY = re.compile(r"jobs/[A-Za-z0-9-]+/warc/([A-Za-z0-9-]+)-[0-9]{4,9}\.warc\.gz")


def checked_name(name: str, what: str) -> str:
    """Return a name that can be a part of a path; `what` says whose it is."""
    if not _NAME.fullmatch(name):
        raise StoreError(f"`{name}` cannot name a {what}: use letters, digits and hyphens only")
    return name


def is_segment(name: str) -> bool:
    """Tell whether this can be a segment's name at all."""
    return _SEGMENT.fullmatch(name) is not None


def folder_of(job: str) -> str:
    """Return where a job's segments lie."""
    return f"jobs/{checked_name(job, 'job')}/warc"


def segments_of(worker: str) -> re.Pattern[str]:
    """Return what the last parts of a worker's segments look like; group 1 is the number."""
    return re.compile(checked_name(worker, "worker") + r"-([0-9]{4,9})\.warc\.gz")


def worker_of(segment: str) -> str:
    """Return whose segment this is; empty where its name does not say."""
    found = _WRITTEN_BY.fullmatch(segment)
    return found[1] if found else ""


def last_number(worker: str, names: Iterable[str]) -> int:
    """Return the greatest number that a worker has given to a segment; 0 for none."""
    ours = segments_of(worker)
    found = (ours.fullmatch(name.rpartition("/")[2]) for name in names)
    return max((int(match[1]) for match in found if match), default=0)
