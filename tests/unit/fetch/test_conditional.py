"""What a second visit asks."""

from __future__ import annotations

from dataclasses import replace

import pytest

from geomi.fetch.request import MAX_HEADER_CHARS, conditions, modified
from geomi.model.config import HttpRules, Since
from geomi.model.page import Fetched, Fingerprint, Headers, PageRecord, Ref

URL = "https://a.test/x"
DATE = "Tue, 01 Oct 2024 10:00:00 GMT"
PAGE = PageRecord(
    url_hash=b"",
    url=URL,
    final_url=URL,
    status=200,
    content_type="text/html",
    fetched_at_s=1_700_000_000.0,  # Tue, 14 Nov 2023 22:13:20 GMT
    due_s=0.0,
    fingerprint=Fingerprint("", "", b"", 0),
    record=Ref("", 0, 0),
    response=None,
    etag='W/"a"',
    last_modified=DATE,
)
RULES = HttpRules()


@pytest.mark.req("HTTP-03", "META-04")
@pytest.mark.parametrize(
    ("etag", "date", "expected"),
    [
        ('W/"a"', DATE, {"if-none-match": 'W/"a"', "if-modified-since": DATE}),
        ('"b"', "", {"if-none-match": '"b"'}),
        ("", DATE, {"if-modified-since": DATE}),
        ("", "", {}),
    ],
)
def test_what_was_stored_is_sent_c69(etag: str, date: str, expected: dict[str, str]) -> None:
    page = replace(PAGE, etag=etag, last_modified=date)
    assert dict(conditions(page, URL, RULES)) == expected


@pytest.mark.req("HTTP-03", "META-04")
def test_a_job_may_send_the_date_of_its_last_crawl_c69() -> None:
    found = dict(conditions(PAGE, URL, HttpRules(since=Since.LAST_CRAWLED)))
    assert found == {
        "if-none-match": 'W/"a"',
        "if-modified-since": "Tue, 14 Nov 2023 22:13:20 GMT",
    }


@pytest.mark.parametrize("url", ["https://a.test/x/", "http://a.test/x", "https://a.test/x?y"])
def test_validators_belong_to_the_url_that_sent_them(url: str) -> None:
    assert conditions(PAGE, url, RULES) == ()


def test_a_job_may_fetch_everything_whole() -> None:
    assert conditions(PAGE, URL, HttpRules(conditional=False)) == ()


@pytest.mark.parametrize("etag", ['"a\r\nX: y"', '"é"', '"' + "x" * MAX_HEADER_CHARS])
def test_an_etag_that_could_break_the_request_is_not_sent(etag: str) -> None:
    assert "if-none-match" not in dict(conditions(replace(PAGE, etag=etag), URL, RULES))


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ((("last-modified", DATE), ("date", "now")), DATE),
        ((("date", DATE),), DATE),
        ((), ""),
    ],
)
def test_the_date_to_send_next_time_c69(headers: Headers, expected: str) -> None:
    assert modified(Fetched(URL, headers=headers)) == expected
