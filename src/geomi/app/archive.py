"""Open the archive of a data directory: in the directory, or in the bucket that `blobs` names.

S3 is an extra: nothing of it is imported before a URL asks for it.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from geomi import __version__
from geomi.adapters.blob.directory import DirectoryArchive
from geomi.adapters.blob.spool import BucketSpool, DirectorySpool
from geomi.adapters.bucket_url import read_bucket_url
from geomi.adapters.machine.disk import refusal, whole_file
from geomi.errors import ConfigError
from geomi.ports.archive import KeptArchive, Spool
from geomi.settings.options import Settings

if TYPE_CHECKING:
    from geomi.adapters.blob.bucket import Bucket

SOFTWARE = f"geomi/{__version__}"
# A settlement waits for it, and nothing is lost with it but a little time.
SPOOL_PATIENCE_S = 5.0


def bucket_of(settings: Settings, *, patience_s: float | None = None) -> Bucket | None:
    """Read where the archive is; nonsense is refused before anything is opened or dialled."""
    if not settings.blobs:
        return None
    need_obstore("an archive in a bucket")
    from geomi.adapters.blob.bucket import PATIENCE_S, Bucket  # an extra

    return Bucket(read_bucket_url(settings.blobs), patience_s=patience_s or PATIENCE_S)


def need_obstore(what: str) -> None:
    """Refuse what needs an extra that is not there."""
    if find_spec("obstore") is None:
        raise ConfigError(
            f"{what} needs obstore, which is not installed", hint="pip install 'geomi[s3]'"
        )


def directory_id(root: Path, settings: Settings) -> str:
    """Return what a directory's archive is known by in a database; empty where none is needed.

    The file is made by whoever crawls here first. A database may have jobs of several directories,
    and a worker that writes to the wrong one would leave pages that nobody else can read.
    """
    if settings.blobs or not settings.db:
        return ""
    path = root / "archive.id"
    try:
        if not path.exists():
            with whole_file(path) as file:
                file.write(uuid4().hex.encode())
        return path.read_text("ascii").strip()
    except OSError as error:
        raise refusal(error, path) from error


def open_archive(
    root: Path, bucket: Bucket | None, *, worker: str, warn: Callable[[str], None]
) -> KeptArchive:
    """Open the archive of a data directory, for one worker; nothing is dialled yet."""
    if bucket is None:
        return DirectoryArchive(root, worker=worker, software=SOFTWARE)
    from geomi.adapters.blob.s3 import S3Archive  # an extra

    return S3Archive(root, bucket, worker=worker, software=SOFTWARE, warn=warn)


def open_spool(root: Path, settings: Settings) -> Spool:
    """Open where whole texts wait: beside the archive, so that whoever reads it finds them."""
    bucket = bucket_of(settings, patience_s=SPOOL_PATIENCE_S)
    return DirectorySpool(root) if bucket is None else BucketSpool(bucket)
