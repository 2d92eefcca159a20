"""Contracts as JSON: one form, read back as it was written, and nothing else is taken for one."""

from __future__ import annotations

from dataclasses import replace

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from geomi.dataset import contract as module
from geomi.dataset.contract import merge_urls, read_contract, write_contract
from geomi.errors import SeedError
from geomi.model.dataset.contract import Contract, HostFacts, RobotsFacts, ServerInfo, SitemapFacts
from geomi.model.dataset.seed import ErrorType, Partition, PlacedUrl, SeedUrl

NOTHING = HostFacts(
    RobotsFacts(False, error="HTTP 404", fetched_at="2026-01-28T15:30:00Z"),
    SitemapFacts(False, error="HTTP 404"),
    ServerInfo(),
)
INDEX = HostFacts(
    RobotsFacts(
        True, 20, None, False, ("https://a.test/s.xml",), "2026-01-28T15:30:00Z", max_age_s=60
    ),
    SitemapFacts(
        True,
        10,
        "2026-01-20T14:30:00Z",
        None,
        "2026-01-20T14:30:00Z",
        sitemap_count=3,
        sitemaps_read=0,
        url="https://a.test/s.xml",
        fetched_at="2026-01-28T15:30:00Z",
        error="its XML is broken",
    ),
    ServerInfo("nginx", "br", True, 12),
)
CONTRACT = Contract(
    "a.test",
    "gov:sg:a.test",
    Partition("sg", "news", "2026-01-28"),
    (SeedUrl("https://a.test/%C3%BC", "Grüße 거미", "/%C3%BC"),),
    NOTHING,
    "2026-01-28T15:30:00Z",
    7,
    {"www.a.test": INDEX},
)


@pytest.mark.req("SED-09")
@pytest.mark.parametrize("facts", [NOTHING, INDEX])
def test_a_contract_is_read_back_as_it_was_written(facts: HostFacts) -> None:
    contract = replace(CONTRACT, facts=facts)
    data = write_contract(contract)
    assert read_contract(data) == contract
    assert write_contract(contract) == data
    assert data.endswith(b"\n}\n")
    assert "Grüße 거미".encode() in data
    assert b'\n  "domain_id": "gov:sg:a.test",\n' in data


@pytest.mark.req("SED-10", "SED-11")
def test_what_was_not_found_has_an_error_and_nothing_that_was_not_seen() -> None:
    told = orjson.loads(write_contract(CONTRACT))["technical_metadata"]
    assert list(told["robots_txt"]) == ["exists", "error", "fetched_at"]
    assert list(told["sitemap_xml"]) == ["exists", "error", "fetched_at"]
    assert told["hosts"]["www.a.test"]["sitemap_xml"]["sitemap_count"] == 3


def changed(path: str, value: object) -> bytes:
    """Return a contract with one field changed; `...` takes it away."""
    found = inner = orjson.loads(write_contract(CONTRACT))
    *above, last = path.split(".")
    for name in above:
        inner = inner[int(name) if isinstance(inner, list) else name]
    if value is ...:
        del inner[last]
    else:
        inner[last] = value
    return orjson.dumps(found)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("domain", ...),
        ("domain", 7),
        ("registrable_domain", "b.test"),
        ("urls", {}),
        ("urls.0.title", None),
        ("urls.0.url", "x"),
        ("urls.0.url", "ftp://a.test/"),
        ("urls.0.url", "https://a.test:99999/"),
        ("urls.0.url", "https://b.test/"),
        ("urls.0.url", "https://ba.test/"),
        ("urls.0.url", "https://169.254.169.254/"),
        ("urls.0.url", "HTTPS://A.test"),
        ("technical_metadata", []),
        ("technical_metadata.hosts", []),
        ("technical_metadata.robots_txt.exists", 1),
        ("technical_metadata.robots_txt.error", ...),
        ("technical_metadata.robots_txt.exists", True),
        ("technical_metadata.sitemap_xml.exists", True),
        ("technical_metadata.server_info.supports_https", None),
        ("technical_metadata.server_info.response_time_avg_ms", -1),
        ("technical_metadata.server_info.server", 5),
        ("processing_metadata.total_urls", 2),
        ("processing_metadata.partition_info.country", "../"),
        ("processing_metadata.partition_info.date", "2026-02-30"),
    ],
)
def test_what_is_no_contract_is_not_taken_for_one(path: str, value: object) -> None:
    assert read_contract(changed(path, value)) is None


@pytest.mark.parametrize("data", [b"", b"{}", b"[]", b"{", b"\xff", b"[" * 100_000])
def test_other_files_are_no_contracts(data: bytes) -> None:
    assert read_contract(data) is None


@given(st.binary(max_size=200))
def test_reading_never_raises(data: bytes) -> None:
    assert read_contract(data) is None


@pytest.mark.parametrize("name", ["MAX_CONTRACT_BYTES", "MAX_CONTRACT_URLS", "MAX_CONTRACT_HOSTS"])
def test_what_is_read_back_has_limits(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    data = write_contract(CONTRACT)
    at_limit = len(data) if name == "MAX_CONTRACT_BYTES" else 1
    monkeypatch.setattr(module, name, at_limit)
    assert read_contract(data) == CONTRACT
    monkeypatch.setattr(module, name, at_limit - 1)
    assert read_contract(data) is None


def placed(number: int, index: int, url: str) -> PlacedUrl:
    return PlacedUrl((number, index), f"gov:sg:{number}", SeedUrl(url, f"{number}.{index}", "/"))


@pytest.mark.req("C-52", "C-92")
@given(st.permutations([(1, 2, "b"), (1, 10, "c"), (2, 0, "a"), (2, 1, "b"), (10, 0, "d")]))
def test_urls_follow_their_records_in_whatever_order_they_come(
    given: list[tuple[int, int, str]],
) -> None:
    found = merge_urls(placed(*one) for one in given)
    assert [(one.at, one.seed.url) for one in found] == [
        ((1, 2), "b"),
        ((1, 10), "c"),
        ((2, 0), "a"),
        ((10, 0), "d"),
    ]


def test_a_domain_has_no_more_urls_than_a_contract_may_hold(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "MAX_CONTRACT_URLS", 2)
    assert len(merge_urls([placed(1, 0, "a"), placed(1, 1, "b"), placed(2, 0, "a")])) == 2
    with pytest.raises(SeedError, match="3 URLs; the limit is 2") as error:
        merge_urls([placed(1, index, str(index)) for index in range(3)])
    assert error.value.kind == ErrorType.VALIDATION
