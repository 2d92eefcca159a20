"""What a raw file says."""

from __future__ import annotations

import json
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geomi.dataset.raw_file import (
    FIELDS,
    FIRST_CHARS,
    MAX_ELEMENT_CHARS,
    MAX_FIELD_CHARS,
    MAX_NESTING,
    MAX_SHOWN_CHARS,
    MAX_TITLE_CHARS,
    MAX_URL_CHARS,
    RawFile,
    TooLarge,
    elements,
    read_raw,
    write_rejects,
)
from geomi.errors import SeedError
from geomi.model.dataset.seed import ErrorType, Partition, Reject, SeedUrl
from geomi.url.host import MAX_NAME_CHARS
from geomi.url.parse import without_user_info

SG = Partition("sg", "news", "2026-01-28")
MOM = {
    "url": "https://mom.gov.sg/employment-practices/employment-act",
    "title": "Employment Act - Ministry of Manpower",
    "domain": "mom.gov.sg",
    "registrable_domain": "mom.gov.sg",
    "domain_id": "gov:sg:mom.gov.sg",
    "source_type": "gov",
    "content_type": "text/html",
    "language": "en",
    "country": "sg",
    "discovered_at": "2026-01-28T10:00:00Z",
    "discovery_method": "google_search",
}


def record(domain: str = "mom.gov.sg", **fields: object) -> dict[str, object]:
    named = {"domain": domain, "registrable_domain": domain, "domain_id": f"gov:sg:{domain}"}
    return {**MOM, "url": f"https://{domain}/", **named, **fields}


def read(*records: object, max_records: int = 1000) -> RawFile:
    return read_raw(json.dumps(records).encode(), SG, max_records=max_records)


@pytest.mark.req("SED-07", "SED-08")
def test_records_are_grouped_in_their_order() -> None:
    found = read(
        record("moh.gov.sg"),
        MOM,
        record("moh.gov.sg", url="https://www.moh.gov.sg/a/b?c=d#e", title="B"),
    )
    assert [group.domain for group in found.groups] == ["moh.gov.sg", "mom.gov.sg"]
    moh, mom = found.groups
    assert moh.domain_id == "gov:sg:moh.gov.sg"
    assert moh.urls[1] == SeedUrl("https://www.moh.gov.sg/a/b?c=d", "B", "/a/b")
    assert moh.indexes == (0, 2)
    assert mom.urls == (SeedUrl(MOM["url"], MOM["title"], "/employment-practices/employment-act"),)
    assert (found.records, found.duplicates, found.rejects) == (3, 0, ())


def test_the_first_record_names_the_domain() -> None:
    (group,) = read(
        MOM, record(url="https://mom.gov.sg/2", source_type="news", domain_id="news:sg:mom.gov.sg")
    ).groups
    assert group.domain_id == "gov:sg:mom.gov.sg"
    assert len(group.urls) == 2


def test_duplicates_are_counted_and_not_taken() -> None:
    found = read(MOM, {**MOM, "title": "x"}, {**MOM, "url": f"{MOM['url']}#part"})
    assert found.duplicates == 2
    assert found.groups[0].urls[0].title == MOM["title"]
    assert len(found.groups[0].urls) == 1


@pytest.mark.parametrize(
    "spelling", ["münchen.de", "MÜNCHEN.de", "xn--mnchen-3ya.de", "xn--mnchen-3ya.de."]
)
def test_spellings_of_one_domain(spelling: str) -> None:
    found = read(
        record("xn--mnchen-3ya.de", url="http://www.xn--mnchen-3ya.de/first"),
        record(spelling, url=f"http://{spelling}"),
    )
    (group,) = found.groups
    assert group.domain == "xn--mnchen-3ya.de"
    assert group.domain_id == "gov:sg:xn--mnchen-3ya.de"
    assert group.urls[1] == SeedUrl("http://xn--mnchen-3ya.de/", MOM["title"], "/")


@pytest.mark.req("SED-07", "META-05")
@pytest.mark.parametrize("name", MOM)
def test_every_field_is_asked_for(name: str) -> None:
    missing = read({key: value for key, value in MOM.items() if key != name})
    assert [it.reason for it in missing.rejects] == [f"{name} is missing"]
    wrong: tuple[object, ...] = (None, 1, 1.5, True, [], {}, ["x"])
    for value in wrong:
        assert [it.reason for it in read({**MOM, name: value}).rejects] == [f"{name} is not text"]
    broken = read({**MOM, name: "a\ud800"})
    assert [it.reason for it in broken.rejects] == [
        f"{name} has a character that cannot be encoded"
    ]


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"url": ""}, "url is not an http"),
        ({"url": "mom.gov.sg/x"}, "url is not an http"),
        ({"url": "ftp://mom.gov.sg/"}, "url is not an http"),
        ({"url": "javascript:alert(1)"}, "url is not an http"),
        ({"url": "https://evil.test/"}, "host `evil.test`, which is not within `mom.gov.sg`"),
        ({"url": "https://notmom.gov.sg/"}, "is not within"),
        ({"url": "https://mom.gov.sg.evil.test/"}, "is not within"),
        ({"url": "https://mom.gov.sg@evil.test/"}, "is not within"),
        ({"url": "http://127.0.0.1/"}, "is not within"),
        ({"url": "https://mom.gov.sg/" + "ü" * 1000}, "as sent"),
        ({"domain": "evil.test"}, "domain `evil.test` is not within"),
        ({"domain": "../mom.gov.sg"}, "is not within"),
        ({"registrable_domain": "gov.sg"}, "is a public suffix"),
        ({"registrable_domain": "sg"}, "is a public suffix"),
        ({"registrable_domain": "www.mom.gov.sg"}, "is below the registrable domain `mom.gov.sg`"),
        ({"registrable_domain": "../../etc"}, "is not a domain name"),
        ({"registrable_domain": "%2e%2e"}, "is not a domain name"),
        ({"registrable_domain": "10.0.0.1"}, "is not a domain name"),
        ({"registrable_domain": "a\\b.sg"}, "is not a domain name"),
        ({"domain_id": "gov:sg"}, "domain_id is `gov:sg`; it must be `gov:sg:mom.gov.sg`"),
        ({"domain_id": "news:sg:mom.gov.sg"}, "domain_id"),
        ({"domain_id": "gov:my:mom.gov.sg"}, "domain_id"),
        ({"domain_id": "gov:sg:moh.gov.sg"}, "domain_id"),
        ({"domain_id": "x:gov:sg:mom.gov.sg"}, "domain_id"),
        ({"source_type": "a:b", "domain_id": "a:b:sg:mom.gov.sg"}, "source_type"),
        ({"country": "my"}, "country is `my`; its partition's is `sg`"),
        ({"discovered_at": "2026-01-28"}, "discovered_at"),
        ({"discovered_at": "2026-01-28T10:00:00"}, "not an ISO 8601 time in UTC"),
        ({"discovered_at": "2026-01-28T10:00:00+08:00"}, "discovered_at"),
        ({"discovered_at": "2026-02-30T10:00:00Z"}, "discovered_at"),
        ({"discovered_at": "yesterday"}, "discovered_at"),
        ({"title": "a\0b"}, "title has a character"),
    ],
)
@pytest.mark.req("SED-07", "SED-08")
def test_a_wrong_record_is_rejected_and_the_others_are_not(
    fields: dict[str, object], reason: str
) -> None:
    found = read({**MOM, **fields}, record("moh.gov.sg"))
    assert [group.domain for group in found.groups] == ["moh.gov.sg"]
    (reject,) = found.rejects
    assert reason in reject.reason
    assert reject.index == 0
    assert reject.url == without_user_info(str(fields.get("url", MOM["url"])))[:MAX_SHOWN_CHARS]


@pytest.mark.parametrize(
    "fields",
    [
        {"country": "SG"},
        {"discovered_at": "2026-01-28T10:00:00.123456Z"},
        {"discovered_at": "2026-01-28T10:00:00+00:00"},
        {"url": "HTTPS://WWW.MOM.GOV.SG./x"},
        {"title": ""},
        {"title": "노동부 🌱"},
        {"domain": "www.mom.gov.sg"},
        {"domain_id": "GOV:SG:MOM.gov.sg"},
        {"anything": {"else": [1, 2.5, None]}},
    ],
)
def test_what_is_taken(fields: dict[str, object]) -> None:
    assert read({**MOM, **fields}).rejects == ()


@pytest.mark.parametrize(("port", "is_taken"), [("", True), (":443", True), (":8443", False)])
def test_a_host_whose_port_makes_its_name_too_long(port: str, is_taken: bool) -> None:
    above = "".join(f"{'x' * 60}." for _ in range(4))
    host = above[-(MAX_NAME_CHARS - len("mom.gov.sg")) :] + "mom.gov.sg"
    assert len(host) == MAX_NAME_CHARS
    found = read({**MOM, "url": f"https://{host}{port}/"}, MOM)
    (group,) = found.groups
    assert len(group.urls) == 1 + is_taken
    assert bool(found.rejects) is not is_taken


@pytest.mark.parametrize("value", [None, 1, -1.5e9, True, "x", [], [MOM]])
def test_what_is_no_object(value: object) -> None:
    found = read(value, MOM)
    assert found.rejects == (Reject(1, 0, "it is not a JSON object"),)
    assert len(found.groups) == 1


@pytest.mark.parametrize(
    ("name", "limit"),
    [("title", MAX_TITLE_CHARS), ("language", MAX_FIELD_CHARS), ("url", MAX_URL_CHARS)],
)
def test_limits_of_fields(name: str, limit: int) -> None:
    start = "https://mom.gov.sg/" if name == "url" else ""
    assert read({**MOM, name: start.ljust(limit, "x")}).rejects == ()
    (reject,) = read({**MOM, name: start.ljust(limit + 1, "x")}).rejects
    assert reject.reason == f"{name} has {limit + 1} characters; the limit is {limit}"


def test_a_record_that_is_too_large_is_passed_over() -> None:
    size = len(json.dumps(MOM))
    fits = {**MOM, "more": "x" * (MAX_ELEMENT_CHARS - size - len(', "more": ""'))}
    assert len(json.dumps(fits)) == MAX_ELEMENT_CHARS
    assert read(fits, MOM).rejects == ()
    too_large = {**fits, "more": str(fits["more"]) + "x"}
    found = read(too_large, record("moh.gov.sg"))
    assert [it.reason for it in found.rejects] == [
        f"it has {MAX_ELEMENT_CHARS + 1} characters; the limit is {MAX_ELEMENT_CHARS}"
    ]
    assert [group.domain for group in found.groups] == ["moh.gov.sg"]


def test_lines_are_counted() -> None:
    text = f"[\n\n{json.dumps(MOM)},\n1,\r\n  {json.dumps(MOM, indent=2)}\n,2, 3]\n"
    found = read_raw(text.encode(), SG, max_records=10)
    assert [(it.line, it.index) for it in found.rejects] == [(4, 1), (18, 3), (18, 4)]


def test_more_records_than_a_file_may_have() -> None:
    assert read(1, 2, 3, max_records=3).records == 3
    with pytest.raises(SeedError) as refused:
        read(1, 2, 3, 4, max_records=3)
    assert refused.value.kind is ErrorType.VALIDATION


@pytest.mark.parametrize(
    ("data", "kind", "message"),
    [
        (b"", ErrorType.PARSE, "line 1 column 1: it is not JSON"),
        (b"\n<html>", ErrorType.PARSE, "line 2 column 1"),
        (b"[", ErrorType.PARSE, "a record is missing"),
        (b"[1", ErrorType.PARSE, "line 1 column 3: `,` or `]` is missing"),
        (b"[1,]", ErrorType.PARSE, "a record is missing"),
        (b"[,1]", ErrorType.PARSE, "a record is missing"),
        (b"[1 2]", ErrorType.PARSE, "is missing"),
        (b"[1]]", ErrorType.PARSE, "something follows the array"),
        (b"[1]\n[2]", ErrorType.PARSE, "line 2 column 1: something follows"),
        (b"[NaN]", ErrorType.PARSE, "a record is missing"),
        (b'[{"a": NaN}]', ErrorType.PARSE, "a record is not JSON"),
        (b'[{"a": 1,}]', ErrorType.PARSE, "line 1 column"),
        (b'[\n{"a" 1}]', ErrorType.PARSE, "line 2 column 6"),
        (b'[{"a": 1]', ErrorType.PARSE, "closes nothing"),
        (b'[{"a": 1', ErrorType.PARSE, "ends too soon"),
        (b'["a', ErrorType.PARSE, "a string has no end"),
        (b'["a\nb"]', ErrorType.PARSE, "line 1 column"),
        (b"[\xff]", ErrorType.PARSE, "not UTF-8: byte 1 is 0xff"),
        ("[1]".encode("utf-16"), ErrorType.PARSE, "not UTF-8"),
        (b"{}", ErrorType.VALIDATION, "not a JSON array"),
        (b'{"records": []}', ErrorType.VALIDATION, "not a JSON array"),
        (b'"x"', ErrorType.VALIDATION, "not a JSON array"),
        (b"null", ErrorType.VALIDATION, "not a JSON array"),
        (b"17", ErrorType.VALIDATION, "not a JSON array"),
        (b"[" * 100_000 + b"]" * 100_000, ErrorType.PARSE, f"nested deeper than {MAX_NESTING}"),
        (b'[{"a":' * 20_000, ErrorType.PARSE, "nested deeper than"),
    ],
)
def test_a_file_that_is_no_array(data: bytes, kind: ErrorType, message: str) -> None:
    with pytest.raises(SeedError) as refused:
        read_raw(data, SG, max_records=10)
    assert refused.value.kind is kind
    assert message in refused.value.message


def test_nesting_of_what_is_passed_over() -> None:
    def nested(depth: int) -> bytes:
        return b"[" + b"[" * depth + b'"%b"' % (b"x" * MAX_ELEMENT_CHARS) + b"]" * depth + b"]"

    (element,) = elements(nested(MAX_NESTING), max_elements=1)
    assert isinstance(element.value, TooLarge)
    with pytest.raises(SeedError, match="nested deeper"):
        list(elements(nested(MAX_NESTING + 1), max_elements=1))


def test_empty_arrays_and_byte_order_marks() -> None:
    for data in (b"[]", b" [ \n ] ", b"\xef\xbb\xbf[]"):
        assert read_raw(data, SG, max_records=1) == RawFile((), (), 0, 0)


def test_numbers_are_never_read() -> None:
    """One of many digits takes seconds to be made a number."""
    digits = b"9" * (FIRST_CHARS * 10)
    found = read_raw(b"[%b, {%b: %b}]" % (digits, b'"a"', digits), SG, max_records=2)
    assert [it.reason for it in found.rejects] == ["it is not a JSON object", "url is missing"]


def test_a_record_of_many_small_things_takes_no_more_memory_than_its_file() -> None:
    data = b"[[" + b"[]," * 200_000 + b'[],"\\"]"]]'
    tracemalloc.start()
    (element,) = elements(data, max_elements=1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert isinstance(element.value, TooLarge)
    assert peak < 4 * len(data)


def test_a_reject_repeats_no_password() -> None:
    url = "https://me:p@ss@evil.test/" + "x" * 300
    (reject,) = read({**MOM, "url": url}).rejects
    assert reject.url == ("https://evil.test/" + "x" * 300)[:MAX_SHOWN_CHARS]
    assert "ss" not in reject.reason.replace("`evil.test`", "")


def test_rejects_as_lines() -> None:
    written = write_rejects([Reject(3, 1, "url is missing"), Reject(9, 2, "x", "https://ü.sg/")])
    assert [json.loads(line) for line in written.splitlines()] == [
        {"line": 3, "index": 1, "reason": "url is missing", "url": ""},
        {"line": 9, "index": 2, "reason": "x", "url": "https://ü.sg/"},
    ]


def test_a_reject_can_always_be_written() -> None:
    found = read({**MOM, "url": "\ud800" * 3000}, {**MOM, "registrable_domain": "\udfff"})
    assert len(write_rejects(found.rejects).splitlines()) == 2


_values: st.SearchStrategy[object] = st.sampled_from(
    [None, True, 1.5, [], {}, "", "x", "a\ud800", *MOM.values()]
)


@given(st.lists(_values | st.dictionaries(st.sampled_from(FIELDS), _values), max_size=4))
def test_whatever_the_records_are_each_is_accounted_for(records: list[object]) -> None:
    found = read(*records)
    taken = sum(len(group.urls) for group in found.groups)
    assert taken + found.duplicates + len(found.rejects) == found.records == len(records)


@given(st.binary(max_size=200) | st.text('[]{},:"\\ \n1aN', max_size=40).map(str.encode))
def test_whatever_the_bytes_are_json_agrees(data: bytes) -> None:
    try:
        expected = json.loads(data.decode("utf-8-sig"), parse_constant=int)
    except (ValueError, RecursionError):
        expected = None
    try:
        found = read_raw(data, SG, max_records=1000)
    except SeedError:
        assert not isinstance(expected, list)
    else:
        assert isinstance(expected, list)
        assert len(expected) == found.records
