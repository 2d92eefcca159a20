"""The archives that have to keep the contract: in a directory, and in a bucket."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from geomi.adapters.blob.directory import DirectoryArchive
from geomi.adapters.bucket_url import read_bucket_url
from geomi.ports.archive import KeptArchive
from tests.contracts.suites.archiving import (
    SEGMENT_BYTES,
    Archives,
    TestErasing,
    TestMending,
    TestPlaces,
    TestSegments,
    TestSitemaps,
)
from tests.support.s3 import S3Server

__all__ = ["TestErasing", "TestMending", "TestPlaces", "TestSegments", "TestSitemaps"]


@pytest.fixture(params=["directory", "s3"])
def archives(request: pytest.FixtureRequest, tmp_path: Path) -> Archives:
    """Open one archive, for as many workers as a test asks for."""
    if request.param == "directory":
        return lambda worker: DirectoryArchive(
            tmp_path, worker=worker, software="geomi/test", segment_bytes=SEGMENT_BYTES
        )
    server: S3Server = request.getfixturevalue("s3")
    return partial(_in_bucket, tmp_path, server.new_prefix())


def _in_bucket(root: Path, url: str, worker: str) -> KeptArchive:
    from geomi.adapters.blob.bucket import Bucket  # an extra
    from geomi.adapters.blob.s3 import S3Archive

    return S3Archive(
        root,
        Bucket(read_bucket_url(url)),
        worker=worker,
        software="geomi/test",
        segment_bytes=SEGMENT_BYTES,
    )
