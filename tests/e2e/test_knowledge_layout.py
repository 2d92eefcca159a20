"""The layout of a knowledge base, out of a served crawl over HTTP and of a directory as files."""

from __future__ import annotations

import io
import json
import time
import urllib.request
from hashlib import sha256
from pathlib import Path
from zipfile import ZipFile

import pytest

from tests.e2e.command import LOCAL, run
from tests.e2e.serving import Served
from tests.support.crawl import page, robots
from tests.support.server import Reply, Route, Site

PATHS = ("/", "/a", "/b")
EAGER = {"qualityThreshold": 0, "delayBetweenRequests": 0, "requestsPerSecond": 5}
LONGEST_S = 60.0


def village(site_url: str) -> dict[str, Route]:
    """Make pages, and a robots.txt that names a sitemap of them."""
    return {
        "/robots.txt": robots("User-agent: *", "Disallow: /x", f"Sitemap: {site_url}/maps/all.xml"),
        "/maps/all.xml": Reply(mapped(site_url), content_type="application/xml"),
        "/": page("start", "/a"),
        "/a": page("a"),
        "/b": page("b"),
    }


def mapped(site_url: str) -> bytes:
    """Write a sitemap."""
    rows = "".join(f"<url><loc>{site_url}{path}</loc></url>" for path in PATHS)
    return f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{rows}</urlset>'.encode()


def folder_of(site: Site) -> str:
    """Return what a site's folder is called."""
    return site.url("").removeprefix("http://").replace(":", "_")


def names(site: Site, tenant: str, job: str) -> set[str]:
    """Name the files of seed 004 §7.2."""
    hashes = [sha256(site.url(path).encode()).hexdigest() for path in PATHS]
    own = f"crawls/{tenant}/{job}"
    the_map = sha256(site.url("/maps/all.xml").encode()).hexdigest()
    return {
        *(f"{own}/raw/{one}.html" for one in hashes),
        *(f"{own}/extracted/{one}.json" for one in hashes),
        f"robots/{folder_of(site)}.txt",
        f"sitemaps/{folder_of(site)}/{the_map}.xml",
    }


def downloaded(server: Served, path: str) -> ZipFile:
    """Download a ZIP file."""
    asked = urllib.request.Request(
        f"{server.url}api/v1{path}", headers={"Authorization": f"Bearer {server.key}"}
    )
    with urllib.request.urlopen(asked, timeout=60) as answer:
        assert answer.headers["Content-Type"] == "application/zip"
        body = answer.read()
        assert len(body) == int(answer.headers["Content-Length"])
    return ZipFile(io.BytesIO(body))


def analysed(server: Served, job: str) -> None:
    """Wait until a crawl is over and all its pages are documents."""
    end_s = time.monotonic() + LONGEST_S
    while time.monotonic() < end_s:
        told = server.get(f"/crawls/{job}")
        if told["status"] == "completed" and server.get("/collections")["collections"]:
            listed = server.get("/documents?collectionId=village")["documents"]
            if len(listed) == len(PATHS):
                return
        time.sleep(0.2)
    raise AssertionError(server.get(f"/crawls/{job}"))


@pytest.mark.slow
@pytest.mark.req("STO-01", "STO-02")
def test_a_served_crawl_is_downloaded_with_its_analysis_and_its_sitemaps(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with Site({}) as site, Served(data) as server:
        site.routes = village(site.url(""))
        asked = {"collectionId": "village", "seedUrls": [site.url("/")], "config": EAGER}
        job = server.post("/crawls", asked)["jobId"]
        analysed(server, job)
        with downloaded(server, f"/crawls/{job}/export") as packed:
            assert set(packed.namelist()) == names(site, "default", job)
            own, key = f"crawls/default/{job}", sha256(site.url("/a").encode()).hexdigest()
            assert packed.read(f"{own}/raw/{key}.html") == page("a").body
            found = json.loads(packed.read(f"{own}/extracted/{key}.json"))
            assert found["url"] == site.url("/a") and found["markdown"].startswith("# a")
            assert found["analysis"]["quality"]["overall"] > 0
            (the_map,) = [one for one in packed.namelist() if one.startswith("sitemaps/")]
            assert packed.read(the_map) == mapped(site.url(""))
        assert server.ask("GET", f"/crawls/{job[:-1]}0/export")[0] == 404
        assert list((data / "jobs" / job / "sitemaps").rglob("*.gz"))
        assert server.ask("DELETE", f"/crawls/{job}")[0] == 204
        assert not (data / "jobs" / job).exists()
        assert server.ask("GET", f"/crawls/{job}/export")[0] == 404


@pytest.mark.slow
@pytest.mark.req("STO-02", "LEG-06")
def test_sitemaps_are_kept_within_a_limit_and_erased_with_their_site(tmp_path: Path) -> None:
    output = ["-o", str(tmp_path / "data")]
    with Site({}) as site, Site({"/": page("other")}, address="127.0.0.9") as other:
        site.routes = village(site.url(""))
        command = ["crawl", site.url("/"), other.url("/"), *output, *LOCAL, "--delay", "0"]
        assert run(*command).returncode == 0
        (job,) = (tmp_path / "data" / "jobs").iterdir()

        def exported(to: str) -> set[str]:
            folder = tmp_path / to
            assert run("export", "-f", "kb", *output, "--to", str(folder)).returncode == 0
            found = (path for path in folder.glob("sitemaps/*/*") if path.is_file())
            return {path.relative_to(folder).as_posix() for path in found}

        asked = ("--reason", "asked", "--yes")
        kept = names(site, "local", job.name)
        assert exported("kb") == {one for one in kept if one.startswith("sitemaps/")}
        assert run("erase", "--site", "127.0.0.1", *asked, *output).returncode == 0
        assert exported("after") == set()
        assert not list(job.glob("sitemaps/*/*"))

        for setting in ("store.sitemap_bytes=10", "store.sitemap_bytes=0", "safety.pii=redact"):
            told = run(*command[:2], "-o", str(tmp_path / setting), *LOCAL, "--set", setting)
            assert told.returncode == 0
            assert not list((tmp_path / setting).glob("jobs/*/sitemaps/*/*"))
            assert ("the limit is 10 bytes" in told.stderr) == (setting == "store.sitemap_bytes=10")
