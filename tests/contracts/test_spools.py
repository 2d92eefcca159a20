"""Whole texts that wait to be indexed: in a directory, and in a bucket."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from geomi.adapters.blob.spool import BucketSpool, DirectorySpool
from geomi.adapters.bucket_url import read_bucket_url
from geomi.errors import StoreError
from geomi.ports.archive import Spool
from tests.support.s3 import S3Server
from tests.support.waiting import waits

FIRST, SECOND = f"100-{'a' * 32}", f"200-{'b' * 32}"

Spools = Callable[[], Spool]


@pytest.fixture(params=["directory", "s3"])
def spools(request: pytest.FixtureRequest, tmp_path: Path) -> Spools:
    """Open one spool, as often as a test asks for."""
    if request.param == "directory":
        return lambda: DirectorySpool(tmp_path)
    server: S3Server = request.getfixturevalue("s3")
    url = read_bucket_url(server.new_prefix())

    def in_bucket() -> Spool:
        from geomi.adapters.blob.bucket import Bucket  # an extra

        return BucketSpool(Bucket(url))

    return in_bucket


@waits
async def test_a_text_waits_until_it_is_dropped(spools: Spools) -> None:
    spool = spools()
    await spool.put("job-1", {FIRST: b"one" * 1000, SECOND: b"two"})
    await spool.put("job-1", {SECOND: b"again"})
    elsewhere = spools()
    assert await elsewhere.get("job-1", FIRST) == b"one" * 1000
    assert await elsewhere.get("job-1", SECOND) == b"again"
    assert await elsewhere.get("job-2", FIRST) is None
    await elsewhere.drop("job-1", [FIRST, FIRST])
    await elsewhere.drop("job-1", [])
    assert await spool.get("job-1", FIRST) is None
    assert await spool.get("job-1", SECOND) == b"again"


@waits
async def test_what_is_over_goes_and_nothing_else(spools: Spools) -> None:
    spool = spools()
    for job in ("job-1", "job-2"):
        await spool.put(job, {FIRST: b"one", SECOND: b"two"})
    assert await spool.sweep(wall_s=99.9) == 0
    assert await spool.sweep(wall_s=100.0) == 2
    assert await spool.get("job-1", FIRST) is None
    assert await spool.get("job-2", SECOND) == b"two"
    await spool.erase("job-2")
    await spool.erase("job-3")
    assert await spool.get("job-2", SECOND) is None
    assert await spool.sweep(wall_s=200.0) == 1
    assert await spool.sweep(wall_s=200.0) == 0


@pytest.mark.parametrize("name", ["../../geomi.db", "x", f"100-{'g' * 32}", ""])
@waits
async def test_no_name_leads_elsewhere(tmp_path: Path, name: str) -> None:
    with pytest.raises(StoreError, match="is not a text that waits to be indexed"):
        await DirectorySpool(tmp_path).get("job-1", name)
    with pytest.raises(StoreError, match="cannot name a job"):
        await DirectorySpool(tmp_path).drop("../job", [FIRST])


@waits
async def test_halves_of_a_crash_are_no_text_and_go_in_time(tmp_path: Path) -> None:
    spool = DirectorySpool(tmp_path)
    await spool.put("job-1", {FIRST: b"one"})
    folder = tmp_path / "spool" / "job-1"
    (folder / SECOND).write_bytes(b"")
    (folder / f"{SECOND}.part").write_bytes(b"half")
    (folder / "theirs.txt").write_bytes(b"not ours")
    assert await spool.get("job-1", SECOND) is None
    assert await spool.sweep(wall_s=1000.0) == 3
    assert [path.name for path in folder.iterdir()] == ["theirs.txt"]
