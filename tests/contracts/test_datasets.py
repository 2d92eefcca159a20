"""Datasets of the seed engine: in a directory, and in a bucket."""

from __future__ import annotations

import asyncio
import errno
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import cast

import obstore
import pytest

from geomi.adapters.bucket_url import read_bucket_url
from geomi.adapters.dataset import directory
from geomi.adapters.dataset.directory import LISTED_AT_ONCE, DirectoryDataset
from geomi.adapters.dataset.keys import MAX_KEY_BYTES, MAX_PART_BYTES
from geomi.app.use.datasets import MAX_NAME_CHARS, open_dataset
from geomi.errors import ConfigError, SeedError, StoreError, StoreFull, StoreMissing
from geomi.model.dataset.seed import ErrorType
from geomi.ports.dataset import Dataset, DatasetFile
from tests.support.s3 import S3Server
from tests.support.server import Reply, Site
from tests.support.waiting import waits

FOLDER = "country=sg/category=news/date=2026-01-28/"
RAW = f"raw/{FOLDER}raw_0001.json"
PROD = f"prod/{FOLDER}mom.gov.sg/domain_metadata.json"
TRICKS = [
    "",
    "/etc/passwd",
    "../outside",
    "prod/../../outside",
    "prod/./x",
    "prod//x",
    "prod/x/",
    "prod/a\\b",
    "prod/a\0b",
    "prod/a\nb",
    "prod/\udcff",
    "prod/" + "x" * (MAX_PART_BYTES + 1),
    "prod" + "/x" * (MAX_KEY_BYTES // 2),
]


class Ground:
    """A dataset under test, and a way to drop raw files into it."""

    def __init__(self, dataset: Dataset, drop: Callable[[str, bytes], Awaitable[None]]) -> None:
        self.dataset = dataset
        self.drop = drop

    async def keys(self, prefix: str = "") -> list[str]:
        return [found.key async for found in self.dataset.list(prefix)]


@pytest.fixture(params=["directory", "s3"])
def ground(request: pytest.FixtureRequest, tmp_path: Path) -> Ground:
    """Open an empty dataset."""
    if request.param == "directory":

        async def to_disk(key: str, data: bytes) -> None:
            path = tmp_path / key
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)

        return Ground(open_dataset(str(tmp_path)), to_disk)
    server: S3Server = request.getfixturevalue("s3")
    url = server.new_prefix()
    store = server.objects(url)

    async def to_bucket(key: str, data: bytes) -> None:
        await obstore.put_async(store, key, data)

    return Ground(open_dataset(url), to_bucket)


@waits
async def test_files_are_written_read_and_removed(ground: Ground) -> None:
    dataset = ground.dataset
    assert await dataset.size(PROD) is None
    assert await dataset.read(PROD, max_bytes=10) is None
    await dataset.put(PROD, b"first")
    await dataset.put(PROD, b"second")
    assert await dataset.size(PROD) == 6
    assert await dataset.read(PROD, max_bytes=6) == b"second"
    await dataset.put(PROD, b"")
    assert await dataset.read(PROD, max_bytes=0) == b""
    await dataset.remove(PROD)
    await dataset.remove(PROD)
    assert await dataset.read(PROD, max_bytes=10) is None
    assert await ground.keys() == []


@pytest.mark.req("SED-32", "C-92")
@waits
async def test_a_file_is_added_once(ground: Ground) -> None:
    async with asyncio.TaskGroup() as group:
        adding = [
            group.create_task(ground.dataset.add(f"{PROD}.success", b"%d" % number))
            for number in range(4)
        ]
    winners = [number for number, task in enumerate(adding) if task.result()]
    assert len(winners) == 1
    assert await ground.dataset.read(f"{PROD}.success", max_bytes=9) == b"%d" % winners[0]
    assert not await ground.dataset.add(f"{PROD}.success", b"late")
    assert await ground.keys() == [f"{PROD}.success"]


@pytest.mark.req("SED-03", "C-92")
@pytest.mark.parametrize(
    "key",
    [
        RAW,
        f"raw/{FOLDER}raw_metadata.json",
        f"raw/{FOLDER}raw_metadata.json.success",
        f"raw/{FOLDER}other.success",
        "raw/raw_0001.json.success",
        "elsewhere/x",
        "x",
    ],
)
@waits
async def test_raw_data_are_never_written(ground: Ground, key: str) -> None:
    await ground.drop(key, b"as it came")
    for write in (ground.dataset.put(key, b"x"), ground.dataset.add(key, b"x")):
        with pytest.raises(StoreError, match="is read-only in a dataset"):
            await write
    with pytest.raises(StoreError, match="is read-only in a dataset"):
        await ground.dataset.remove(key)
    assert await ground.dataset.read(key, max_bytes=100) == b"as it came"


@pytest.mark.req("SED-31")
@waits
async def test_checkpoints_stand_beside_raw_files(ground: Ground) -> None:
    await ground.drop(RAW, b"[]")
    assert await ground.dataset.add(f"{RAW}.success", b"{}")
    await ground.dataset.put(f"{RAW}.success", b"{1}")
    assert await ground.keys("raw/") == [RAW, f"{RAW}.success"]
    await ground.dataset.remove(f"{RAW}.success")
    assert await ground.keys("raw/") == [RAW]


@pytest.mark.parametrize("key", TRICKS)
@waits
async def test_no_key_leads_out(ground: Ground, key: str) -> None:
    dataset = ground.dataset
    for use in (
        dataset.read(key, max_bytes=10),
        dataset.size(key),
        dataset.put(key, b"x"),
        dataset.add(key, b"x"),
        dataset.remove(key),
    ):
        with pytest.raises(StoreError):
            await use
    if key.removesuffix("/") not in ("", "prod/x"):
        with pytest.raises(StoreError):
            await ground.keys(key)


@waits
async def test_the_longest_keys(ground: Ground) -> None:
    whole = "rejects/" + "x" * MAX_PART_BYTES
    await ground.dataset.put(whole, b"1")
    assert await ground.keys() == [whole]


@pytest.mark.req("C-51")
@waits
async def test_files_are_listed_in_order(ground: Ground) -> None:
    keys = [
        "prod/a/c",
        "prod/a/d/e",
        "prod/ab",
        "raw/country=my/x",
        "raw/country=sg/y.json",
        "raw/country=sg/y.json.success",
    ]
    for key in reversed(keys):
        await ground.drop(key, key.encode())
    assert await ground.keys() == keys
    assert [it async for it in ground.dataset.list("prod/a/")] == [
        DatasetFile("prod/a/c", 8),
        DatasetFile("prod/a/d/e", 10),
    ]
    assert await ground.keys("prod/a") == keys[:3]
    assert await ground.keys("raw/country=sg/") == keys[4:]
    assert await ground.keys("raw/country=s") == keys[4:]
    assert await ground.keys("raw/country=kr/") == []
    assert await ground.keys("rejects/") == []


@waits
async def test_a_file_beside_a_folder_of_the_same_name(ground: Ground) -> None:
    """Some servers have `a/` before `a.b`, others after it; nobody may rely on either."""
    for key in ("prod/a.b", "prod/a/c", "prod/a/d"):
        await ground.drop(key, b"x")
    found = await ground.keys("prod/")
    assert sorted(found) == ["prod/a.b", "prod/a/c", "prod/a/d"]
    assert found.index("prod/a/d") == found.index("prod/a/c") + 1


@waits
async def test_an_object_that_stands_for_a_folder_is_no_file(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Consoles make such objects; only a plain server shows them as they are, with their slash."""
    sizes = {
        f"seeds/{key}": size
        for key, size in (
            ("raw/", 0),
            ("raw/country=sg/", 0),
            ("raw/country=sg/category=news/", 0),
            ("raw/country=sg/category=news/x", 0),
            ("raw/country=sg/category=news/x.y", 3),
            ("raw/z", 0),
        )
    }
    contents = "".join(
        f"<Contents><Key>{key}</Key><LastModified>2026-01-28T00:00:00.000Z</LastModified>"
        f"<Size>{size}</Size></Contents>"
        for key, size in sizes.items()
    )
    listing = f"<ListBucketResult><IsTruncated>false</IsTruncated>{contents}</ListBucketResult>"
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "id")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")

    with Site({}, otherwise=Reply(listing.encode(), content_type="application/xml")) as site:
        dataset = open_dataset(f"s3://bucket/seeds?endpoint={site.url('')}&region=x")
        assert [it async for it in dataset.list("raw/")] == [
            DatasetFile("raw/country=sg/category=news/x", 0),
            DatasetFile("raw/country=sg/category=news/x.y", 3),
            DatasetFile("raw/z", 0),
        ]


@waits
async def test_what_is_too_large_is_refused(ground: Ground) -> None:
    await ground.drop(RAW, b"x" * 11)
    assert await ground.dataset.read(RAW, max_bytes=11) == b"x" * 11
    with pytest.raises(SeedError, match="has 11 bytes; the limit is 10") as refused:
        await ground.dataset.read(RAW, max_bytes=10)
    assert refused.value.kind is ErrorType.VALIDATION


@waits
async def test_a_gigabyte_is_refused_by_its_size(tmp_path: Path) -> None:
    path = tmp_path / RAW
    path.parent.mkdir(parents=True)
    with path.open("wb") as file:
        file.truncate(1024**3)  # no block of it is on the disk
    path.chmod(0)  # and none can be read

    dataset = DirectoryDataset(tmp_path)
    assert await dataset.size(RAW) == 1024**3
    with pytest.raises(SeedError, match="has 1073741824 bytes"):
        await dataset.read(RAW, max_bytes=64 * 1024**2)


@waits
async def test_links_out_of_a_directory_are_not_followed(tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    (outside / FOLDER).mkdir(parents=True)
    (outside / FOLDER / "raw_0001.json").write_bytes(b"secret")
    (root / "prod").mkdir(parents=True)
    (root / "raw").symlink_to(outside)
    (root / "prod" / "file").symlink_to(outside / FOLDER / "raw_0001.json")
    (root / "prod" / "folder").symlink_to(outside)
    (root / "prod" / "loop").symlink_to(root / "prod")

    dataset = DirectoryDataset(root)
    assert [it.key async for it in dataset.list("")] == []
    for key in (RAW, "prod/file"):
        with pytest.raises(StoreError, match="leads out of"):
            await dataset.read(key, max_bytes=100)
        with pytest.raises(StoreError, match="leads out of"):
            await dataset.size(key)
    with pytest.raises(StoreError, match="leads out of"):
        [it async for it in dataset.list("raw/")]
    for write in (
        dataset.put("prod/folder/x", b"x"),
        dataset.add("prod/folder/new/x", b"x"),
        dataset.remove(f"prod/folder/{FOLDER}raw_0001.json"),
        dataset.add(f"{RAW}.success", b"x"),
    ):
        with pytest.raises(StoreError, match="leads out of"):
            await write
    await dataset.put("prod/file", b"ours")
    assert await dataset.read("prod/file", max_bytes=100) == b"ours"
    assert [path.read_bytes() for path in outside.rglob("*") if path.is_file()] == [b"secret"]


@waits
async def test_nothing_is_written_through_a_link_to_raw_data(tmp_path: Path) -> None:
    (tmp_path / "raw").mkdir()
    (tmp_path / "raw" / "x").write_bytes(b"as it came")
    (tmp_path / "prod").symlink_to("raw")

    dataset = DirectoryDataset(tmp_path)
    for write in (dataset.put("prod/x", b"x"), dataset.remove("prod/x")):
        with pytest.raises(StoreError, match="leads out of"):
            await write
    assert (tmp_path / "raw" / "x").read_bytes() == b"as it came"


@pytest.mark.parametrize("is_moved", [True, False])
@waits
async def test_a_root_that_is_gone_is_not_made_anew(tmp_path: Path, is_moved: bool) -> None:
    root = tmp_path / "seeds"
    root.mkdir()
    dataset = DirectoryDataset(root)
    if is_moved:
        root.rename(tmp_path / "elsewhere")
    else:
        root.rmdir()

    for write in (dataset.put(PROD, b"x"), dataset.add(f"{RAW}.success", b"x")):
        with pytest.raises(StoreError, match="no dataset at"):
            await write
    with pytest.raises(StoreError, match="no dataset at"):
        _ = [found async for found in dataset.list("raw/")]
    # Where nothing is there any more, that one file is not says nothing about it.
    for look in (dataset.size(PROD), dataset.read(PROD, max_bytes=100)):
        with pytest.raises(StoreError, match="no dataset at"):
            await look
    assert not root.exists()


@waits
async def test_what_is_no_plain_file_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "prod" / "folder").mkdir(parents=True)
    os.mkfifo(tmp_path / "prod" / "pipe")
    (tmp_path / "prod" / ".x.0.part").write_bytes(b"half")
    (tmp_path / "prod" / "circle").symlink_to("circle")
    (tmp_path / "prod" / "nowhere").symlink_to("nothing")

    dataset = DirectoryDataset(tmp_path)
    assert [it.key async for it in dataset.list("")] == []
    for key in ("pipe", "folder", ".x.0.part/y", "circle", "nowhere", "circle/y"):
        assert await dataset.read(f"prod/{key}", max_bytes=100) is None
        assert await dataset.size(f"prod/{key}") is None
    with pytest.raises(StoreError):
        await dataset.put("prod/folder", b"x")
    await dataset.put("prod/circle", b"ours")
    assert await dataset.read("prod/circle", max_bytes=100) == b"ours"


@waits
async def test_a_file_in_the_way_of_a_folder(tmp_path: Path) -> None:
    (tmp_path / "prod").write_bytes(b"in the way")

    dataset = DirectoryDataset(tmp_path)
    for write in (dataset.put("prod/x/y", b"x"), dataset.add("prod/x/y", b"x")):
        with pytest.raises(StoreError, match="cannot be used"):
            await write
    await dataset.remove("prod/x/y")
    assert await dataset.read("prod/x/y", max_bytes=10) is None
    assert [it.key async for it in dataset.list("prod/x/")] == []
    assert (tmp_path / "prod").read_bytes() == b"in the way"


@waits
async def test_a_write_that_the_system_refuses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: Path) -> None:
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr(directory, "sync_folder", full)
    (tmp_path / "prod").mkdir()
    (tmp_path / "prod" / "y").touch()

    dataset = DirectoryDataset(tmp_path)
    for write in (
        dataset.put("prod/x", b"x"),
        dataset.add("prod/z", b"x"),
        dataset.add("prod/new/z", b"x"),
        dataset.remove("prod/y"),
    ):
        with pytest.raises(StoreFull):
            await write


@pytest.mark.req("SED-32")
@waits
async def test_a_write_that_ends_in_the_middle_leaves_nothing_of_itself(tmp_path: Path) -> None:
    broken = cast("bytes", "no bytes: this is noticed when the file is open")

    dataset = DirectoryDataset(tmp_path)
    with pytest.raises(TypeError):
        await dataset.add(f"{PROD}.success", broken)
    assert await dataset.size(f"{PROD}.success") is None
    await dataset.put(PROD, b"first")
    with pytest.raises(TypeError):
        await dataset.put(PROD, broken)
    with (tmp_path / PROD).open("rb") as reader:
        assert await dataset.read(PROD, max_bytes=9) == b"first"
        await dataset.put(PROD, b"second")
        assert reader.read() == b"first", "whoever reads has one of them as a whole"
    assert [it.key async for it in dataset.list("")] == [PROD]
    assert [path.name for path in (tmp_path / PROD).parent.iterdir()] == ["domain_metadata.json"]


@waits
async def test_more_files_than_are_listed_at_once(tmp_path: Path) -> None:
    (tmp_path / "prod").mkdir()
    for number in range(LISTED_AT_ONCE + 1):
        (tmp_path / "prod" / f"{number:05}").touch()

    listed = [it.key async for it in DirectoryDataset(tmp_path).list("prod/")]
    assert listed == [f"prod/{number:05}" for number in range(LISTED_AT_ONCE + 1)]


def test_how_datasets_are_named(tmp_path: Path, s3: S3Server) -> None:
    root = tmp_path / "data set"
    root.mkdir()
    (tmp_path / "link").symlink_to(root)
    for text in (str(root), f"{root}/", f"{root}/../data set", root.as_uri(), f"{tmp_path}/link"):
        assert open_dataset(text).name == root.resolve().as_uri()
    url = s3.new_prefix()
    bucket = read_bucket_url(url)
    assert open_dataset(url).name == f"{bucket}?endpoint={bucket.endpoint}"
    assert open_dataset("s3://bucket//a//b/").name == "s3://bucket/a/b"
    servers = {
        open_dataset(f"s3://bucket/a?endpoint=http://{server}").name
        for server in ("one.test", "one.test/", "other.test")
    }
    assert len(servers) == 2, "a bucket of the same name elsewhere is another dataset"
    assert open_dataset(f"file://localhost{root.as_uri()[7:]}").name == root.resolve().as_uri()


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("", ConfigError),
        ("  ", ConfigError),
        ("a\0b", ConfigError),
        ("file:///a%00b", ConfigError),
        ("file://host/x", ConfigError),
        ("https://a.test/", ConfigError),
        ("s3://key:secret@bucket/x", ConfigError),
        ("x" * (MAX_NAME_CHARS + 1), ConfigError),
        ("/there/is/no/such/folder", StoreMissing),
    ],
)
def test_what_names_no_dataset(text: str, kind: type[Exception]) -> None:
    with pytest.raises(kind):
        open_dataset(text)
