"""Where the files of a dataset are."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geomi.dataset.partition import (
    MAX_CATEGORY_CHARS,
    MAX_NUMBER_DIGITS,
    checked_filter,
    checked_partition,
    metadata_path,
    prod_prefix,
    raw_path,
    raw_prefix,
    read_prod_key,
    read_raw_key,
    read_raw_metadata_key,
    read_rejects_key,
    rejects_path,
    rejects_prefix,
    result_path,
    robots_path,
    safe_domain,
    sitemap_path,
    success_path,
)
from geomi.errors import FieldRefused
from geomi.model.dataset.seed import Partition, PartitionFilter
from geomi.url.host import MAX_NAME_CHARS

SG = Partition("sg", "news", "2026-01-28")
FOLDER = "country=sg/category=news/date=2026-01-28/"

TRICKS = [
    "../etc",
    "..",
    "%2e%2e",
    "%2e%2e%2fetc",
    "a\0b",
    "a\\b",
    "..\\..",
    "/etc/passwd",
    "a/b",
    "sg\n",
    "ｓｇ",
    "ѕg",
    "．．",
    "x" * 10_240,
    "",
]


@pytest.mark.req("SED-05", "SED-38", "SED-39")
def test_raw_paths() -> None:
    assert raw_path(SG, 1) == f"raw/{FOLDER}raw_0001.json"
    assert raw_path(SG, 12345) == f"raw/{FOLDER}raw_12345.json"
    assert raw_path(checked_partition("SG", "news", "2026-01-28"), 1) == raw_path(SG, 1)
    assert raw_prefix(PartitionFilter("sg", "news", "2026-01-28")) == f"raw/{FOLDER}"
    assert success_path(raw_path(SG, 1)) == f"raw/{FOLDER}raw_0001.json.success"
    assert rejects_path(raw_path(SG, 1)) == f"rejects/{FOLDER}raw_0001.jsonl"


@pytest.mark.req("SED-06", "SED-40", "SED-41")
def test_prod_paths() -> None:
    folder = f"prod/{FOLDER}mom.gov.sg"
    assert result_path(SG, "MOM.gov.sg") == folder
    assert result_path(Partition("SG", "news", "2026-01-28"), "mom.gov.sg") == folder
    assert metadata_path(SG, "mom.gov.sg") == f"{folder}/domain_metadata.json"
    assert robots_path(SG, "mom.gov.sg") == f"{folder}/robots.txt"
    assert sitemap_path(SG, "mom.gov.sg") == f"{folder}/sitemap.xml"
    assert success_path(metadata_path(SG, "mom.gov.sg")).endswith("/domain_metadata.json.success")


@pytest.mark.req("SED-17", "C-51")
@pytest.mark.parametrize(
    ("country", "category", "date", "known"),
    [
        (None, None, None, ""),
        ("sg", None, None, "country=sg/"),
        ("sg", "news", None, "country=sg/category=news/"),
        ("sg", None, "2026-01-28", "country=sg/"),
        (None, "news", "2026-01-28", ""),
        ("SG", "news", "2026-01-28", FOLDER),
    ],
)
def test_the_longest_known_prefix(
    country: str | None, category: str | None, date: str | None, known: str
) -> None:
    which = checked_filter(country, category, date)
    assert raw_prefix(which) == f"raw/{known}"
    assert prod_prefix(which) == f"prod/{known}"
    assert which.matches(SG)


@pytest.mark.parametrize("trick", TRICKS)
def test_tricks_in_a_partition_are_refused(trick: str) -> None:
    for field, parts in (
        ("country", (trick, "news", "2026-01-28")),
        ("category", ("sg", trick, "2026-01-28")),
        ("date", ("sg", "news", trick)),
    ):
        for check in (checked_partition, checked_filter):
            with pytest.raises(FieldRefused) as refused:
                check(*parts)
            assert refused.value.field == field
            assert len(refused.value.message) < 1000
        with pytest.raises(FieldRefused):
            raw_path(Partition(*parts), 1)
        with pytest.raises(FieldRefused):
            result_path(Partition(*parts), "mom.gov.sg")
        with pytest.raises(FieldRefused):
            raw_prefix(PartitionFilter(*parts))


def test_limits_of_names() -> None:
    assert checked_partition("sg", "a" * MAX_CATEGORY_CHARS, "2026-01-28")
    with pytest.raises(FieldRefused):
        checked_partition("sg", "a" * (MAX_CATEGORY_CHARS + 1), "2026-01-28")
    with pytest.raises(FieldRefused):
        checked_partition("sg", "news", "2026-02-30")
    with pytest.raises(FieldRefused):
        raw_path(SG, 10**MAX_NUMBER_DIGITS)
    with pytest.raises(FieldRefused):
        raw_path(SG, -1)
    assert read_raw_key(raw_path(SG, 10**MAX_NUMBER_DIGITS - 1)) is not None
    assert read_raw_key(f"raw/{FOLDER}raw_1{'0' * MAX_NUMBER_DIGITS}.json") is None


@pytest.mark.req("SED-19", "C-77")
@pytest.mark.parametrize(
    "key",
    [
        f"raw/{FOLDER}raw_metadata.json",
        f"raw/{FOLDER}raw_0001.json.success",
        f"raw/{FOLDER}raw_001.json",
        f"raw/{FOLDER}raw_0001.json\n",
        f"raw/{FOLDER}raw_٠٠٠١.json",
        f"raw/{FOLDER}sub/raw_0001.json",
        f"/raw/{FOLDER}raw_0001.json",
        f"prod/{FOLDER}raw_0001.json",
        "raw/raw_0001.json",
        "raw/country=/category=/date=/raw_0001.json",
        "raw/country=SG/category=news/date=2026-01-28/raw_0001.json",
        "raw/country=sg/category=../date=2026-01-28/raw_0001.json",
        "raw/country=sg/category=news/date=2026-02-30/raw_0001.json",
        f"raw/country=sg/category={'x' * 10_240}/date=2026-01-28/raw_0001.json",
    ],
)
def test_keys_of_others(key: str) -> None:
    assert read_raw_key(key) is None
    with pytest.raises(FieldRefused):
        rejects_path(key)


@pytest.mark.req("SED-05", "SED-19", "C-87")
def test_keys_are_read_back() -> None:
    assert read_raw_key(raw_path(SG, 7)) == (SG, 7)
    assert read_raw_metadata_key(f"raw/{FOLDER}raw_metadata.json") == SG
    assert read_raw_metadata_key(raw_path(SG, 7)) is None
    assert read_prod_key(robots_path(SG, "mom.gov.sg")) == (SG, "mom.gov.sg", "robots.txt")
    host = f"{result_path(SG, 'mom.gov.sg')}/hosts/www.mom.gov.sg/robots.txt"
    assert read_prod_key(host) == (SG, "mom.gov.sg", "hosts/www.mom.gov.sg/robots.txt")


def test_rejects_are_read_back() -> None:
    assert read_rejects_key(rejects_path(raw_path(SG, 7))) == (SG, raw_path(SG, 7))
    for key in (raw_path(SG, 7), f"rejects/{FOLDER}x.jsonl", f"rejects/{FOLDER}raw_0001", "x"):
        assert read_rejects_key(key) is None
    assert rejects_prefix(PartitionFilter("sg")) == "rejects/country=sg/"


@pytest.mark.parametrize(
    "rest",
    ["../robots.txt", "mom.gov.sg/../x", "mom.gov.sg/a/..", ".hidden/x", "mom.gov.sg", "a..b/x"],
)
def test_keys_that_are_no_contracts(rest: str) -> None:
    assert read_prod_key(f"prod/{FOLDER}{rest}") is None
    assert read_prod_key(f"prod/country=sg/category=news/date=2026-13-01/a.sg/{rest}") is None


@pytest.mark.req("G-14", "C-87")
@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("mom.gov.sg", "mom.gov.sg"),
        ("MOM.GOV.SG.", "mom.gov.sg"),
        ("münchen.de", "xn--mnchen-3ya.de"),
        ("xn--mnchen-3ya.de", "xn--mnchen-3ya.de"),
        ("a_b.de", "a_b.de"),
        ("a b!.de", "a_b_.de"),
        ("A B.DE", "a_b.de"),
        ("..", "_"),
        ("", "_"),
        (".hidden", "hidden"),
        ("../../etc", "_._etc"),
        ("%2e%2e", "_2e_2e"),
        ("a\0b", "a_b"),
        ("c:\\x", "c__x"),
        ("．．", "__"),
    ],
)
def test_sanitised_domains(text: str, safe: str) -> None:
    assert safe_domain(text) == safe


@given(st.text(max_size=MAX_NAME_CHARS))
def test_a_sanitised_domain_is_one_harmless_name(text: str) -> None:
    safe = safe_domain(text)
    assert re.fullmatch(r"[a-z0-9_-][a-z0-9_.-]*", safe)
    assert ".." not in safe
    assert len(safe) <= MAX_NAME_CHARS
    assert safe_domain(safe) == safe


def test_a_domain_that_is_too_long_is_refused() -> None:
    with pytest.raises(FieldRefused):
        safe_domain("!" * (MAX_NAME_CHARS + 1))
    with pytest.raises(FieldRefused):
        result_path(SG, "a" * 10_240)
