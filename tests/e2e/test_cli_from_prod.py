"""From raw files to contracts to a crawl: what was asked for once is not asked for again."""

from __future__ import annotations

import asyncio
import json
import re
import socket
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from geomi.adapters.dataset.directory import DirectoryDataset
from geomi.app import open_directory
from geomi.dataset.partition import metadata_path, raw_path, success_path
from geomi.engine.seeds.context import SeedContext
from geomi.engine.seeds.orchestrate import orchestrate
from geomi.engine.seeds.queue import work_on_queues
from geomi.model.dataset.seed import OrchestrationReport, PartitionFilter
from geomi.settings.options import Settings
from tests.e2e.command import records, run
from tests.support.crawl import Ear, profile_config
from tests.support.seed_contracts import SG
from tests.support.seed_dataset import record
from tests.support.server import Reply, Site
from tests.support.waiting import waits

SITEMAP = b"<urlset><url><loc>http://mom.gov.sg/listed</loc></url></urlset>"
ROUTES = {
    "/robots.txt": Reply(
        b"User-agent: *\nDisallow: /private\n", headers=(("Content-Type", "text/plain"),)
    ),
    "/sitemap.xml": Reply(SITEMAP, headers=(("Content-Type", "application/xml"),)),
    **{
        path: Reply(f"<title>{path}</title><p>What {path} has to say, in some words.".encode())
        for path in ("/a", "/b", "/listed", "/private/c")
    },
}
FORBIDDING = {
    "/robots.txt": Reply(b"User-agent: *\nDisallow: /\n", headers=(("Content-Type", "text/plain"),))
}


@contextmanager
def web() -> Iterator[tuple[Site, Site, list[str]]]:
    """Serve three domains over http, and nobody over https; return how they are found."""
    with Site(ROUTES) as mom, Site(FORBIDDING) as moh, Site({}) as ica, socket.socket() as shut:
        shut.bind(("127.0.0.1", 0))
        closed = shut.getsockname()[1]
        found = [
            f"{name}:{port}:127.0.0.1:{where}"
            for name, site in (("mom.gov.sg", mom), ("moh.gov.sg", moh), ("ica.gov.sg", ica))
            for port, where in ((80, site.port), (443, closed))
        ]
        yield mom, moh, found


async def prepare(root: Path, dataset: Path, found: list[str]) -> None:
    """Let the seed engine make contracts."""
    settings = Settings(resolve=tuple(found), contact="https://crawler.test/about")
    config = profile_config("seed-engine")
    config = replace(config, politeness=replace(config.politeness, delay_s=0.0, per_ip=10))
    async with open_directory(root, settings, lambda _: Ear()) as home:
        seeding = SeedContext(home.world, config, home.store.queues, DirectoryDataset(dataset))
        assert await orchestrate(seeding, PartitionFilter()) == OrchestrationReport(1, 1, 0)
        async with asyncio.timeout(60):
            await work_on_queues(seeding, leaving=asyncio.Event(), is_done_when_empty=True)


@pytest.mark.slow
@pytest.mark.req("SED-01", "SED-02")
@waits
async def test_a_crawl_from_contracts_asks_for_no_robots_txt_again(tmp_path: Path) -> None:
    dataset, data = tmp_path / "dataset", tmp_path / "data"
    raw = dataset / raw_path(SG, 1)
    raw.parent.mkdir(parents=True)
    raw.write_text(
        json.dumps(
            [
                record("http://mom.gov.sg/a"),
                record("http://mom.gov.sg/b"),
                record("http://mom.gov.sg/private/c"),
                record("http://moh.gov.sg/"),
                record("http://ica.gov.sg/"),
            ]
        )
    )
    with web() as (mom, moh, found):
        await prepare(tmp_path / "seeds", dataset, found)
        before = Counter(seen.path for seen in mom.log)
        assert before["/robots.txt"] == 1
        asked_moh = len(moh.log)
        unfinished = dataset / success_path(metadata_path(SG, "ica.gov.sg"))
        unfinished.unlink()
        flags = [flag for one in found for flag in ("--resolve", one)]
        place = f"{dataset}/prod/country=sg/category=news"
        command = ("crawl", "--from-prod", place, "-o", str(data), "--delay", "0", *flags)
        crawled = run(*command)
        assert crawled.returncode == 0, crawled.stderr
        asked = Counter(seen.path for seen in mom.log) - before
        assert asked == {"/a": 1, "/b": 1, "/listed": 1, "/sitemap.xml": 1}
        assert len(moh.log) == asked_moh
        assert sorted(one["title"] for one in records(data)) == ["/a", "/b", "/listed"]
        assert "contracts: 1, with 3 start URLs" in crawled.stderr
        assert "left out: moh.gov.sg: its robots.txt does not allow crawling" in crawled.stderr
        assert "left out: ica.gov.sg: its contract is unfinished" in crawled.stderr
        why = run("why", "http://moh.gov.sg/", "-o", str(data)).stdout
        assert re.search(r"✗ robots +line 2: Disallow: / ", why), why
        shown = json.loads(run("jobs", "show", "-o", str(data), "--json").stdout)
        assert shown["origins"]["scope.sitemap_urls"].startswith("contracts of file://")
        again = run(*command, "--resume", "-q")
        assert again.returncode == 0, again.stderr
        assert len(json.loads(run("jobs", "list", "-o", str(data), "--json").stdout)) == 1
        begun = run(*command, "--detach", "-q")
        assert begun.returncode == 0, begun.stderr
        assert Counter(seen.path for seen in mom.log) - before == asked


@pytest.mark.slow
@pytest.mark.req("SCP-07")
def test_neither_the_seed_engine_nor_a_crawl_from_contracts_visits_a_listed_domain(
    tmp_path: Path,
) -> None:
    """The second dataset was prepared where nobody had subscribed to the list."""
    listing = tmp_path / "list"
    listing.write_text("moh.gov.sg\n")
    raw = json.dumps([record("http://mom.gov.sg/a"), record("http://moh.gov.sg/a")])
    for name in ("one", "two"):
        place = tmp_path / name / raw_path(SG, 1)
        place.parent.mkdir(parents=True)
        place.write_text(raw)
    listed = ("-o", str(tmp_path / "listed"))
    with web() as (mom, moh, found):
        moh.routes = dict(ROUTES)
        env = {
            "GEOMI_RESOLVE": ",".join(found),
            "GEOMI_CONTACT": "https://crawler.test/about",
            "GEOMI_MIN_DELAY_S": "0",
            "GEOMI_CRAWL_DELAY": "0",
        }
        subscribed = run("blocked", "subscribe", "evil", str(listing), *listed, env=env)
        assert subscribed.returncode == 0, subscribed.stderr
        done = run("seeds", "run", str(tmp_path / "one"), *listed, env=env)
        assert done.returncode == 0, done.stderr
        assert mom.log and not moh.log
        contract = tmp_path / "one" / metadata_path(SG, "moh.gov.sg")
        facts = json.loads(contract.read_text())["technical_metadata"]
        why = "domain_list.evil: the list `evil` names moh.gov.sg"
        assert facts["robots_txt"] == {"exists": False, "error": why, "fetched_at": None}

        done = run("seeds", "run", str(tmp_path / "two"), "-o", str(tmp_path / "free"), env=env)
        assert done.returncode == 0, done.stderr
        asked = len(moh.log)
        assert asked > 0
        prod = str(tmp_path / "two" / "prod/country=sg/category=news")
        crawled = run("crawl", "--from-prod", prod, *listed, env=env)
        assert crawled.returncode == 0, crawled.stderr
        assert "left out: moh.gov.sg: http://moh.gov.sg/a is excluded by rule" in crawled.stderr
        assert len(moh.log) == asked
        assert "/a" in [seen.path for seen in mom.log]
