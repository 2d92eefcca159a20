"""Checkpoints, messages and descriptions as JSON."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from geomi.dataset.checkpoint import MAX_MANIFEST_BYTES, read_manifest, write_manifest
from geomi.dataset.json_fields import MAX_COUNT
from geomi.dataset.message import (
    domain_message,
    file_message,
    read_domain_message,
    read_seed_message,
    write_domain_message,
    write_seed_message,
)
from geomi.dataset.partition import metadata_path, raw_path, rejects_path, robots_path
from geomi.dataset.raw_file import RawMetadata, read_raw_metadata
from geomi.errors import SeedError
from geomi.model.dataset.seed import (
    Checksum,
    DomainMessage,
    ErrorType,
    Manifest,
    Partition,
    SeedMessage,
    SeedRules,
    SeedUrl,
)

SG = Partition("sg", "news", "2026-01-28")
FILE = raw_path(SG, 1)
SUM = Checksum("ab" * 32, 17)
MANIFEST = Manifest(
    "2026-01-28T15:30:00Z",
    {FILE: SUM},
    {metadata_path(SG, "mom.gov.sg"): SUM, rejects_path(FILE): SUM},
    {"urls": 2},
    ((1, 0), (2, 5)),
    "01RUN",
    {"robots": True},
    12,
)
SEED = SeedMessage(FILE, SG, force=True, run="01RUN")
DOMAIN = DomainMessage(
    "mom.gov.sg",
    "gov:sg:mom.gov.sg",
    (SeedUrl("https://mom.gov.sg/a", "A", "/a"), SeedUrl("https://mom.gov.sg/b", "노동", "/b")),
    SG,
    FILE,
    SUM,
    (0, 4),
)


@pytest.mark.req("SED-33", "C-92", "C-59")
def test_a_manifest_is_read_back() -> None:
    data = write_manifest(MANIFEST)
    assert read_manifest(data) == MANIFEST
    assert " ".join(json.loads(data)) == (
        "processor processed_at form run duration_ms inputs outputs counts facts positions"
    )
    assert json.loads(data)["processor"] == "seed-engine"
    assert json.loads(data)["processed_at"] == "2026-01-28T15:30:00Z"
    plain = Manifest("2026-01-28T15:30:00Z", {FILE: SUM})
    assert read_manifest(write_manifest(plain)) == plain


def changed(data: bytes, **fields: object) -> bytes:
    return json.dumps({**json.loads(data), **fields}).encode()


def as_text(found: object) -> str:
    """Write JSON to be compared with the order of its keys."""
    return json.dumps(found, ensure_ascii=False, indent=1)


@pytest.mark.req("C-92")
@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{}",
        b"[]",
        b"null",
        b"\xff",
        b"{" * 10_000,
        write_manifest(MANIFEST)[:-3],
        changed(write_manifest(MANIFEST), processor="another"),
        changed(write_manifest(MANIFEST), form=2),
        changed(write_manifest(MANIFEST), inputs=[]),
        changed(write_manifest(MANIFEST), inputs={FILE: 1}),
        changed(write_manifest(MANIFEST), inputs={FILE: {"sha256": "x", "size": -1}}),
        changed(write_manifest(MANIFEST), inputs={"../x": {"sha256": "x", "size": 1}}),
        changed(
            write_manifest(MANIFEST),
            outputs={robots_path(SG, "mom.gov.sg"): {"sha256": 1, "size": 1}},
        ),
        changed(write_manifest(MANIFEST), outputs={FILE: {"sha256": "x", "size": 1}}),
        changed(write_manifest(MANIFEST), outputs={"prod/../x": {"sha256": "x", "size": 1}}),
        changed(write_manifest(MANIFEST), counts={"urls": True}),
        changed(write_manifest(MANIFEST), facts={"robots": 1}),
        changed(write_manifest(MANIFEST), positions=[[1]]),
        changed(write_manifest(MANIFEST), positions=[[1, "2"]]),
        changed(write_manifest(MANIFEST), positions={}),
        changed(write_manifest(MANIFEST), run=None),
        changed(write_manifest(MANIFEST), duration_ms=MAX_COUNT + 1),
        changed(write_manifest(MANIFEST), counts={"urls": 2**64 - 1}),
        write_manifest(MANIFEST).ljust(MAX_MANIFEST_BYTES + 1),
    ],
)
def test_what_is_no_manifest(data: bytes) -> None:
    assert read_manifest(data) is None


def test_a_manifest_with_the_largest_count() -> None:
    data = changed(write_manifest(MANIFEST), duration_ms=MAX_COUNT)
    assert read_manifest(data) is not None


def test_a_manifest_of_the_largest_size() -> None:
    assert read_manifest(write_manifest(MANIFEST).ljust(MAX_MANIFEST_BYTES)) == MANIFEST


@pytest.mark.req("SED-21", "C-50")
def test_seed_messages() -> None:
    body = write_seed_message(SEED)
    written = {
        "file_path": FILE,
        "partition_info": {"country": "sg", "category": "news", "date": "2026-01-28"},
        "force": True,
        "run": "01RUN",
    }
    assert as_text(json.loads(body)) == as_text(written)
    assert read_seed_message(body) == SEED


@pytest.mark.req("SED-22", "C-50")
def test_domain_messages() -> None:
    body = write_domain_message(DOMAIN)
    written = {
        "domain": "mom.gov.sg",
        "domain_id": "gov:sg:mom.gov.sg",
        "urls": [
            {"url": "https://mom.gov.sg/a", "title": "A", "path": "/a"},
            {"url": "https://mom.gov.sg/b", "title": "노동", "path": "/b"},
        ],
        "partition_info": {"country": "sg", "category": "news", "date": "2026-01-28"},
        "file_path": FILE,
        "file": {"sha256": "ab" * 32, "size": 17},
        "indexes": [0, 4],
        "force": False,
        "run": "",
    }
    assert as_text(json.loads(body)) == as_text(written)
    assert read_domain_message(body) == DOMAIN
    forced = replace(DOMAIN, force=True, run="01RUN")
    assert read_domain_message(write_domain_message(forced)) == forced


def test_how_messages_are_named() -> None:
    rules = SeedRules()
    forced = file_message(rules, SEED)
    assert (forced.queue, forced.task, forced.name) == ("seed", FILE, f"{FILE}@01RUN")
    assert file_message(rules, SeedMessage(FILE, SG)).name == FILE
    domain = domain_message(rules, DOMAIN)
    folder = "prod/country=sg/category=news/date=2026-01-28/mom.gov.sg"
    assert (domain.queue, domain.task) == ("domain", folder)
    assert domain.name == f"{folder}#raw_0001.json:{'ab' * 8}"
    assert domain.partition == SG


@pytest.mark.parametrize(
    "fields",
    [
        {"file_path": "raw/../x"},
        {"file_path": raw_path(Partition("my", "news", "2026-01-28"), 1)},
        {"file_path": 1},
        {"partition_info": {"country": "..", "category": "news", "date": "2026-01-28"}},
        {"partition_info": None},
        {"force": "yes"},
        {"force": True, "run": ""},
        {"force": False, "run": "01RUN"},
        {"run": None},
    ],
)
def test_messages_of_another_shape(fields: dict[str, object]) -> None:
    with pytest.raises(SeedError) as refused:
        read_seed_message(changed(write_seed_message(SEED), **fields))
    assert refused.value.kind is ErrorType.VALIDATION
    with pytest.raises(SeedError):
        read_domain_message(changed(write_domain_message(DOMAIN), **fields))


@pytest.mark.parametrize(
    "fields",
    [
        {"urls": []},
        {"urls": [], "indexes": []},
        {"urls": [1, 2]},
        {"indexes": [0]},
        {"indexes": [0, -1]},
        {"domain": "../x"},
        {"domain": "MOM.gov.sg"},
        {"file": {}},
    ],
)
def test_domain_messages_of_another_shape(fields: dict[str, object]) -> None:
    with pytest.raises(SeedError) as refused:
        read_domain_message(changed(write_domain_message(DOMAIN), **fields))
    assert refused.value.kind is ErrorType.VALIDATION


def test_messages_that_are_no_json() -> None:
    with pytest.raises(SeedError) as refused:
        read_seed_message(b"{")
    assert refused.value.kind is ErrorType.PARSE


@pytest.mark.req("G-25")
def test_raw_metadata() -> None:
    told = {
        "country": "sg",
        "category": "news",
        "date": "2026-01-28",
        "file_count": 3,
        "record_count": 42,
        "created_at": "2026-01-28T10:00:00Z",
    }
    data = json.dumps(told).encode()
    assert read_raw_metadata(data) == RawMetadata(SG, 3, 42, "2026-01-28T10:00:00Z")
    for wrong in ({"file_count": "3"}, {"record_count": -1}, {"date": "today"}, {"country": 1}):
        with pytest.raises(SeedError):
            read_raw_metadata(changed(data, **wrong))
