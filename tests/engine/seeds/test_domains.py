"""A domain's contract: the seed document's own example, field by field, and what comes after it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import trustme

from geomi.dataset import contract as contract_module
from geomi.dataset.message import domain_message, file_message
from geomi.dataset.partition import raw_path
from geomi.engine.seeds import checkpoints as standing_module
from geomi.engine.seeds import domains as domain_module
from geomi.engine.seeds.checkpoints import ContractState
from geomi.engine.seeds.raw_files import process_file
from geomi.errors import LeaseLost, SeedError
from geomi.model.dataset.queue import Loan, TaskResult
from geomi.model.dataset.seed import ErrorType, SeedMessage, SeedRules
from geomi.model.event import SeedDomainDone, SeedSkipped
from geomi.text.identifiers import sha256_hex
from tests.support.crawl import robots
from tests.support.seed_dataset import (
    BEGIN_S,
    SG_NEWS,
    Ground,
    InHand,
    forced,
    ground,
    normalised,
    record,
    seed_config,
)
from tests.support.seed_servers import DOMAINS, RECORDS, example, packed, robots_of, sitemap_of
from tests.support.server import Reply, Route
from tests.support.waiting import waits

# seed 002 §3.2, word for word, but for what C-56 and C-58 add, which has no value there.
CONTRACT = {
    "domain": "mom.gov.sg",
    "domain_id": "gov:sg:mom.gov.sg",
    "registrable_domain": "mom.gov.sg",
    "urls": [
        {
            "url": "https://mom.gov.sg/employment-practices/employment-act",
            "title": "Employment Act - Ministry of Manpower",
            "path": "/employment-practices/employment-act",
        },
        {
            "url": "https://mom.gov.sg/newsroom/press-releases",
            "title": "Press Releases - Ministry of Manpower",
            "path": "/newsroom/press-releases",
        },
    ],
    "technical_metadata": {
        "robots_txt": {
            "exists": True,
            "size": 1024,
            "last_modified": "2026-01-15T09:00:00Z",
            "allows_crawling": True,
            "sitemap_urls": ["https://mom.gov.sg/sitemap.xml"],
            "fetched_at": "2026-01-28T15:29:58Z",
        },
        "sitemap_xml": {
            "exists": True,
            "size": 2048,
            "last_modified": "2026-01-20T14:30:00Z",
            "url_count": 156,
            "last_updated": "2026-01-20T14:30:00Z",
            "url": "https://mom.gov.sg/sitemap.xml",
            "fetched_at": "2026-01-28T15:29:59Z",
        },
        "server_info": {
            "server": "nginx/1.18.0",
            "content_encoding": "gzip",
            "supports_https": True,
            "response_time_avg_ms": 245,
        },
    },
    "processing_metadata": {
        "processed_at": "2026-01-28T15:30:00Z",
        "processing_duration_ms": 1250,
        "total_urls": 2,
        "partition_info": {"country": "sg", "category": "news", "date": "2026-01-28"},
    },
}


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.mark.req("SED-09", "SED-10", "SED-11", "SED-12", "SED-13")
@waits
async def test_the_seeds_own_example_field_by_field(tmp_path: Path, authority: trustme.CA) -> None:
    here: list[Ground] = []
    web = {f"https://{domain}": example(domain, here) for domain in DOMAINS}
    async with ground(tmp_path, authority, web, begin_s=BEGIN_S - 1.25) as found:
        here.append(found)
        others = [record(f"https://{domain}/") for domain in DOMAINS[1:]]
        messages = found.raw(1, *RECORDS, *others)
        # Two writes come before the duration is taken: 2 × 245 + 2 × 380 ms are 1250.
        await found.collect(messages[0], on_keep=lambda: found.clock.advance(0.38))
        written = found.file("mom.gov.sg", "domain_metadata.json").read_text("utf-8")
        # Each key in its place, and each level two signs further in.
        assert written == json.dumps(CONTRACT, indent=2) + "\n"
        for message in messages[1:]:
            await found.collect(message)
        check_files(found)


def check_files(found: Ground) -> None:
    """SED-06: four files for each domain, and nothing else."""
    names = ("domain_metadata.json", "domain_metadata.json.success", "robots.txt", "sitemap.xml")
    folder = "prod/country=sg/category=news/date=2026-01-28"
    wanted = [f"{folder}/{domain}/{name}" for domain in sorted(DOMAINS) for name in names]
    tree = found.tree()
    assert list(tree) == wanted
    for domain in DOMAINS:
        assert tree[f"{folder}/{domain}/robots.txt"] == robots_of(domain)
        assert tree[f"{folder}/{domain}/sitemap.xml"] == packed(sitemap_of(domain), size=2048)


MOM = "mom.gov.sg"
PLAIN: dict[str, Route] = {
    "/robots.txt": robots("User-agent: *", "Disallow: /admin"),
    "/sitemap.xml": Reply(sitemap_of(MOM, pages=3), content_type="application/xml"),
}
MOM_WEB = {f"https://{MOM}": PLAIN}
BOTH = [f"https://{MOM}/robots.txt", f"https://{MOM}/sitemap.xml"]
FIRST = (record(f"https://{MOM}/a", "A"), record(f"https://{MOM}/b", "B"))
SECOND = (
    record(f"https://{MOM}/b", "B again"),
    record(f"https://{MOM}/c", "C", domain_id=f"news:sg:{MOM}", source_type="news"),
)


def urls(found: Ground) -> list[tuple[str, str]]:
    return [(one["path"], one["title"]) for one in found.contract(MOM)["urls"]]


@pytest.mark.req("SED-04", "SED-24", "SED-25", "SED-44", "C-52")
@waits
async def test_a_second_raw_file_merges_and_nothing_is_asked_again(
    tmp_path: Path, authority: trustme.CA
) -> None:
    async with ground(tmp_path, authority, MOM_WEB) as found:
        await found.collect(*found.raw(1, *FIRST))
        before = found.contract(MOM)["technical_metadata"]
        found.clock.advance(60)
        worked = await found.collect(*found.raw(2, *SECOND))
        assert urls(found) == [("/a", "A"), ("/b", "B"), ("/c", "C")]
        assert found.asked == BOTH
        assert found.contract(MOM)["technical_metadata"] == before
        assert found.contract(MOM)["processing_metadata"]["total_urls"] == worked.urls == 3
        manifest = found.manifest(MOM)
        assert list(manifest["inputs"]) == [raw_path(SG_NEWS, 1), raw_path(SG_NEWS, 2)]
        assert manifest["positions"] == [[1, 0], [1, 1], [2, 1]]
        done = found.hand.ear.of(SeedDomainDone)
        assert [one.sentence for one in done] == [
            f"Domain processed: {MOM} (2 URLs)",
            f"Domain processed: {MOM} (3 URLs)",
        ]


@pytest.mark.req("SED-24", "SED-44")
@waits
async def test_the_order_of_messages_changes_nothing(tmp_path: Path, authority: trustme.CA) -> None:
    async def collected(name: str, *rounds: tuple[int, ...]) -> dict[str, bytes]:
        (tmp_path / name).mkdir()
        async with ground(tmp_path / name, authority, MOM_WEB) as found:
            messages = {1: found.raw(1, *SECOND)[0], 2: found.raw(2, *FIRST)[0]}
            for each in rounds:
                await found.collect(*(messages[number] for number in each))
            assert urls(found) == [("/b", "B again"), ("/c", "C"), ("/a", "A")]
            assert found.contract(MOM)["domain_id"] == f"gov:sg:{MOM}"
            return normalised(found.tree())

    trees = [
        await collected("a", (1, 2)),
        await collected("b", (2,), (1,)),
        await collected("c", (1,), (2,)),
    ]
    assert trees[0] == trees[1] == trees[2]


@pytest.mark.req("SED-24", "C-92")
@waits
async def test_the_lowest_position_names_the_domain(tmp_path: Path, authority: trustme.CA) -> None:
    async with ground(tmp_path, authority, MOM_WEB) as found:
        await found.collect(*found.raw(2, *FIRST))
        await found.collect(*found.raw(1, SECOND[1]))
        assert found.contract(MOM)["domain_id"] == f"news:sg:{MOM}"
        assert urls(found)[0] == ("/c", "C")


@pytest.mark.req("SED-25", "SED-31", "SED-33", "C-59")
@waits
async def test_what_is_covered_is_skipped(tmp_path: Path, authority: trustme.CA) -> None:
    async with ground(tmp_path, authority, MOM_WEB) as found:
        messages = found.raw(1, *FIRST)
        first = await found.collect(*messages)
        before = found.tree()
        found.clock.advance(60)
        assert await found.collect(*messages) == first
        assert found.tree() == before
        assert found.asked == BOTH
        skipped = found.hand.ear.of(SeedSkipped)
        assert [one.sentence for one in skipped] == [f"Already processed, skipping: {MOM}"]
        manifest = found.manifest(MOM)
        assert manifest["processor"] == "seed-engine"
        assert manifest["processed_at"] == "2026-01-28T15:30:00Z"


@pytest.mark.req("SED-34", "SED-04", "C-50")
@waits
async def test_force_makes_facts_fresh_once_for_each_run(
    tmp_path: Path, authority: trustme.CA
) -> None:
    async with ground(tmp_path, authority, MOM_WEB) as found:
        one, two = found.raw(1, *FIRST), found.raw(2, *SECOND)
        await found.collect(*one)
        await found.collect(*two)
        found.clock.advance(3600)
        await found.collect(*forced(two, "01A"))
        assert found.asked == BOTH * 2
        assert found.contract(MOM)["technical_metadata"]["robots_txt"]["fetched_at"] == (
            "2026-01-28T16:30:00Z"
        )
        assert len(urls(found)) == 3
        await found.collect(*forced(one, "01A"))  # of the same run, which came later
        assert found.asked == BOTH * 2
        await found.collect(*forced(one, "01B"))
        assert found.asked == BOTH * 3
        assert found.manifest(MOM)["run"] == "01B"


def lost() -> None:
    """Take the domain away."""
    raise LeaseLost("somebody else has it")


@pytest.mark.req("SED-04", "SED-25")
@waits
async def test_forced_copies_that_are_gone_are_removed(
    tmp_path: Path, authority: trustme.CA
) -> None:
    routes = dict(PLAIN)
    async with ground(tmp_path, authority, {f"https://{MOM}": routes}) as found:
        messages = found.raw(1, *FIRST)
        await found.collect(*messages)
        routes.clear()
        whole = found.tree()
        with pytest.raises(LeaseLost):
            await found.collect(*forced(messages, "01A"), on_keep=lost)
        assert found.tree() == whole, "not by somebody who has lost it"
        worked = await found.collect(*forced(messages, "01A"))
        assert (worked.robots, worked.sitemap) == (False, False)
        folder = found.file(MOM, "")
        names = sorted(path.name for path in folder.iterdir())
        assert names == ["domain_metadata.json", "domain_metadata.json.success"]


@pytest.mark.req("SED-32", "C-92")
@pytest.mark.parametrize(
    "name", ["domain_metadata.json", "robots.txt", "sitemap.xml", "domain_metadata.json.success"]
)
@pytest.mark.parametrize("damage", [b"", b"{}", None])
@waits
async def test_what_does_not_match_its_checkpoint_is_made_anew(
    tmp_path: Path, authority: trustme.CA, name: str, damage: bytes | None
) -> None:
    async with ground(tmp_path, authority, MOM_WEB) as found:
        one, two = found.raw(1, *FIRST), found.raw(2, *SECOND)
        await found.collect(*one)
        await found.collect(*two)
        whole = normalised(found.tree())
        path = found.file(MOM, name)
        path.unlink() if damage is None else path.write_bytes(damage)
        # Without the checkpoint nobody knows of the other raw file, unless it is sent again.
        is_known = not name.endswith(".success")
        await found.collect(*(two if is_known else one + two))
        assert normalised(found.tree()) == whole
        assert found.asked == BOTH * 2


@waits
async def test_a_checkpoint_that_claims_too_much_is_not_believed(
    tmp_path: Path, authority: trustme.CA, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with ground(tmp_path, authority, MOM_WEB) as found:
        messages = found.raw(1, *FIRST)
        await found.collect(*messages)
        monkeypatch.setattr(standing_module, "MAX_CONTRACT_BYTES", 1)
        await found.collect(*messages)
        assert found.asked == BOTH * 2


@pytest.mark.req("C-92")
@pytest.mark.parametrize("lie", ["positions", "domain", "partition"])
@waits
async def test_a_checkpoint_that_answers_for_another_contract_is_not_believed(
    tmp_path: Path, authority: trustme.CA, lie: str
) -> None:
    async with ground(tmp_path, authority, MOM_WEB) as found:
        messages = found.raw(1, *FIRST)
        await found.collect(*messages)
        whole = normalised(found.tree())
        path = found.file(MOM, "domain_metadata.json")
        contract, manifest = found.contract(MOM), found.manifest(MOM)
        if lie == "positions":
            manifest["positions"].pop()
        elif lie == "domain":
            contract |= {"domain": "moh.gov.sg", "registrable_domain": "moh.gov.sg"}
        else:
            contract["processing_metadata"]["partition_info"]["date"] = "2026-01-29"
        data = json.dumps(contract).encode()
        path.write_bytes(data)
        key = str(path.relative_to(found.root))
        manifest["outputs"][key] = {"sha256": sha256_hex(data), "size": len(data)}
        path.with_name(f"{path.name}.success").write_text(json.dumps(manifest))
        await found.collect(*messages)
        assert normalised(found.tree()) == whole
        assert found.asked == BOTH * 2


@pytest.mark.req("SED-32", "C-92")
@pytest.mark.parametrize("damage", [b"", b"{}", b'{"processor": "another"}', None])
@waits
async def test_a_contract_that_lost_its_checkpoint_loses_no_url(
    tmp_path: Path, authority: trustme.CA, damage: bytes | None
) -> None:
    async with ground(tmp_path, authority, MOM_WEB) as found:
        found.raw(1, *FIRST)
        found.raw(2, *SECOND)
        found.raw(4, record("https://moh.gov.sg/"))
        for number in (1, 2, 4):
            await processed(found, number)
        await found.collect(*found.raw(1, *FIRST), *found.raw(2, *SECOND))
        whole = urls(found)
        path = found.file(MOM, "domain_metadata.json.success")
        path.unlink() if damage is None else path.write_bytes(damage)
        if damage:
            found.file(MOM, "domain_metadata.json").unlink()
        found.raw(5, record("https://mom.gov.sg/unsent"))  # whose message has yet to come
        await found.collect(*found.raw(3, record("https://mom.gov.sg/new", "New")))
        assert urls(found) == [*whole, ("/new", "New")]
        numbers = [path[-6] for path in found.manifest(MOM)["inputs"]]
        assert numbers == ["1", "2", "3"]


@pytest.mark.req("C-52", "C-92")
@waits
async def test_a_checkpoint_that_came_long_after_its_loan_costs_no_url(
    tmp_path: Path, authority: trustme.CA
) -> None:
    async with ground(tmp_path, authority, MOM_WEB) as found:
        one, two = found.raw(1, *FIRST), found.raw(2, *SECOND)
        three = found.raw(3, record("https://mom.gov.sg/new", "New"))
        for number in (1, 2, 3):
            await processed(found, number)
        await found.collect(*one)
        await found.collect(*two)
        # Whoever had the second one stood still before its last write; somebody else, who had
        # the third one, too, was done with both before.
        late = found.file(MOM, "domain_metadata.json.success").read_bytes()
        await found.collect(*two, *three)
        whole = urls(found)
        assert ("/new", "New") in whole
        found.file(MOM, "domain_metadata.json.success").write_bytes(late)
        await found.collect(*two)  # the look at it that the late one asks for
        assert urls(found) == whole
        assert list(found.manifest(MOM)["inputs"]) == [
            raw_path(SG_NEWS, number) for number in (1, 2, 3)
        ]


def test_where_nothing_stands_no_url_does() -> None:
    assert ContractState().placed == ()


async def processed(found: Ground, number: int) -> None:
    """Let a raw file be processed; its messages go nowhere."""
    message = file_message(SeedRules(), SeedMessage(raw_path(SG_NEWS, number), SG_NEWS))
    loan = Loan(message.queue, message.task, 1, 0.0, (message,))
    await process_file(found.seeding, InHand(loan))


@pytest.mark.parametrize("is_forced", [False, True])
@waits
async def test_of_two_messages_about_a_file_that_was_exchanged_none_wins(
    tmp_path: Path, authority: trustme.CA, is_forced: bool
) -> None:
    async with ground(tmp_path, authority, MOM_WEB) as found:
        old, new = found.raw(1, *FIRST), found.raw(1, *FIRST, *SECOND)
        names = {domain_message(SeedRules(), one).name for one in (*old, *new)}
        assert len(names) == 2, "both wait"
        await found.collect(*(forced(old, "01A") if is_forced else old), *new)
        assert [path for path, _ in urls(found)] == ["/a", "/b", "/c"]
        await found.collect(*old)  # a dead letter that somebody has tried again
        assert [path for path, _ in urls(found)] == ["/a", "/b", "/c"]
        assert found.asked == BOTH


@waits
async def test_a_raw_file_that_is_gone_is_told(tmp_path: Path, authority: trustme.CA) -> None:
    async with ground(tmp_path, authority, MOM_WEB) as found:
        await found.collect(*found.raw(1, *FIRST))
        found.file(MOM, "robots.txt").write_bytes(b"other")
        (found.root / raw_path(SG_NEWS, 1)).unlink()
        with pytest.raises(SeedError, match="File not found: raw/country=sg") as error:
            await found.collect(*found.raw(2, *SECOND))
        assert error.value.kind == ErrorType.STORAGE


@waits
async def test_a_raw_file_that_cannot_be_read_again_is_named(
    tmp_path: Path, authority: trustme.CA
) -> None:
    async with ground(tmp_path, authority, MOM_WEB) as found:
        await found.collect(*found.raw(1, *FIRST))
        found.file(MOM, "robots.txt").write_bytes(b"other")
        (found.root / raw_path(SG_NEWS, 1)).write_bytes(b"[{")
        with pytest.raises(SeedError, match=r"raw_0001\.json: line 1 column 3: ") as error:
            await found.collect(*found.raw(2, *SECOND))
        assert error.value.kind == ErrorType.PARSE


@waits
async def test_a_raw_file_that_was_exchanged_takes_the_place_of_the_old_one(
    tmp_path: Path, authority: trustme.CA
) -> None:
    async with ground(tmp_path, authority, MOM_WEB) as found:
        await found.collect(*found.raw(1, *FIRST), *found.raw(2, *SECOND))
        await found.collect(*found.raw(1, FIRST[0]))
        assert urls(found) == [("/a", "A"), ("/b", "B again"), ("/c", "C")]
        assert found.manifest(MOM)["positions"] == [[1, 0], [2, 0], [2, 1]]
        assert found.asked == BOTH


@pytest.mark.req("SED-32")
@pytest.mark.parametrize("writes", range(4))
@waits
async def test_a_loan_that_is_lost_stops_the_writer(
    tmp_path: Path, authority: trustme.CA, writes: int
) -> None:
    async with ground(tmp_path, authority, MOM_WEB) as found:
        left = [writes]

        def keep() -> None:
            left[0] -= 1
            if left[0] < 0:
                raise LeaseLost("somebody else has it")

        messages = found.raw(1, *FIRST)
        with pytest.raises(LeaseLost):
            await found.collect(*messages, on_keep=keep)
        names = ["robots.txt", "sitemap.xml", "domain_metadata.json"][:writes]
        assert sorted(path.rpartition("/")[2] for path in found.tree()) == sorted(names)
        await found.collect(*messages)  # and whoever has it now ends it
        assert found.manifest(MOM)["counts"] == {"urls": 2}


@pytest.mark.req("C-92")
@waits
async def test_a_checkpoint_of_somebody_else_is_not_overwritten(
    tmp_path: Path, authority: trustme.CA
) -> None:
    async with ground(tmp_path, authority, MOM_WEB) as found:
        path = found.file(MOM, "domain_metadata.json.success")

        def meanwhile() -> None:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(b"theirs")

        with pytest.raises(SeedError, match="exists already: another program") as error:
            await found.collect(*found.raw(1, *FIRST), on_keep=meanwhile)
        assert error.value.kind == ErrorType.STORAGE
        assert path.read_bytes() == b"theirs"


HOSTS = ("www.mom.gov.sg", "jobs.mom.gov.sg", "data.mom.gov.sg")
HOST_WEB = {f"https://{host}": PLAIN for host in (MOM, *HOSTS)}
HOST_RECORDS = tuple(record(f"https://{host}/", host) for host in HOSTS)


@pytest.mark.req("C-57")
@waits
async def test_every_host_has_its_own_facts_and_files(
    tmp_path: Path, authority: trustme.CA
) -> None:
    config = seed_config(max_hosts=3)
    async with ground(tmp_path, authority, HOST_WEB, config) as found:
        await found.collect(*found.raw(1, *HOST_RECORDS))
        told = found.contract(MOM)["technical_metadata"]
        assert list(told) == ["robots_txt", "sitemap_xml", "server_info", "hosts"]
        # The domain itself is the first of three; the last of its hosts is one too many.
        assert list(told["hosts"]) == list(HOSTS[:2])
        assert told["hosts"][HOSTS[0]]["robots_txt"]["exists"]
        asked = [found.file(MOM, f"hosts/{host}/robots.txt").exists() for host in HOSTS]
        assert asked == [True, True, False]
        assert len(found.manifest(MOM)["outputs"]) == 7


@waits
async def test_only_hosts_that_are_new_are_asked(tmp_path: Path, authority: trustme.CA) -> None:
    async with ground(tmp_path, authority, HOST_WEB) as found:
        await found.collect(*found.raw(1, HOST_RECORDS[0]))
        before = len(found.asked)
        await found.collect(*found.raw(2, HOST_RECORDS[1]))
        assert found.asked[before:] == [
            f"https://{HOSTS[1]}/robots.txt",
            f"https://{HOSTS[1]}/sitemap.xml",
        ]
        assert list(found.contract(MOM)["technical_metadata"]["hosts"]) == list(HOSTS[:2])
        whole = found.tree()
        await found.collect(*found.raw(1, HOST_RECORDS[0]))
        assert found.tree() == whole


@waits
async def test_a_message_for_another_task_is_refused(tmp_path: Path, authority: trustme.CA) -> None:
    web = {**MOM_WEB, "https://moh.gov.sg": PLAIN}
    async with ground(tmp_path, authority, web) as found:
        messages = found.raw(1, *FIRST, record("https://moh.gov.sg/"))
        with pytest.raises(SeedError, match="waits for") as error:
            await found.collect(*messages)
        assert error.value.kind == ErrorType.VALIDATION
        assert found.asked == []


@pytest.mark.parametrize(
    ("limit", "value", "message"),
    [
        ("MAX_CONTRACT_URLS", 1, "has 2 URLs; the limit is 1"),
        ("MAX_CONTRACT_BYTES", 500, "bytes; the limit is 500"),
    ],
)
@waits
async def test_a_contract_has_limits(
    tmp_path: Path,
    authority: trustme.CA,
    monkeypatch: pytest.MonkeyPatch,
    limit: str,
    value: int,
    message: str,
) -> None:
    for module in (contract_module, domain_module):
        monkeypatch.setattr(module, limit, value, raising=False)

    async with ground(tmp_path, authority, MOM_WEB) as found:
        with pytest.raises(SeedError, match=message) as error:
            await found.collect(*found.raw(1, *FIRST))
        assert error.value.kind == ErrorType.VALIDATION
        assert not any(path.endswith(".success") for path in found.tree())


@pytest.mark.req("MON-14", "C-87")
@waits
async def test_the_tallies_hear_what_came_of_it(tmp_path: Path, authority: trustme.CA) -> None:
    async with ground(tmp_path, authority, MOM_WEB) as found:
        # robots.txt and sitemap are written before the duration is taken.
        worked = await found.collect(
            *found.raw(1, *FIRST), on_keep=lambda: found.clock.advance(0.3)
        )
        assert worked == TaskResult(2, True, True, 600)
