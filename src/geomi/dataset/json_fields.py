"""Read fields of JSON from outside: each has the right type, or raises a `SeedError`."""

from __future__ import annotations

from collections.abc import Mapping

import orjson

from geomi.dataset.partition import checked_partition
from geomi.errors import FieldRefused, SeedError
from geomi.model.dataset.seed import Checksum, ErrorType, Partition, SeedUrl

Fields = Mapping[str, object]

MAX_COUNT = 2**53 - 1  # what every reader of JSON has as it was written, and every store takes


def read_object(data: bytes) -> Fields:
    """Read a JSON object."""
    try:
        found = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise SeedError(f"it is not JSON: {error}", kind=ErrorType.PARSE) from None
    return as_object(found, "it")


def as_object(value: object, name: str) -> Fields:
    """Return a value that has to be an object."""
    if not isinstance(value, dict):
        raise wrong(f"{name} is not a JSON object")
    return value


def inner(found: Fields, name: str) -> Fields:
    """Return an object within an object."""
    return as_object(found.get(name), name)


def rows(found: Fields, name: str) -> list[object]:
    """Return an array."""
    value = found.get(name)
    if not isinstance(value, list):
        raise wrong(f"{name} is not a JSON array")
    return value


def text(found: Fields, name: str) -> str:
    """Return a text."""
    value = found.get(name)
    if not isinstance(value, str):
        raise wrong(f"{name} is not text")
    return value


def flag(found: Fields, name: str) -> bool:
    """Return true or false."""
    value = found.get(name)
    if not isinstance(value, bool):
        raise wrong(f"{name} is neither true nor false")
    return value


def count(found: Fields, name: str) -> int:
    """Return a number of things."""
    return as_count(found.get(name), name)


def as_count(value: object, name: str) -> int:
    """Return a value that has to be a number of things."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MAX_COUNT:
        raise wrong(f"{name} is not a count")
    return value


def partition(found: Fields) -> Partition:
    """Return the partition that country, category and date name."""
    try:
        return checked_partition(*(text(found, name) for name in ("country", "category", "date")))
    except FieldRefused as refused:
        raise wrong(refused.message) from refused


def partition_fields(partition: Partition) -> dict[str, str]:
    """Write a partition (`partition_info`)."""
    return {"country": partition.country, "category": partition.category, "date": partition.date}


def seed_url(value: object) -> SeedUrl:
    """Return a URL of a domain."""
    found = as_object(value, "a URL")
    return SeedUrl(text(found, "url"), text(found, "title"), text(found, "path"))


def url_fields(seed: SeedUrl) -> dict[str, str]:
    """Write a URL of a domain."""
    return {"url": seed.url, "title": seed.title, "path": seed.path}


def checksum(found: Fields) -> Checksum:
    """Return what a file has to be."""
    return Checksum(text(found, "sha256"), count(found, "size"))


def wrong(what: str) -> SeedError:
    """Say that something has not the shape it should have."""
    return SeedError(what, kind=ErrorType.VALIDATION)
