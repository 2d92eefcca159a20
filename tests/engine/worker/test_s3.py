"""A crawl with its archive in a bucket: the same pages, and none is lost with a disk."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import pytest
from warcio.archiveiterator import ArchiveIterator

from geomi.app import DataDirectory
from geomi.app.use.outputs import write_output
from geomi.engine.inspect.export import records, segment_ends
from geomi.engine.jobs import find
from geomi.errors import ConfigError, StoreError
from geomi.model.verdict import State
from geomi.settings.options import Settings
from tests.support.crawl import LOCAL, Crawled, Ear, crawl_seeds, crawl_site, home_in, page
from tests.support.postgres import Cluster
from tests.support.s3 import S3Server
from tests.support.server import Site
from tests.support.waiting import waits

PAGES = 15


def _site() -> Site:
    pages = {
        f"/{number}": page(f"page {number}", f"/{number * 2}", f"/{number * 2 + 1}")
        for number in range(1, PAGES + 1)
    }
    return Site({"/": page("home", "/1", "/2", "/3"), **pages})


def _settings(s3: S3Server) -> Settings:
    return replace(LOCAL, blobs=s3.new_prefix())


def _here(root: Path) -> list[Path]:
    return sorted(root.glob("jobs/*/warc/*.warc.gz"))


async def _read_back(home: DataDirectory) -> list[bytes]:
    job = await find(home.world, "latest")
    return [record async for record in records(home.world, job.id)]


def _done(crawled: Crawled) -> int:
    return sum(entry.state is State.COMPLETED for entry in crawled.entries.values())


def test_the_same_crawl_leaves_the_same(tmp_path: Path, s3: S3Server) -> None:
    left = {}
    with _site() as site:
        for name, settings in (("directory", LOCAL), ("bucket", _settings(s3))):
            crawled = crawl_site(tmp_path / name, site.url("/"), settings=settings)
            assert bool(_here(tmp_path / name)) == (name == "directory")
            left[name] = (sorted(crawled.urls), crawled.states(site), crawled.report.job.stats)
    assert left["directory"] == left["bucket"]
    assert len(left["bucket"][0]) == PAGES + 1


@waits
async def test_the_same_crawl_on_postgresql_and_a_bucket(
    tmp_path: Path, s3: S3Server, cluster: Cluster
) -> None:
    """Nothing of the state or the archive is on the disk that crawled."""
    both = replace(_settings(s3), db=cluster.new_schema())
    left = {}
    with _site() as site:
        for name, settings in (("one machine", LOCAL), ("many", both)):
            crawled = await crawl_seeds(tmp_path / name, site.url("/"), settings=settings)
            left[name] = (sorted(crawled.urls), crawled.states(site), crawled.report.job.stats)
    assert left["one machine"] == left["many"]
    elsewhere = tmp_path / "another machine"
    assert len(await _in_home(elsewhere, both)) == PAGES + 1


@waits
async def test_what_is_in_the_bucket_is_read_back_and_exported(
    tmp_path: Path, s3: S3Server
) -> None:
    settings = _settings(s3)

    with _site() as site:
        await crawl_seeds(tmp_path, site.url("/"), settings=settings)
    assert not _here(tmp_path)
    async with home_in(tmp_path, Ear(), settings) as home:
        job = (await find(home.world, "latest")).id
        index, segments = io.BytesIO(), io.BytesIO()
        await write_output(home, job, "cdxj", index)
        await write_output(home, job, "warc", segments)
        read = len(await _read_back(home))
    assert read == index.getvalue().count(b"\n") == PAGES + 1
    kinds = [record.rec_type for record in ArchiveIterator(io.BytesIO(segments.getvalue()))]
    assert kinds.count("response") == PAGES + 1


@waits
async def test_pages_of_a_lost_segment_are_fetched_again(tmp_path: Path, s3: S3Server) -> None:
    """The machine that crawled the second half is gone, with what it had not sent."""
    settings = _settings(s3)

    with _site() as site:
        await crawl_seeds(tmp_path, site.url("/"), settings=settings, max_pages=5)
        await crawl_seeds(tmp_path, site.url("/"), settings=settings, resume=True, max_pages=9)
        async with home_in(tmp_path, Ear(), settings) as home:
            job = (await find(home.world, "latest")).id
            lost = sorted(await segment_ends(home.world.store.pages, job))[-1]
            assert len(await segment_ends(home.world.store.pages, job)) == 2
            s3.objects(settings.blobs).delete(lost)
        crawled = await crawl_seeds(
            tmp_path, site.url("/"), settings=settings, resume=True, max_pages=0
        )
    assert any("pages will be fetched again" in text for text in crawled.ear.warnings)
    assert _done(crawled) == len(set(crawled.urls)) == PAGES + 1
    assert len(await _in_home(tmp_path, settings)) == PAGES + 1


@waits
async def test_what_could_not_be_sent_is_sent_by_the_next_crawl(
    tmp_path: Path, s3: S3Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = _settings(s3)

    async def refuse(*_: object) -> None:
        raise StoreError("the bucket is away")

    with _site() as site:
        with monkeypatch.context() as patch:
            patch.setattr("geomi.adapters.blob.bucket.Bucket.keep", refuse)
            with pytest.raises(StoreError, match="the bucket is away"):
                await crawl_seeds(tmp_path, site.url("/"), settings=settings, max_pages=5)
        (waiting,) = _here(tmp_path)
        crawled = await crawl_seeds(
            tmp_path, site.url("/"), settings=settings, resume=True, max_pages=0
        )
    # Half of its links lead nowhere, of which an alarm tells.
    assert [text for text in crawled.ear.warnings if not text.startswith("alarm ")] == []
    assert _here(tmp_path) == []
    assert waiting.name in {name.rpartition("/")[2] for name in _there(s3, settings)}
    assert len(await _in_home(tmp_path, settings)) == PAGES + 1


def test_the_extra_is_named_where_it_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("geomi.app.directory.find_spec", lambda _: None)
    with pytest.raises(ConfigError, match="needs obstore") as caught:
        crawl_site(tmp_path, "http://127.0.0.1:9/", settings=replace(LOCAL, blobs="s3://bucket"))
    assert "geomi-crawler[s3]" in caught.value.hint
    assert list(tmp_path.iterdir()) == []


@waits
async def test_several_workers_send_what_they_wrote(tmp_path: Path, s3: S3Server) -> None:
    settings = _settings(s3)
    with _site() as site:
        crawled = await crawl_seeds(tmp_path, site.url("/"), settings=settings, workers=2)
    assert _done(crawled) == PAGES + 1
    assert _here(tmp_path) == []
    assert len(await _in_home(tmp_path, settings)) == PAGES + 1


def _there(s3: S3Server, settings: Settings) -> list[str]:
    return [found["path"] for found in s3.objects(settings.blobs).list().collect()]


async def _in_home(root: Path, settings: Settings) -> list[bytes]:
    async with home_in(root, Ear(), settings) as home:
        return await _read_back(home)


@pytest.mark.parametrize("was", ["bucket", "directory"])
def test_a_job_is_not_looked_for_in_another_archive(tmp_path: Path, s3: S3Server, was: str) -> None:
    """All its pages would count as lost, and be fetched again."""
    places = {"bucket": _settings(s3), "directory": LOCAL}
    with _site() as site:
        crawl_site(tmp_path, site.url("/"), settings=places.pop(was), max_pages=3)
        ((_, other),) = places.items()
        with pytest.raises(ConfigError, match="the archive of job"):
            crawl_site(tmp_path, site.url("/"), settings=other, resume=True)
