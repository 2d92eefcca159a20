"""Contracts that are handed over to a crawl."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from geomi.adapters.dataset.directory import DirectoryDataset
from geomi.app.use.datasets import admitted_seeds, open_contracts
from geomi.dataset.partition import host_paths, success_path
from geomi.engine.seeds import handover as handing
from geomi.engine.seeds.handover import (
    FORBIDDEN,
    MAX_CONTRACTS,
    UNFINISHED,
    WHOLE_BYTES,
    keep_copies,
    read_handover,
)
from geomi.errors import ConfigError, StoreError, StoreMissing
from geomi.model.config import CrawlConfig, HttpRules, RobotsRules, Scope
from geomi.model.dataset.contract import Handover, SkippedDomain
from geomi.model.dataset.seed import Partition, PartitionFilter
from geomi.model.robots import RobotsCopy, RobotsKey
from geomi.model.site import Review, SiteRule
from geomi.robots import policy
from geomi.settings.layers import flags_layer, resolve, resolve_under_profile
from geomi.settings.seeds import contracts_layer
from tests.support.seed_contracts import SG, Host, lay_contract
from tests.support.timed_crawl import hand_in
from tests.support.waiting import waits

ALL = PartitionFilter()
MY = Partition("my", "law", "2026-01-29")
FETCHED_S = 1_769_614_200.0  # 2026-01-28T15:30:00Z


@waits
async def handed(
    root: Path, which: PartitionFilter = ALL, config: CrawlConfig | None = None
) -> Handover:
    return await read_handover(DirectoryDataset(root), which, config or CrawlConfig())


def urls(domain: str, count: int) -> list[str]:
    return [f"https://{domain}/{number}" for number in range(count)]


def test_the_urls_of_all_contracts_in_order(tmp_path: Path) -> None:
    lay_contract(tmp_path, urls("moh.gov.sg", 2), domain="moh.gov.sg")
    lay_contract(tmp_path, urls("mom.gov.sg", 2)[::-1], domain="mom.gov.sg")
    lay_contract(tmp_path, urls("a.my", 1), domain="a.my", partition=MY)
    found = handed(tmp_path)
    assert found.seeds == (
        "https://a.my/0",
        "https://moh.gov.sg/0",
        "https://moh.gov.sg/1",
        "https://mom.gov.sg/1",
        "https://mom.gov.sg/0",
    )
    assert (found.contracts, found.left_out, found.unread) == (3, (), 0)
    assert found.source == f"{tmp_path.as_uri()}/prod"
    some = handed(tmp_path, PartitionFilter(category="news"))
    assert some.seeds == found.seeds[1:]
    assert handed(tmp_path, PartitionFilter("kr")).seeds == ()


def test_a_url_of_two_partitions_is_one_start(tmp_path: Path) -> None:
    for partition in (SG, MY):
        lay_contract(tmp_path, urls("mom.gov.sg", 2), domain="mom.gov.sg", partition=partition)
    assert handed(tmp_path).seeds == tuple(urls("mom.gov.sg", 2))


@pytest.mark.req("C-92")
@pytest.mark.parametrize("spoiled", ["checkpoint", "contract", "robots", "no checkpoint"])
def test_what_is_unfinished_is_left_out(tmp_path: Path, spoiled: str) -> None:
    lay_contract(tmp_path, urls("moh.gov.sg", 1), domain="moh.gov.sg")
    metadata = lay_contract(tmp_path, urls("mom.gov.sg", 1), domain="mom.gov.sg")
    checkpoint = metadata.with_name(success_path(metadata.name))
    match spoiled:
        case "checkpoint":
            checkpoint.write_bytes(b"{}")
        case "contract":
            metadata.write_bytes(metadata.read_bytes().replace(b"Title", b"Other"))
        case "robots":
            metadata.with_name("robots.txt").unlink()
        case _:
            checkpoint.unlink()
    found = handed(tmp_path)
    assert found.seeds == tuple(urls("moh.gov.sg", 1))
    assert found.left_out == (SkippedDomain("mom.gov.sg", UNFINISHED),)


def test_hosts_that_forbid_crawling_are_left_out(tmp_path: Path) -> None:
    map_url = "https://moh.gov.sg/sitemap.xml"
    no = Host(b"User-agent: *\nDisallow: /\n", allows_crawling=False, sitemap=map_url)
    lay_contract(tmp_path, urls("moh.gov.sg", 2), domain="moh.gov.sg", hosts={"moh.gov.sg": no})
    lay_contract(
        tmp_path,
        ["https://mom.gov.sg/", "https://www.mom.gov.sg/", "https://other.mom.gov.sg/"],
        domain="mom.gov.sg",
        hosts={"www.mom.gov.sg": no},
    )
    found = handed(tmp_path)
    assert found.seeds == ("https://mom.gov.sg/", "https://other.mom.gov.sg/")
    assert found.contracts == 1
    assert found.left_out == (
        SkippedDomain("moh.gov.sg", FORBIDDEN),
        SkippedDomain("www.mom.gov.sg", FORBIDDEN),
    )
    assert found.sitemaps == ()
    told = [copy.host for copy in found.robots]  # whoever asks why is told by which line
    assert told == ["moh.gov.sg:443", "mom.gov.sg:443", "www.mom.gov.sg:443"]


def test_sitemaps_and_robots_are_those_of_the_hosts_that_are_crawled(tmp_path: Path) -> None:
    lay_contract(
        tmp_path,
        ["https://mom.gov.sg/", "http://old.mom.gov.sg:8080/", "https://gone.mom.gov.sg/"],
        domain="mom.gov.sg",
        hosts={
            "mom.gov.sg": Host(sitemap="https://mom.gov.sg/sitemap.xml"),
            "www.mom.gov.sg": Host(sitemap="https://www.mom.gov.sg/sitemap.xml"),
            "old.mom.gov.sg:8080": Host(None, error="HTTP 404"),
            "gone.mom.gov.sg": Host(None, error="HTTP 503"),
        },
    )
    found = handed(tmp_path)
    assert found.sitemaps == ("https://mom.gov.sg/sitemap.xml",)
    mom, old = found.robots
    assert (mom.scheme, mom.host, mom.status) == ("https", "mom.gov.sg:443", 200)
    assert mom.key == host_paths(SG, "mom.gov.sg", "mom.gov.sg")[0]
    assert mom.fetched_s == FETCHED_S
    assert (old.host, old.status, old.checksum) == ("old.mom.gov.sg:8080", 404, None)


@pytest.mark.parametrize(
    ("host", "is_known"),
    [
        (Host(), True),
        (Host(None, error="HTTP 410"), True),
        (Host(None, error="HTTP 403"), False),  # which somebody else may not be told
        (Host(None, error="HTTP 429"), False),
        (Host(None, error="HTTP 500"), False),
        (Host(None, error="timeout"), False),
        (Host(fetched_at="yesterday"), False),
        (Host(fetched_at="2026-01-28T15:30:00"), False),
    ],
)
def test_what_is_known_of_a_robots_txt(tmp_path: Path, host: Host, is_known: bool) -> None:
    lay_contract(tmp_path, urls("mom.gov.sg", 1), domain="mom.gov.sg", hosts={"mom.gov.sg": host})
    found = handed(tmp_path)
    assert len(found.seeds) == 1
    assert bool(found.robots) is is_known


@pytest.mark.parametrize(
    ("robots", "agent", "respect", "is_taken"),
    [
        (b"User-agent: NewsforkBot\nDisallow: /\n", "", True, True),
        (b"User-agent: *\nDisallow: /\n", "", True, False),
        (b"User-agent: *\nDisallow: /\n", "", False, True),
        (b"User-agent: *\nDisallow: /\nUser-agent: ours\nAllow: /\n", "Ours/1.0", True, True),
        (b"User-agent: *\nDisallow: /\nUser-agent: ours\nAllow: /\n", "", True, False),
    ],
)
def test_whether_crawling_is_allowed_is_asked_for_the_agent_of_the_crawl(
    tmp_path: Path, robots: bytes, agent: str, respect: bool, is_taken: bool
) -> None:
    no = Host(robots, allows_crawling=False)  # as the agent of the seed engine has found it
    lay_contract(tmp_path, urls("mom.gov.sg", 1), domain="mom.gov.sg", hosts={"mom.gov.sg": no})
    config = CrawlConfig(http=HttpRules(user_agent=agent), robots=RobotsRules(respect=respect))
    assert bool(handed(tmp_path, config=config).seeds) is is_taken


def test_what_is_forbidden_by_a_copy_that_cannot_be_read_stays_so(tmp_path: Path) -> None:
    no = Host(b"User-agent: NewsforkBot\nDisallow: /\n", allows_crawling=False)
    lay_contract(tmp_path, urls("mom.gov.sg", 1), domain="mom.gov.sg", hosts={"mom.gov.sg": no})
    path = tmp_path / host_paths(SG, "mom.gov.sg", "mom.gov.sg")[0]
    path.write_bytes(path.read_bytes().replace(b"Newsfork", b"Oldsfork"))
    assert handed(tmp_path).left_out == (SkippedDomain("mom.gov.sg", FORBIDDEN),)


@pytest.mark.parametrize(
    ("url", "host"),
    [("https://bank.test/", ""), ("https://10.0.0.1/", ""), ("", "bank.test"), ("", "x\x1b[2J")],
)
def test_a_contract_that_speaks_for_another_domain_is_none(
    tmp_path: Path, url: str, host: str
) -> None:
    no = Host(b"User-agent: *\nDisallow: /\n", allows_crawling=False)
    named = [*urls("mom.gov.sg", 1), *filter(None, [url])]
    lay_contract(tmp_path, named, domain="mom.gov.sg", hosts={host: no} if host else {})
    found = handed(tmp_path)
    assert (found.seeds, found.robots) == ((), ())
    assert found.left_out == (SkippedDomain("mom.gov.sg", UNFINISHED),)


def test_a_sitemap_is_named_as_a_url_is_written(tmp_path: Path) -> None:
    odd = Host(sitemap=" https:mom.gov.sg/a/../sitemap.xml")
    lay_contract(tmp_path, urls("mom.gov.sg", 1), domain="mom.gov.sg", hosts={"mom.gov.sg": odd})
    assert handed(tmp_path).sitemaps == ("https://mom.gov.sg/sitemap.xml",)


def test_a_contract_that_leads_elsewhere_is_told_as_that(tmp_path: Path) -> None:
    metadata = lay_contract(tmp_path / "root", urls("mom.gov.sg", 1), domain="mom.gov.sg")
    metadata.rename(tmp_path / "elsewhere")
    metadata.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StoreError, match="leads out of"):
        handed(tmp_path / "root")


def test_more_than_a_crawl_can_take(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(handing, "MAX_SEEDS", 5)
    monkeypatch.setattr(handing, "READERS", 2)
    for name in "abcdef":
        lay_contract(tmp_path, urls(f"{name}.sg", 2), domain=f"{name}.sg")
    found = handed(tmp_path)
    assert found.seeds == (*urls("a.sg", 2), *urls("b.sg", 2), "https://c.sg/0")
    assert [(one.domain, one.reason.split()[0]) for one in found.left_out] == [
        ("c.sg", "1"),
        ("d.sg", "2"),
    ]
    assert found.unread == 2


def test_more_contracts_than_are_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert MAX_CONTRACTS == 10_000
    monkeypatch.setattr(handing, "MAX_CONTRACTS", 2)
    for name in "abc":
        lay_contract(tmp_path, urls(f"{name}.sg", 1), domain=f"{name}.sg")
    found = handed(tmp_path)
    assert len(found.seeds) == 2
    assert found.unread == 1


def test_a_contract_that_is_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    size = lay_contract(tmp_path, urls("a.sg", 1), domain="a.sg").stat().st_size
    monkeypatch.setattr(handing, "MAX_TAKEN_BYTES", size)
    assert handed(tmp_path).seeds
    monkeypatch.setattr(handing, "MAX_TAKEN_BYTES", size - 1)
    (left,) = handed(tmp_path).left_out
    assert left.reason == f"its contract has {size} bytes; the limit is {size - 1}"


# --- copies of robots.txt ------------------------------------------------------------------------

KEY = RobotsKey("https", "mom.gov.sg:443", "geomi")


async def kept(
    root: Path, before: RobotsCopy | None = None, config: CrawlConfig | None = None
) -> tuple[int, RobotsCopy | None]:
    """Hand over the copies of a dataset; return what the store has then."""
    dataset = DirectoryDataset(root / "dataset")
    async with hand_in(root / "home") as hand:
        hand.clock.advance(FETCHED_S + 3600 - hand.clock.now_s())
        if before is not None:
            await hand.world.store.robots.put(before)
        given = config or CrawlConfig()
        found = await read_handover(dataset, ALL, given)
        count = await keep_copies(hand.world, dataset, found.robots, given)
        return count, await hand.world.store.robots.get(KEY)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    lay_contract(tmp_path / "dataset", urls("mom.gov.sg", 1), domain="mom.gov.sg")
    return tmp_path


@waits
async def test_a_copy_counts_from_when_it_was_fetched(root: Path) -> None:
    count, copy = await kept(root)
    assert copy == RobotsCopy(KEY, 200, b"User-agent: *\nAllow: /\n", FETCHED_S)
    assert count == 1


@waits
async def test_a_newer_copy_stays_and_an_older_one_goes(root: Path) -> None:
    newer = RobotsCopy(KEY, 200, b"newer", FETCHED_S + 1)
    assert await kept(root, newer) == (0, newer)
    count, copy = await kept(root, replace(newer, fetched_s=FETCHED_S - 1))
    assert (count, copy.body if copy else b"") == (1, b"User-agent: *\nAllow: /\n")


@pytest.mark.parametrize("rules", [RobotsRules(respect=False), RobotsRules(persist=False)])
@waits
async def test_a_job_that_reads_no_kept_copies_gets_none(root: Path, rules: RobotsRules) -> None:
    assert await kept(root, config=CrawlConfig(robots=rules)) == (0, None)


@waits
async def test_a_copy_that_was_changed_meanwhile_is_not_believed(root: Path) -> None:
    path = root / "dataset" / host_paths(SG, "mom.gov.sg", "mom.gov.sg")[0]
    path.write_bytes(path.read_bytes().replace(b"Allow", b"Agree"))
    assert await kept(root) == (0, None)


@pytest.mark.parametrize(
    ("fetched_at", "is_kept"), [("2026-01-28T16:35:00Z", True), ("2026-01-28T16:35:01Z", False)]
)
@waits
async def test_a_time_that_has_not_come_yet_is_now_as_far_as_clocks_differ(
    tmp_path: Path, fetched_at: str, is_kept: bool
) -> None:
    host = Host(fetched_at=fetched_at)
    dataset = tmp_path / "dataset"
    lay_contract(dataset, urls("mom.gov.sg", 1), domain="mom.gov.sg", hosts={"mom.gov.sg": host})
    _, copy = await kept(tmp_path)
    assert (copy.fetched_s if copy else None) == (FETCHED_S + 3600 if is_kept else None)


@pytest.mark.req("C-03")
@waits
async def test_a_copy_is_fresh_for_as_long_as_its_server_says(tmp_path: Path) -> None:
    host, dataset = Host(max_age_s=600), tmp_path / "dataset"
    lay_contract(dataset, urls("mom.gov.sg", 1), domain="mom.gov.sg", hosts={"mom.gov.sg": host})
    _, copy = await kept(tmp_path)
    assert copy is not None
    assert policy.is_fresh(copy, RobotsRules(), now_s=FETCHED_S + 599)
    assert not policy.is_fresh(copy, RobotsRules(), now_s=FETCHED_S + 601)


@pytest.mark.parametrize(("size", "is_kept"), [(WHOLE_BYTES - 1, True), (WHOLE_BYTES, False)])
@waits
async def test_a_copy_that_may_have_been_cut_is_no_copy(
    tmp_path: Path, size: int, is_kept: bool
) -> None:
    host, dataset = Host(b"#" * size), tmp_path / "dataset"
    lay_contract(dataset, urls("mom.gov.sg", 1), domain="mom.gov.sg", hosts={"mom.gov.sg": host})
    count, copy = await kept(tmp_path)
    assert (count, copy is not None) == (int(is_kept), is_kept)


# --- a crawl's own rules -------------------------------------------------------------------------


def handover(*seeds: str, sitemaps: Sequence[str] = ()) -> Handover:
    return Handover("file:///x/prod", seeds, tuple(sitemaps), (), 1)


def test_what_the_rules_of_a_crawl_exclude_is_left_out() -> None:
    config = CrawlConfig(scope=Scope(exclude=("/private/**",)))
    reviews = [SiteRule("moh.gov.sg", "", Review.EXCLUDE, note="asked us to stay away")]
    taken, left = admitted_seeds(
        handover("https://mom.gov.sg/", "https://mom.gov.sg/private/x", "https://moh.gov.sg/"),
        config,
        reviews,
    )
    assert taken == ["https://mom.gov.sg/"]
    assert [one.domain for one in left] == ["mom.gov.sg", "moh.gov.sg"]
    assert "/private/x is excluded by rule" in left[0].reason
    assert "asked us to stay away" in left[1].reason


@pytest.mark.parametrize(
    ("flags", "seeds", "expected"),
    [({}, 100, None), ({}, 101, 101), ({"max_pages": 0}, 101, None), ({"max_pages": 7}, 8, 8)],
)
def test_each_start_url_has_a_page(
    flags: dict[str, object], seeds: int, expected: int | None
) -> None:
    layer = contracts_layer(handover(*urls("a.sg", seeds)), resolve([flags_layer(flags)]))
    assert layer.values.get("limits.max_pages") == expected
    assert layer.origin == "contracts of file:///x/prod"


def test_each_start_url_has_a_page_as_far_as_the_profile_lets_it() -> None:
    above = [flags_layer({"profile": "docs"})]
    layer = contracts_layer(handover(*urls("a.sg", 501)), resolve_under_profile(above))
    assert layer.values["limits.max_pages"] == 500
    assert resolve_under_profile([*above, layer]).config.limits.max_pages == 500


def test_sitemaps_are_those_of_the_contracts() -> None:
    given = handover("https://a.sg/", sitemaps=["https://a.sg/sitemap.xml"])
    layer = contracts_layer(given, resolve([]))
    assert layer.values["scope.sitemap_urls"] == ("https://a.sg/sitemap.xml",)


@pytest.mark.parametrize(
    ("suffix", "which"),
    [
        ("", PartitionFilter()),
        ("/", PartitionFilter()),
        ("/prod", PartitionFilter()),
        ("/prod/", PartitionFilter()),
        ("/prod/country=SG", PartitionFilter("sg")),
        ("/prod/country=sg/category=news/", PartitionFilter("sg", "news")),
        (
            "/prod/country=sg/category=news/date=2026-01-28",
            PartitionFilter("sg", "news", "2026-01-28"),
        ),
    ],
)
def test_places_of_contracts(tmp_path: Path, suffix: str, which: PartitionFilter) -> None:
    for text in (str(tmp_path), tmp_path.as_uri()):
        dataset, found = open_contracts(text + suffix)
        assert dataset.name == tmp_path.as_uri()
        assert found == which


def test_a_place_in_the_folder_we_are_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    dataset, which = open_contracts("prod/country=sg")
    assert (dataset.name, which) == (tmp_path.as_uri(), PartitionFilter("sg"))


def test_a_place_in_a_bucket() -> None:
    pytest.importorskip("obstore")
    dataset, which = open_contracts("s3://bucket/data/prod/country=sg?region=us-east-1")
    assert (dataset.name, which) == ("s3://bucket/data", PartitionFilter("sg"))


@pytest.mark.parametrize(
    ("suffix", "kind"),
    [
        ("/prod/country=../category=news", ConfigError),
        ("/prod/country=sg/x", ConfigError),
        ("/prod/country=sg/category=news/date=2026-01-28/mom.gov.sg", ConfigError),
        ("/prod/category=news", StoreMissing),
        ("/missing", StoreMissing),
    ],
)
def test_what_is_no_place_of_contracts(tmp_path: Path, suffix: str, kind: type[Exception]) -> None:
    with pytest.raises(kind):
        open_contracts(str(tmp_path) + suffix)
