"""The real command with its archive in a bucket of a real S3 server."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from geomi.adapters.store.postgres.address import read_address
from geomi.errors import StoreError
from tests.e2e.command import LOCAL, clean_env, records, run, start
from tests.service.seed_web import WEB, seed_web
from tests.support.postgres import Cluster
from tests.support.s3 import S3Server
from tests.support.seed_contracts import lay_contract
from tests.support.server import Reply, Site
from tests.support.webs import random_web

PAGES = 60
KILLS = 6
ENDS = 10
# The last word of a bucket's client is hardly spoken when the process ends.
LAST_WORD = """
import asyncio
from geomi import cli
from geomi.adapters.blob.bucket import Bucket
from geomi.adapters.bucket_url import read_bucket_url
from geomi.errors import StoreError

def main():
    url = read_bucket_url("s3://bucket/?endpoint=http://127.0.0.1:1&region=us-east-1")
    try:
        asyncio.run(Bucket(url, patience_s=0.2).sizes(""))
    except StoreError as error:
        return error.exit_code

cli.main = main
cli.start()
"""


def _place(url: str) -> str:
    return url.partition("?")[0]


def _there(s3: S3Server, url: str) -> list[str]:
    return [found["path"] for found in s3.objects(url).list().collect()]


def _here(root: Path) -> list[Path]:
    return sorted(root.glob("jobs/*/warc/*.warc.gz"))


def _crawl(site: Site, root: Path, url: str) -> list[str]:
    return ["crawl", site.url("/"), "-o", str(root), "-q", "--delay", "0", "--blobs", url, *LOCAL]


def _exported(root: Path, url: str) -> Counter[str]:
    """Read every committed record back from the archive."""
    told = run("export", "-f", "jsonl", "-o", str(root), "--blobs", url)
    assert told.returncode == 0, told.stderr
    return Counter(json.loads(line)["url"] for line in told.stdout.splitlines())


@pytest.mark.slow
def test_killed_and_robbed_of_its_disk_a_crawl_loses_nothing(tmp_path: Path, s3: S3Server) -> None:
    """Every other time, what the killed workers had not sent goes with them."""
    web, rng, url = random_web(4, pages=PAGES), random.Random(1), s3.new_prefix()
    with Site(web.routes) as site:
        command = [*_crawl(site, tmp_path, url), "--resume", "--workers", "2"]
        command[command.index("--delay") + 1] = "0.02"
        robbed = 0
        for number in range(KILLS):
            before = len(site.log)
            process = start(*command)
            deadline_s = time.monotonic() + 20
            while len(site.log) < before + rng.randint(3, 9) and time.monotonic() < deadline_s:
                time.sleep(0.01)
            time.sleep(rng.uniform(0, 0.2))
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            for segment in _here(tmp_path) if number % 2 else ():
                segment.unlink()
                robbed += 1
        done = run(*command)
        assert done.returncode == 0, done.stderr
        wanted = dict.fromkeys(map(site.url, web.reachable), 1)
    assert robbed
    assert _here(tmp_path) == []
    assert _exported(tmp_path, url) == wanted
    assert Counter(record["url"] for record in records(tmp_path)) == wanted


def test_a_job_is_deleted_with_what_is_in_the_bucket(tmp_path: Path, s3: S3Server) -> None:
    url = s3.new_prefix()
    with Site(random_web(5, pages=5).routes) as site:
        told = run(*_crawl(site, tmp_path, url))
    assert told.returncode == 0, told.stderr
    assert len(_there(s3, url)) == 1
    delete = ("jobs", "delete", "latest", "--yes", "-o", str(tmp_path))
    refused = run(*delete)
    assert refused.returncode == 2
    assert f"GEOMI_BLOBS={_place(url)}" in refused.stderr
    assert len(_there(s3, url)) == 1
    assert run(*delete, env={"GEOMI_BLOBS": url}).returncode == 0
    assert _there(s3, url) == []


def test_a_backup_has_what_is_in_the_directory(tmp_path: Path, s3: S3Server) -> None:
    url, root = s3.new_prefix(), tmp_path / "data"
    with Site(random_web(6, pages=5).routes) as site:
        assert run(*_crawl(site, root, url)).returncode == 0
    file, copy = tmp_path / "all.tar", tmp_path / "copy"
    env = {"GEOMI_BLOBS": url}
    assert run("backup", str(file), "-o", str(root), env=env).returncode == 0
    assert run("restore", str(file), "-o", str(copy)).returncode == 0
    assert _exported(copy, url) == _exported(root, url) != Counter()


def test_an_export_and_the_doctor_know_where_the_archive_is(tmp_path: Path, s3: S3Server) -> None:
    url = s3.new_prefix()
    with Site(random_web(8, pages=5).routes) as site:
        assert run(*_crawl(site, tmp_path, url)).returncode == 0
    told = run("export", "-f", "jsonl", "-o", str(tmp_path))
    assert told.returncode == 2
    assert f"GEOMI_BLOBS={_place(url)}" in told.stderr
    looked = run("doctor", "-o", str(tmp_path), env={"GEOMI_BLOBS": url})
    assert f"archive: {_place(url)} can be reached" in looked.stdout


def test_the_doctor_looks_deep_into_a_database_and_a_bucket(
    tmp_path: Path, s3: S3Server, cluster: Cluster
) -> None:
    import psycopg  # an extra

    url, env = s3.new_prefix(), {"GEOMI_DB": cluster.new_schema()}
    with Site(random_web(9, pages=5).routes) as site:
        assert run(*_crawl(site, tmp_path, url), env=env).returncode == 0
    look = ("doctor", "--deep", "--allow-private", "--blobs", url, "-o", str(tmp_path), "--json")
    sound = run(*look, env=env)
    assert sound.returncode == 0, sound.stdout + sound.stderr
    address = read_address(env["GEOMI_DB"])
    with psycopg.connect(address.url) as db:
        db.execute(f'UPDATE "{address.schema}".jobs SET failed = failed + 2')
    for name in _there(s3, url):
        s3.objects(url).delete(name)
    broken = run(*look, env=env)
    assert broken.returncode == 6
    found = {one["invariant"]: one for one in json.loads(broken.stdout)["invariants"]}
    assert {name for name, one in found.items() if one["broken"]} == {"counters", "readable"}
    assert "a recount says" in found["counters"]["examples"][0]


def test_a_wrong_key_is_found_out_before_the_first_page(tmp_path: Path, s3: S3Server) -> None:
    with Site(random_web(7, pages=5).routes) as site:
        told = run(
            *_crawl(site, tmp_path, s3.new_prefix()), env={"AWS_SECRET_ACCESS_KEY": "wrong-key"}
        )
    assert told.returncode == 4
    assert "SignatureDoesNotMatch" in told.stderr
    assert "AWS_SECRET_ACCESS_KEY" in told.stderr
    assert not any(secret in told.stderr for secret in ("wrong-key", *s3.environment.values()))


def test_a_bucket_that_is_away_does_not_change_the_exit_code(s3: S3Server) -> None:
    ends = [
        subprocess.Popen([sys.executable, "-c", LAST_WORD], env=clean_env() | s3.environment)
        for _ in range(ENDS)
    ]
    assert [one.wait() for one in ends] == [StoreError.exit_code] * ENDS


@pytest.mark.parametrize("url", ["s3://someone:hush@bucket", "/srv/pages", "https://s3.test/b"])
def test_what_names_no_bucket_is_refused(tmp_path: Path, url: str) -> None:
    told = run("crawl", "http://127.0.0.1:9/", "-o", str(tmp_path), "--blobs", url, *LOCAL)
    assert told.returncode == 2
    assert "hush" not in told.stderr
    assert not (tmp_path / "geomi.db").exists()


@pytest.mark.slow
def test_several_workers_crawl_from_contracts_in_a_bucket_into_another(
    tmp_path: Path, s3: S3Server
) -> None:
    """The client of a bucket has threads, which a forked worker would wait for in vain."""
    names = [f"d{number:02}.gov.sg" for number in range(20)]
    page = Reply(b"<title>News</title><p>" + b"All the news of the day. " * 30)
    contracts, blobs = s3.new_prefix(), s3.new_prefix()
    for name in names:
        lay_contract(tmp_path / "dataset", [f"https://{name}/"], domain=name)
    for path in sorted((tmp_path / "dataset").rglob("*")):
        if path.is_file():
            key = str(path.relative_to(tmp_path / "dataset"))
            s3.objects(contracts).put(key, path.read_bytes())
    with seed_web(tmp_path, *names, routes={**WEB, "/": page}) as web:
        place, _, server = contracts.partition("?")
        told = run(
            *("crawl", "--from-prod", f"{place}/prod?{server}", "--blobs", blobs),
            *("--workers", "2", "-d", "0", "-q", "-o", str(tmp_path / "data")),
            env=web.env,
            timeout_s=60,
        )
    assert told.returncode == 0, told.stderr
    assert len(records(tmp_path / "data")) == len(names)
    assert _here(tmp_path / "data") == []
    assert _there(s3, blobs)
