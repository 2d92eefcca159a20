"""Context7's form over real HTTP: what is asked, what is read, and what every failure is called."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import pytest

from geomi import __version__
from geomi.adapters.context7.client import (
    MAX_ANSWER_BYTES,
    MAX_CANDIDATES,
    MAX_CODES,
    MAX_LINE_CHARS,
    MAX_MOVES,
    MAX_SECTIONS,
    MAX_TEXT_CHARS,
    Context7Client,
    read_candidates,
    read_sections,
)
from geomi.adapters.http.client import HttpClient
from geomi.adapters.http.egress import Egress
from geomi.errors import ConfigError, LibraryUnknown, SourceBusy, SourceError
from geomi.model.external_docs import ExternalDocument, LibraryCandidate
from tests.adapters.http.support import LOOPBACK, RealClock
from tests.support.ready import CONTEXT, SEARCH, Stock, busy, library, told
from tests.support.server import Answer, End, Raw, Reply, Route, Site
from tests.support.waiting import waits

KEY = "ctx7sk-0123456789"
ACME = "/acme/docs"

T = TypeVar("T")


@waits
async def asked(site: Site, ask: Callable[[Context7Client], Awaitable[T]]) -> T:
    """Ask a source that lies on a site."""
    clock = RealClock()
    client = HttpClient(Egress(LOOPBACK, clock), clock)
    source = Context7Client(client, clock, site.url(""), key=KEY)
    try:
        return await ask(source)
    finally:
        await source.aclose()


def searched(site: Site) -> list[LibraryCandidate]:
    """Search for a name."""
    return list(asked(site, lambda source: source.search("Acme & Söhne")))


def documented(site: Site, key: str = ACME) -> ExternalDocument:
    """Ask a library a question."""
    return asked(site, lambda source: source.document(key, "how?"))


@pytest.mark.req("C7-03")
def test_a_search_names_what_is_wanted_and_brings_its_key() -> None:
    with Site(Stock({ACME: "Acme"}).routes) as site:
        assert searched(site) == [LibraryCandidate(ACME, "Acme", 12)]
        (seen,) = site.log
    assert seen.target == (
        "/api/v2/libs/search?libraryName=Acme+%26+S%C3%B6hne"
        "&query=documentation+of+Acme+%26+S%C3%B6hne"
    )
    assert seen.headers["authorization"] == f"Bearer {KEY}"
    assert seen.headers["user-agent"] == f"geomi/{__version__}"


@pytest.mark.req("C7-01")
def test_a_document_has_prose_and_code_with_their_pages() -> None:
    with Site(Stock({ACME: "Acme"}).routes) as site:
        found = documented(site)
        assert (
            site.log[0].target == "/api/v2/context?libraryId=%2Facme%2Fdocs&query=how%3F&type=json"
        )
    assert found.library == ACME
    assert [(one.heading, one.origin) for one in found.sections] == [
        ("About how?", "https://docs.acme.test/guide"),
        ("How Acme does it", "https://docs.acme.test/code"),
    ]
    assert found.sections[1].text == "A first call: how?.\n\n```python\nacme.call('how?')\n```"


def test_a_passage_names_the_page_that_it_is_of() -> None:
    with Site(Stock({ACME: "Acme"}, pages=lambda _: "Webhooks").routes) as site:
        prose, code = documented(site).sections
    assert (prose.heading, prose.page) == ("About how?", "Webhooks")
    assert code.page == ""


def test_a_library_that_has_moved_is_asked_under_its_new_id() -> None:
    stock = Stock({"/acme/new": "Acme"})
    with Site(stock.routes) as site:
        stock.moved = {ACME: "/acme/middle", "/acme/middle": site.url("/acme/new")}
        assert documented(site).library == "/acme/new"
        assert len(site.log) == 3


def test_moves_have_an_end() -> None:
    stock = Stock({})
    stock.moved = {f"/acme/{step}": f"/acme/{step + 1}" for step in range(10)}
    with Site(stock.routes) as site, pytest.raises(SourceError, match=f"more than {MAX_MOVES}"):
        documented(site, "/acme/0")
    assert len(site.log) == MAX_MOVES + 1


@pytest.mark.parametrize("target", ["https://evil.test/acme/new", "/one", "../..", "", 7, None])
def test_a_move_leads_to_no_other_server_and_not_nowhere(target: object) -> None:
    with (
        Site({CONTEXT: told({"redirectUrl": target}, status=301)}) as site,
        pytest.raises(SourceBusy, match="answered in an unexpected form"),
    ):
        documented(site)
    assert len(site.log) == 1


@pytest.mark.parametrize("depth", [300, 900, 100_000])  # deeper than JSON is written, or read
def test_an_answer_that_is_nested_without_end_is_none(depth: int) -> None:
    body = b'{"results": [], "more": ' + b"[" * depth + b"]" * depth + b"}"
    with (
        Site({SEARCH: Reply(body, 200, "application/json")}) as site,
        pytest.raises(SourceBusy, match="answered in an unexpected form"),
    ):
        searched(site)


def test_a_location_header_is_never_followed() -> None:
    with Site({"/api/v2/libs/other": told({"results": []})}) as elsewhere:
        away = (("Location", elsewhere.url("/api/v2/libs/other")),)
        routes: dict[str, Route] = {SEARCH: told({}, status=302, headers=away)}
        with Site(routes) as site, pytest.raises(SourceError, match="answered 302"):
            searched(site)
        assert elsewhere.log == []


@pytest.mark.parametrize(
    ("answer", "kind", "message"),
    [
        (told({"error": "x"}, status=404), LibraryUnknown, "has no library `/acme/docs`"),
        (told({"message": "later"}, status=202), SourceBusy, "still reading this library"),
        (busy(429), SourceBusy, "answered 429"),
        (busy(500), SourceBusy, "answered 500"),
        (busy(503), SourceBusy, "answered 503"),
        (Reply(b"no\n\nkey", 401), SourceError, "answered 401: no key"),
        (Reply(b"", 403), SourceError, "answered 403: nothing more"),
        (Reply(b"{}", 400), SourceError, "answered 400"),
        (Reply(b"<html>", 200), SourceBusy, "something that is not JSON"),
        (told([]), SourceBusy, "a JSON list, not an object"),
        (told({"results": 1}), SourceBusy, "neither `codeSnippets` nor `infoSnippets`"),
        (told({"infoSnippets": {}}), SourceBusy, "`infoSnippets` is a dict, not a list"),
        (told({"codeSnippets": [1]}), SourceBusy, "`codeSnippets` holds a int, not an object"),
        (told({"codeSnippets": [{"codeTitle": []}]}), SourceBusy, "`codeTitle` is a list"),
        (Reply(b"[" * 100_000, 200), SourceBusy, "not JSON"),
        (Reply(b" " * (MAX_ANSWER_BYTES + 1), 200), SourceBusy, "the limit is 2097152"),
        (Raw((b"HTTP/1.1 200 OK\r\n\r\n{",), End.RESET), SourceBusy, "did not answer"),
    ],
)
def test_every_failure_has_its_name(answer: Answer, kind: type[Exception], message: str) -> None:
    with Site({CONTEXT: answer}) as site, pytest.raises(SourceError) as caught:
        documented(site)
    assert type(caught.value) is kind
    assert message in caught.value.message
    assert site.url("") in caught.value.message


def test_nobody_there_is_a_failure_too() -> None:
    with Site({}) as site:
        pass
    with pytest.raises(SourceBusy, match="did not answer"):
        searched(site)


@pytest.mark.parametrize(("told_after", "seconds"), [("7", 7.0), ("soon", None), ("9" * 65, None)])
def test_when_to_come_again_is_handed_on(told_after: str, seconds: float | None) -> None:
    with Site({CONTEXT: busy(429, told_after)}) as site, pytest.raises(SourceBusy) as caught:
        documented(site)
    assert caught.value.retry_after_s == seconds


@pytest.mark.parametrize("status", [200, 400, 401, 503])
def test_a_key_that_a_server_repeats_is_taken_out(status: int) -> None:
    said = {"error": f"bad {KEY}", "infoSnippets": [{"content": f"use {KEY}"}]}
    with Site({CONTEXT: told(said, status=status)}) as site:
        if status == 200:
            assert documented(site).sections[0].text == "use [key]"
            return
        with pytest.raises(SourceError) as caught:
            documented(site)
    assert KEY not in f"{caught.value.message} {caught.value.hint}"
    assert "[key]" in caught.value.message


def test_a_key_in_another_spelling_is_taken_out_too() -> None:
    spelt = "".join(f"\\u{ord(letter):04x}" for letter in KEY)
    body = f'{{"infoSnippets": [{{"content": "use {spelt}"}}]}}'.encode()
    with Site({CONTEXT: Reply(body)}) as site:
        assert documented(site).sections[0].text == "use [key]"


@pytest.mark.parametrize("key", ["secret-key\n", "secret\r\nx: y", "geheimnisvoller schlüssel"])
def test_a_key_that_no_header_can_carry_is_refused_unshown(key: str) -> None:
    clock = RealClock()
    client = HttpClient(Egress(LOOPBACK, clock), clock)
    with pytest.raises(ConfigError, match="the key has a character") as caught:
        Context7Client(client, clock, "https://c7.test", key=key)
    assert key[:6] not in f"{caught.value.message} {caught.value.hint}"


@pytest.mark.parametrize("address", ["context7.com:x", "ftp://a.test", "https://k@c7.test", ""])
def test_an_address_is_a_plain_url(address: str) -> None:
    clock = RealClock()
    client = HttpClient(Egress(LOOPBACK, clock), clock)
    with pytest.raises(ConfigError, match="GEOMI_CONTEXT7_URL must be a plain http or https URL"):
        Context7Client(client, clock, address, key=KEY)


def test_an_id_that_is_none_is_not_asked_for() -> None:
    with Site({}) as site, pytest.raises(LibraryUnknown, match="cannot be the id"):
        documented(site, "/../admin")
    assert site.log == []


def test_lists_and_texts_have_an_end() -> None:
    many = [library(f"/acme/{at}", "T" * (MAX_LINE_CHARS + 1)) for at in range(MAX_CANDIDATES + 1)]
    found = read_candidates({"results": [library("no id", "x"), *many]})
    assert len(found) == MAX_CANDIDATES - 1
    assert len(found[0].title) == MAX_LINE_CHARS
    codes: list[dict[str, Any]] = [{"code": "x", "language": "c"}] * (MAX_CODES + 1)
    sections = read_sections(
        {
            "infoSnippets": [{"content": "x" * (MAX_TEXT_CHARS + 1)}] * (MAX_SECTIONS + 1),
            "codeSnippets": [{"codeList": codes}, {"codeTitle": "nothing in it"}],
        }
    )
    assert len(sections) == MAX_SECTIONS + 1
    assert len(sections[0].text) == MAX_TEXT_CHARS
    assert sections[-1].text.count("```c") == MAX_CODES


@pytest.mark.parametrize(
    ("changes", "candidate"),
    [
        ({"state": "processing"}, LibraryCandidate("/a/b", "T", 12, is_final=False)),
        ({"state": None, "totalSnippets": None}, LibraryCandidate("/a/b", "T")),
        ({"totalSnippets": -1}, LibraryCandidate("/a/b", "T", 0)),
        ({"totalSnippets": "many"}, LibraryCandidate("/a/b", "T")),
    ],
)
def test_what_is_said_of_a_library(changes: dict[str, object], candidate: LibraryCandidate) -> None:
    assert read_candidates({"results": [library("/a/b", "T", **changes)]}) == (candidate,)
