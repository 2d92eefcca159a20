"""Read a raw file (SED-07): its records one by one, grouped by registrable domain.

Rules kept:
- A wrong record is rejected, with its line and the reason; the others are taken. A file that is not
  a JSON array, or has too many records, is a `SeedError`: in a broken array it is unknown where the
  next record begins.
- An element is decoded only if it is small enough: 64 MB of `[[],[],…` would become gigabytes of
  lists. A larger element is skipped.
- URLs are parsed like all URLs, without user-info and fragment. A record that repeats an earlier
  URL is a duplicate: counted, and not taken.
- Domain names are compared as in the DNS: `München.DE.` is `xn--mnchen-3ya.de`.
- `registrable_domain` must be a registrable domain (url.host): one owner is responsible for all of
  it.
- `raw_metadata.json` (G-25) describes a partition. It decides nothing; a check of the dataset
  compares it with the files.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

import orjson

from geomi.dataset.json_fields import count, partition, read_object, text
from geomi.errors import SeedError
from geomi.model.dataset.seed import ErrorType, Partition, Reject, SeedUrl
from geomi.text.encoding import replace_surrogates
from geomi.url.host import (
    MAX_NAME_CHARS,
    domain_name,
    is_public_suffix,
    is_within,
    registrable_domain,
)
from geomi.url.parse import DEFAULT_PORTS, Url, parse, without_user_info

FIELDS = (
    "url",
    "title",
    "domain",
    "registrable_domain",
    "domain_id",
    "source_type",
    "content_type",
    "language",
    "country",
    "discovered_at",
    "discovery_method",
)
MAX_URL_CHARS = 2048
MAX_TITLE_CHARS = 2000
MAX_FIELD_CHARS = 512  # of any other
MAX_SHOWN_CHARS = 200  # of a value, in a reject
_LIMITS = {"url": MAX_URL_CHARS, "title": MAX_TITLE_CHARS}
_SOURCE = re.compile("[a-z0-9][a-z0-9_-]{0,63}")
_UTC = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,9})?(?:Z|\+00:00)"
)
MAX_ELEMENT_CHARS = 65_536
MAX_NESTING = 100  # of an element that is passed over
# Most records are shorter, and cutting out so many characters costs nothing beside decoding them.
FIRST_CHARS = 2048
_SPACE = re.compile(r"[ \t\n\r]*")
_NUMBER_OR_WORD = re.compile(
    r"(?:-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null)(?=[\s,\]]|\Z)"
)
_CLOSES = {"{": "}", "[": "]"}
# A text as a whole, so that brackets in it are none; a quotation mark alone begins one without end.
# Possessive: a text of 64 MB must not be remembered place by place.
_TOKEN = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"|["{}\[\]]', re.DOTALL)
MAX_METADATA_BYTES = 65_536


@dataclass(frozen=True, slots=True)
class DomainGroup:
    """The URLs of one registrable domain, in the order of their records (SED-24).

    Args:
        domain_id: that of the first record.
        indexes: of each URL's record in the file.
    """

    domain: str
    domain_id: str
    urls: tuple[SeedUrl, ...]
    indexes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class RawFile:
    """What was read of a raw file; every record is taken, rejected or a duplicate."""

    groups: tuple[DomainGroup, ...]
    rejects: tuple[Reject, ...]
    records: int
    duplicates: int


def read_raw(data: bytes, partition: Partition, *, max_records: int) -> RawFile:
    """Read a raw file of a partition; `SeedError` where it is none."""
    found: dict[str, list[tuple[int, _Record]]] = {}
    rejects: list[Reject] = []
    seen: set[str] = set()
    records = duplicates = 0
    for element in elements(data, max_elements=max_records):
        records += 1
        try:
            record = _checked(element.value, partition)
        except _Wrong as wrong:
            url = _shown_url(element.value)
            rejects.append(Reject(element.line, element.index, str(wrong), url))
            continue
        if record.seed.url in seen:
            duplicates += 1
            continue
        seen.add(record.seed.url)
        found.setdefault(record.domain, []).append((element.index, record))
    groups = tuple(
        DomainGroup(
            domain,
            placed[0][1].domain_id,
            tuple(record.seed for _, record in placed),
            tuple(index for index, _ in placed),
        )
        for domain, placed in found.items()
    )
    return RawFile(groups, tuple(rejects), records, duplicates)


def write_rejects(rejects: Iterable[Reject]) -> bytes:
    """Write which records were not taken: one JSON line each."""
    return b"".join(
        orjson.dumps(
            {"line": it.line, "index": it.index, "reason": it.reason, "url": it.url},
            option=orjson.OPT_APPEND_NEWLINE,
        )
        for it in rejects
    )


@dataclass(frozen=True, slots=True)
class _Record:
    domain: str
    domain_id: str
    seed: SeedUrl


class _Wrong(ValueError):
    """Why a record is not taken."""


def _checked(value: object, partition: Partition) -> _Record:
    if isinstance(value, TooLarge):
        raise _Wrong(f"it has {value.chars} characters; the limit is {MAX_ELEMENT_CHARS}")
    if not isinstance(value, dict):
        raise _Wrong("it is not a JSON object")
    fields = {name: _field(value, name) for name in FIELDS}
    _check_time(fields["discovered_at"])
    country = fields["country"].lower()
    if country != partition.country:
        raise _Wrong(f"country is {_quoted(country)}; its partition's is `{partition.country}`")
    domain = _registrable(fields["registrable_domain"])
    if not is_within(fields["domain"], domain):
        raise _Wrong(f"domain {_quoted(fields['domain'])} is not within `{domain}`")
    url = _url(fields["url"], domain)
    domain_id = _domain_id(fields, country, domain)
    return _Record(domain, domain_id, SeedUrl(url.href, fields["title"], url.path))


def _field(record: Mapping[str, object], name: str) -> str:
    if name not in record:
        raise _Wrong(f"{name} is missing")
    value = record[name]
    if not isinstance(value, str):
        raise _Wrong(f"{name} is not text")
    limit = _LIMITS.get(name, MAX_FIELD_CHARS)
    if len(value) > limit:
        raise _Wrong(f"{name} has {len(value)} characters; the limit is {limit}")
    if "\0" in value or value != replace_surrogates(value):
        raise _Wrong(f"{name} has a character that cannot be encoded")
    return value


def _check_time(text: str) -> None:
    try:
        is_time = _UTC.fullmatch(text) is not None and bool(datetime.fromisoformat(text))
    except ValueError:  # a day or an hour that there is not
        is_time = False
    if not is_time:
        raise _Wrong(f"discovered_at {_quoted(text)} is not an ISO 8601 time in UTC")


def _registrable(text: str) -> str:
    name = domain_name(text)
    if name is None:
        raise _Wrong(f"registrable_domain {_quoted(text)} is not a domain name")
    if is_public_suffix(name):
        raise _Wrong(f"registrable_domain `{name}` is a public suffix")
    if (whole := registrable_domain(name)) != name:
        raise _Wrong(f"registrable_domain `{name}` is below the registrable domain `{whole}`")
    return name


def _url(text: str, domain: str) -> Url:
    url = parse(text)
    if url is None:
        raise _Wrong("url is not an http or https URL")
    if not is_within(url.host, domain):
        raise _Wrong(f"url has the host {_quoted(url.host)}, which is not within `{domain}`")
    if url.host.endswith("."):  # the same server, under the same name
        plain = parse(url.href.replace(url.host, url.host.removesuffix("."), 1))
        assert plain is not None, "a URL without the last dot of its host is one"
        url = plain
    if url.port not in DEFAULT_PORTS.values() and len(url.authority) > MAX_NAME_CHARS:
        # Its copies lie in a folder of that name; one URL must not cost its domain all the others.
        raise _Wrong(f"url has a host and port of more than {MAX_NAME_CHARS} characters")
    if len(url.href) > MAX_URL_CHARS:
        raise _Wrong(f"url has {len(url.href)} characters as sent; the limit is {MAX_URL_CHARS}")
    return url


def _domain_id(fields: Mapping[str, str], country: str, domain: str) -> str:
    """Check `{source_type}:{country}:{registrable_domain}` (SED-08), and write it in one way."""
    source = fields["source_type"].lower()
    if not _SOURCE.fullmatch(source):
        raise _Wrong(f"source_type {_quoted(source)} is not a name")
    head, _, name = fields["domain_id"].rpartition(":")
    if head.lower() != f"{source}:{country}" or domain_name(name) != domain:
        raise _Wrong(
            f"domain_id is {_quoted(fields['domain_id'])}; it must be `{source}:{country}:{domain}`"
        )
    return f"{source}:{country}:{domain}"


def _shown_url(value: object) -> str:
    url = value.get("url") if isinstance(value, dict) else None
    return (
        replace_surrogates(without_user_info(url)[:MAX_SHOWN_CHARS]) if isinstance(url, str) else ""
    )


def _quoted(text: str) -> str:
    return f"`{text[:MAX_SHOWN_CHARS]}`"


@dataclass(frozen=True, slots=True)
class TooLarge:
    """Stands in the place of an element that was not decoded."""

    chars: int


@dataclass(frozen=True, slots=True)
class Element:
    """One element; numbers in it are None, since nothing here asks for one.

    Args:
        line: where it begins; the first line is 1.
    """

    index: int
    line: int
    value: object


def elements(data: bytes, *, max_elements: int) -> Iterator[Element]:
    """Yield what a JSON array holds; `SeedError` where it is none, or has more than that."""
    text = _text(data)
    at = _begin(text)
    index, line, counted = 0, 1, 0
    while text[at : at + 1] != "]" or index:
        if index == max_elements:
            raise SeedError(
                f"it has more than {max_elements} records",
                kind=ErrorType.VALIDATION,
                hint="split the file, or raise seeds.max_records",
            )
        line += text.count("\n", counted, at)
        counted = at
        value, at = _decode(text, at)
        yield Element(index, line, value)
        index += 1
        at = _space(text, at)
        if text[at : at + 1] == "]":
            break
        if text[at : at + 1] != ",":
            raise _broken(text, at, "`,` or `]` is missing")
        at = _space(text, at + 1)
    at = _space(text, at + 1)
    if at < len(text):
        raise _broken(text, at, "something follows the array")


def _text(data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise SeedError(
            f"it is not UTF-8: byte {error.start} is {error.object[error.start]:#04x}",
            kind=ErrorType.PARSE,
        ) from None


def _begin(text: str) -> int:
    """Return where the first element is, or the end of an empty array."""
    at = _space(text, 0)
    if text[at : at + 1] == "[":
        return _space(text, at + 1)
    if text[at : at + 1] in ("{", '"') or _NUMBER_OR_WORD.match(text, at):
        raise SeedError("it is not a JSON array of records", kind=ErrorType.VALIDATION)
    raise _broken(text, at, "it is not JSON")


def _decode(text: str, at: int) -> tuple[object, int]:
    """Decode the element at a place, if it is small enough; return it and where it ends."""
    if text[at : at + 1] not in ("{", "[", '"'):
        word = _NUMBER_OR_WORD.match(text, at)
        if word is None:
            raise _broken(text, at, "a record is missing")
        return None, word.end()
    for size in (FIRST_CHARS, MAX_ELEMENT_CHARS):
        try:
            value, length = _DECODER.raw_decode(text[at : at + size])
        except RecursionError:
            break
        except ValueError:  # cut off, most likely
            continue
        return value, at + length
    end = _end(text, at)
    if end - at > MAX_ELEMENT_CHARS:
        return TooLarge(end - at), end
    try:
        _DECODER.raw_decode(text[at:end])
    except json.JSONDecodeError as error:
        raise _broken(text, at + error.pos, error.msg) from None
    except (ValueError, RecursionError):  # NaN, or what is deeper than the decoder goes
        pass
    raise _broken(text, at, "a record is not JSON")


def _end(text: str, at: int) -> int:
    """Find where an object, array or text ends, without making anything of it."""
    open_ones = list[str]()
    for token in _TOKEN.finditer(text, at):
        sign = token[0]
        if sign in _CLOSES:
            open_ones.append(_CLOSES[sign])
            if len(open_ones) > MAX_NESTING:
                raise _broken(text, token.start(), f"nested deeper than {MAX_NESTING}")
        elif sign[0] in "]}" and (not open_ones or open_ones.pop() != sign):
            raise _broken(text, token.start(), f"`{sign}` closes nothing")
        elif sign == '"':
            raise _broken(text, token.start(), "a string has no end")
        if not open_ones:
            return token.end()
    raise _broken(text, len(text), "the file ends too soon")


def _space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    assert found is not None, "it matches nothing, too"
    return found.end()


def _broken(text: str, at: int, what: str) -> SeedError:
    line = text.count("\n", 0, at) + 1
    column = at - text.rfind("\n", 0, at)
    return SeedError(f"line {line} column {column}: {what}", kind=ErrorType.PARSE)


def _no_number(_: str) -> None:
    """Leave a number out: one of a million digits takes minutes to be read."""


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


_DECODER = json.JSONDecoder(
    parse_int=_no_number, parse_float=_no_number, parse_constant=_no_constant
)


@dataclass(frozen=True, slots=True)
class RawMetadata:
    """The description of a partition."""

    partition: Partition
    file_count: int
    record_count: int
    created_at: str


def read_raw_metadata(data: bytes) -> RawMetadata:
    """Read the description of a partition; `SeedError` where it is none."""
    found = read_object(data)
    return RawMetadata(
        partition(found),
        count(found, "file_count"),
        count(found, "record_count"),
        text(found, "created_at"),
    )
