"""From raw files to contracts, through both queues: the seed's example, and hostile servers."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
import trustme

from geomi.dataset.message import file_message
from geomi.dataset.partition import raw_path
from geomi.engine.audit.audit import audit
from geomi.engine.seeds.orchestrate import orchestrate
from geomi.engine.seeds.queue import work_on_queues
from geomi.engine.seeds.raw_files import process_file
from geomi.model.dataset.queue import DeadLetter, Loan, TaskTally
from geomi.model.dataset.seed import ErrorType, OrchestrationReport, PartitionFilter, SeedMessage
from geomi.model.event import SeedDomainDone, SeedFailed, SeedFileDone
from geomi.model.request_log import RequestPurpose
from tests.contracts.reference import open_memory
from tests.support.crawl import robots
from tests.support.seed_dataset import (
    SG_NEWS,
    Ground,
    InHand,
    ground,
    normalised,
    record,
    seed_config,
)
from tests.support.seed_servers import (
    DOMAINS,
    RECORDS,
    endless,
    example,
    impatient,
    index,
    packed_bomb,
    slowly,
    trickling,
    urlset,
)
from tests.support.server import Reply, Route
from tests.support.waiting import waits

ALL = PartitionFilter()
GOOD = "good.test"


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@dataclass
class Ran:
    """What a run has come to."""

    found: OrchestrationReport
    files: TaskTally
    domains: TaskTally
    dead: list[DeadLetter] = field(default_factory=list)


async def run_all(found: Ground, *, force: bool = False) -> Ran:
    """Find raw files, and work until both queues are empty."""
    seeding, rules = found.seeding, found.seeding.config.seeds
    queues, name = seeding.queues, seeding.dataset.name
    orchestrated = await orchestrate(seeding, ALL, force=force)
    await found.turned(work_on_queues(seeding, leaving=asyncio.Event(), is_done_when_empty=True))
    proof = await audit(seeding.world)
    assert proof.broken == 0
    assert RequestPurpose.PAGE not in {row.purpose for row in await found.log()}
    return Ran(
        orchestrated,
        await queues.tally(name, rules.seed_queue, ALL),
        await queues.tally(name, rules.domain_queue, ALL),
        list(await queues.dead(name, limit=100)),
    )


@pytest.mark.req("SED-01", "SED-02", "SED-06", "SED-14", "SED-44")
@waits
async def test_the_seeds_example_through_all_three_steps(
    tmp_path: Path, authority: trustme.CA
) -> None:
    here: list[Ground] = []
    web = {f"https://{domain}": example(domain, here) for domain in DOMAINS}
    async with ground(tmp_path, authority, web) as found:
        here.append(found)
        found.raw(1, *RECORDS, *(record(f"https://{domain}/") for domain in DOMAINS[1:]))
        found.raw(2, record("https://mom.gov.sg/faq", "Questions"))
        ran = await run_all(found)
        assert ran.found == OrchestrationReport(2, 2, 0)
        assert (ran.files.processed, ran.domains.processed) == (2, 3)
        assert (ran.domains.robots, ran.domains.sitemaps, ran.dead) == (3, 3, [])
        assert len(found.asked) == 6, "each domain is collected once"
        paths = [one["path"] for one in found.contract("mom.gov.sg")["urls"]]
        assert paths == [
            "/employment-practices/employment-act",
            "/newsroom/press-releases",
            "/faq",
        ]
        told = found.hand.ear.of(SeedFileDone)
        assert [one.sentence for one in told] == [
            f"Processed {raw_path(SG_NEWS, 1)}: 3 domains",
            f"Processed {raw_path(SG_NEWS, 2)}: 1 domains",
        ]
        place = "country=sg/category=news/date=2026-01-28"
        assert (found.root / f"raw/{place}/raw_0001.json.success").is_file()
        before = found.tree()
        assert f"prod/{place}/mom.gov.sg/domain_metadata.json.success" in before
        again = await run_all(found)
        assert again.found == OrchestrationReport(2, 0, 2)
        assert (len(found.asked), found.tree()) == (6, before), "nothing is asked again"
        forced = await run_all(found, force=True)
        assert forced.found == OrchestrationReport(2, 2, 0)
        assert len(found.asked) == 12, "fresh, and once for each domain"
        assert contracts(found.tree()) == contracts(before)


@pytest.mark.req("SED-31", "C-92")
@pytest.mark.parametrize("is_collected", [False, True])
@waits
async def test_a_store_that_was_lost_costs_no_domain(
    tmp_path: Path, authority: trustme.CA, is_collected: bool
) -> None:
    here: list[Ground] = []
    web = {f"https://{domain}": example(domain, here) for domain in DOMAINS}
    async with ground(tmp_path, authority, web) as found:
        here.append(found)
        found.raw(1, *RECORDS, *(record(f"https://{domain}/") for domain in DOMAINS[1:]))
        if is_collected:
            await run_all(found)
        else:  # it died when the file was processed, and its domains waited
            file = SeedMessage(raw_path(SG_NEWS, 1), SG_NEWS)
            message = file_message(found.seeding.config.seeds, file)
            loan = Loan(message.queue, message.task, 1, 0.0, (message,))
            await process_file(found.seeding, InHand(loan))
        before, asked = found.tree(), len(found.asked)
        found.seeding = replace(found.seeding, queues=open_memory("new").queues)
        again = await run_all(found)
        assert again.found == OrchestrationReport(1, 0, 1)
        assert again.files == TaskTally(1)
        assert (again.domains.processed, again.domains.total) == (3, 3)
        assert (again.domains.robots, again.domains.sitemaps) == (3, 3)
        assert len(found.asked) == 6, "each domain is collected once"
        if is_collected:
            assert (found.tree(), asked) == (before, 6)


def contracts(tree: dict[str, bytes]) -> dict[str, bytes]:
    """Return what stands in contracts, without times; a checkpoint also names its run."""
    files = {path: data for path, data in tree.items() if not path.endswith(".success")}
    return normalised(files)


def hostile() -> dict[str, dict[str, Route] | None]:
    """Name servers that no collector should be stopped by."""
    plenty = index(*(f"/{number}.xml" for number in range(50_001)), host="maze.test")
    return {
        "https://pit.test": {"/robots.txt": trickling},
        "https://bomb.test": {"/robots.txt": packed_bomb, "/sitemap.xml": packed_bomb},
        "https://endless.test": {"/robots.txt": endless, "/sitemap.xml": endless},
        "https://maze.test": {
            "/sitemap.xml": plenty,
            **{f"/{n}.xml": index(f"/{n + 1}.xml", host="maze.test") for n in range(30)},
        },
        "https://loop.test": {
            "/robots.txt": Reply(status=302, headers=(("Location", "/robots.txt"),)),
            "/sitemap.xml": Reply(status=302, headers=(("Location", "/sitemap.xml"),)),
        },
        "https://inner.test": {"/robots.txt": robots("Sitemap: http://169.254.169.254/latest")},
        "https://gone.test": None,
        "http://gone.test": None,
        f"https://{GOOD}": {"/robots.txt": robots(), "/sitemap.xml": urlset("/a", host=GOOD)},
    }


@pytest.mark.slow
@pytest.mark.req("SED-29", "SED-44")
@waits
async def test_hostile_servers_cost_nobody_else_anything(
    tmp_path: Path, authority: trustme.CA
) -> None:
    web = hostile()
    names = sorted({origin.partition("://")[2] for origin in web})
    config = impatient(1.0, max_sitemaps=5)
    async with ground(tmp_path, authority, web, config) as found:
        found.raw(1, *(record(f"https://{name}/", country="sg") for name in names))
        ran = await run_all(found)
        assert (ran.domains.processed, ran.dead) == (len(names), [])
        done = {one.domain for one in found.hand.ear.of(SeedDomainDone)}
        assert done == set(names)
        told = {name: found.contract(name)["technical_metadata"] for name in names}
        assert told[GOOD]["sitemap_xml"]["url_count"] == 1
        assert told["pit.test"]["robots_txt"]["exists"] is False
        assert told["bomb.test"]["robots_txt"]["size"] == 524_288
        assert told["bomb.test"]["sitemap_xml"]["exists"] is False
        assert told["maze.test"]["sitemap_xml"]["sitemaps_read"] == 4
        assert told["loop.test"]["sitemap_xml"]["error"] == "HTTP 302"
        assert told["inner.test"]["sitemap_xml"]["error"] == "HTTP 404"


@pytest.mark.req("ERR-15", "SED-25", "SED-36", "SED-42")
@waits
async def test_a_domain_that_takes_too_long_is_a_dead_letter_and_the_others_are_done(
    tmp_path: Path, authority: trustme.CA
) -> None:
    here: list[Ground] = []
    web: dict[str, dict[str, Route] | None] = {
        "https://slow.test": {"/robots.txt": slowly(here, 61, robots())},
        f"https://{GOOD}": {"/robots.txt": robots()},
    }
    config = seed_config(max_retries=0, domain_batch=1)
    async with ground(tmp_path, authority, web, config) as found:
        here.append(found)
        found.raw(1, record("https://slow.test/"), record(f"https://{GOOD}/"))
        ran = await run_all(found)
        assert (ran.domains.processed, ran.domains.failed, ran.domains.total) == (1, 1, 2)
        (letter,) = ran.dead
        assert letter.error_info.error_type is ErrorType.TIMEOUT
        assert "the servers of `slow.test` took 61.0 s" in letter.error_info.error_message
        (failed,) = found.hand.ear.of(SeedFailed)
        assert failed.sentence == "Domain processing failed: slow.test"
        assert not found.file("slow.test", "domain_metadata.json.success").exists()
        assert found.file(GOOD, "domain_metadata.json.success").exists()


@waits
async def test_many_domains_of_one_address_keep_to_its_places(
    tmp_path: Path, authority: trustme.CA
) -> None:
    names = [f"d{number}.test" for number in range(7)]
    web = {f"https://{name}": {"/robots.txt": robots()} for name in names}
    config = seed_config(domain_batch=7)
    config = replace(config, politeness=replace(config.politeness, per_ip=2))
    async with ground(tmp_path, authority, web, config) as found:
        found.raw(1, *(record(f"https://{name}/") for name in names))
        first = await run_all(found)
        assert first.domains.processed == 7
        found.hand.fetcher.most_in_flight = 0
        await run_all(found, force=True)  # their address is known by now
        assert len(found.asked) == 28
        assert found.hand.fetcher.most_in_flight <= 2
