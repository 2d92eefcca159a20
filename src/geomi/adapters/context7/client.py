"""A client of Context7's REST interface: it searches libraries and asks one a question.

Rules kept:
- The operator sets the address, so it may be private. It is dialled through the egress gate all the
  same.
- A redirect is never followed. When a 301 names another library of the same server, the client asks
  for that library in a request of its own.
- The key goes into one header. Where a server repeats the key, it is removed before anything is
  read.
- An answer has a size, and so have every list and every text in it. A candidate without a valid id
  is dropped alone; any other unexpected form refuses the whole answer (`ValueError` inside this
  module).
- A failure is `SourceBusy` where asking again may help, and `SourceError` where it does not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar
from urllib.parse import urlencode, urlsplit

import orjson

from geomi.adapters.endpoint import (
    CONNECT_S,
    beginning,
    json_headers,
    on_one_line,
    read_endpoint,
    read_json_object,
    without_key,
)
from geomi.errors import LibraryUnknown, SourceBusy, SourceError
from geomi.fetch.retry import parse_retry_after
from geomi.model.external_docs import ExternalDocument, LibraryCandidate, LibrarySection
from geomi.model.page import Fetched, Request
from geomi.ports.runtime import Clock
from geomi.ports.web import Fetcher
from geomi.seed.external_docs import close_fence, fenced, is_library

MAX_ANSWER_BYTES = 2 * 1024 * 1024
MAX_NAME_CHARS = 200
MAX_MOVES = 2
# A question about a large library is answered within seconds.
ANSWER_S = 30.0
_OK, _UNREAD, _UNKNOWN = 200, 202, 404
_MOVED = frozenset({301, 308})
_REFUSED = frozenset({401, 403})
_BUSY = frozenset({408, 425, 429})
T = TypeVar("T")
MAX_CANDIDATES = 100
MAX_SECTIONS = 200  # of each kind
MAX_CODES = 20  # of one section
MAX_TEXT_CHARS = 200_000
MAX_LINE_CHARS = 500
FINAL = "finalized"


def read_address(text: str) -> str:
    """Return the address of such a server without the slash at its end; refuse nonsense."""
    hint = "https://context7.com, and the key in GEOMI_CONTEXT7_KEY"
    return read_endpoint(text, "GEOMI_CONTEXT7_URL", hint=hint)


class Context7Client:
    """One such server.

    Args:
        fetcher: its own; it is closed with it.
        key: sent as a bearer token; a server of one's own may need none.
    """

    def __init__(self, fetcher: Fetcher, clock: Clock, address: str, *, key: str = "") -> None:
        self.address = read_address(address)
        self._fetcher = fetcher
        self._clock = clock
        self._key = key
        self._headers = json_headers(key)

    async def search(self, name: str) -> Sequence[LibraryCandidate]:
        """Return the libraries that it offers for a name (`resolve-library-id`)."""
        name = name[:MAX_NAME_CHARS]
        asked = {"libraryName": name, "query": f"documentation of {name}"}
        fetched = await self._ask("libs/search", asked)
        if fetched.status != _OK:
            raise self._refusal(fetched)
        return self._read(fetched, read_candidates)

    async def document(self, library: str, question: str) -> ExternalDocument:
        """Return what a library says about a question, wherever on this server it has moved."""
        for _ in range(MAX_MOVES + 1):
            if not is_library(library):
                raise LibraryUnknown(f"`{library[:80]}` cannot be the id of a library")
            asked = {"libraryId": library, "query": question, "type": "json"}
            fetched = await self._ask("context", asked)
            if fetched.status == _OK:
                return ExternalDocument(library, self._read(fetched, read_sections))
            if fetched.status == _UNKNOWN:
                raise LibraryUnknown(f"{self.address} has no library `{library}`")
            if fetched.status not in _MOVED:
                raise self._refusal(fetched)
            library = self._read(fetched, lambda told: read_move(told, self.address))
        raise SourceError(f"{self.address} redirects a library more than {MAX_MOVES} times")

    async def aclose(self) -> None:
        """Close every connection."""
        await self._fetcher.aclose()

    async def _ask(self, path: str, asked: Mapping[str, str]) -> Fetched:
        fetched = await self._fetcher.fetch(
            Request(
                url=f"{self.address}/api/v2/{path}?{urlencode(asked)}",
                headers=self._headers,
                connect_timeout_s=CONNECT_S,
                read_timeout_s=ANSWER_S,
                total_timeout_s=ANSWER_S,
                max_bytes=MAX_ANSWER_BYTES,
                reads_redirects=True,
            )
        )
        if fetched.failure is not None:
            raise SourceBusy(f"{self.address} did not answer: {fetched.detail or fetched.failure}")
        return replace(fetched, body=without_key(fetched.body, self._key))

    def _read(self, fetched: Fetched, read: Callable[[Mapping[str, Any]], T]) -> T:
        try:
            told = read_json_object(fetched.body)
            # Written anew, as JSON can spell each letter of a key in another way.
            return read(read_json_object(without_key(orjson.dumps(told), self._key)))
        except orjson.JSONEncodeError as error:  # a TypeError: it reads deeper than it writes
            message = f"{self.address} answered in an unexpected form: nested too deep"
            raise SourceBusy(message) from error
        except ValueError as error:
            raise SourceBusy(f"{self.address} answered in an unexpected form: {error}") from error

    def _refusal(self, fetched: Fetched) -> SourceError:
        status = fetched.status
        if status == _UNREAD:
            return self._busy(fetched, "is still reading this library (202)")
        said = f"answered {status}: {on_one_line(beginning(fetched))}"
        if status in _BUSY or status >= 500:
            return self._busy(fetched, said)
        hint = "check GEOMI_CONTEXT7_KEY" if status in _REFUSED else "check GEOMI_CONTEXT7_URL"
        return SourceError(f"{self.address} {said}", hint=hint)

    def _busy(self, fetched: Fetched, said: str) -> SourceBusy:
        told = fetched.header("retry-after")
        after_s = parse_retry_after(told, wall_s=self._clock.wall_s())
        return SourceBusy(f"{self.address} {said}", retry_after_s=after_s)


def read_candidates(told: Mapping[str, Any]) -> tuple[LibraryCandidate, ...]:
    """Read what a search offers, best first."""
    found = _dicts(told, "results", MAX_CANDIDATES)
    return tuple(_candidate(one) for one in found if is_library(_line(one, "id")))


def read_sections(told: Mapping[str, Any]) -> tuple[LibrarySection, ...]:
    """Read the passages of a document: prose first, then code."""
    if not ("codeSnippets" in told or "infoSnippets" in told):
        raise ValueError("neither `codeSnippets` nor `infoSnippets`")
    prose = (_prose(one) for one in _dicts(told, "infoSnippets", MAX_SECTIONS))
    code = (_code(one) for one in _dicts(told, "codeSnippets", MAX_SECTIONS))
    return tuple(section for section in (*prose, *code) if section.text)


def read_move(told: Mapping[str, Any], source: str) -> str:
    """Read the id under which a library is found now; never one on another server."""
    target = _line(told, "redirectUrl")
    if target.startswith(("http://", "https://")):
        here, there = urlsplit(source), urlsplit(target)
        if (here.scheme, here.netloc) != (there.scheme, there.netloc):
            raise ValueError("it redirects to another server")
        target = there.path.removeprefix(here.path)
    if not is_library(target):
        raise ValueError("it redirects to nowhere")
    return target


def _candidate(one: Mapping[str, Any]) -> LibraryCandidate:
    snippets = one.get("totalSnippets")
    state = _line(one, "state")
    return LibraryCandidate(
        library=_line(one, "id"),
        title=_line(one, "title"),
        snippets=max(0, snippets) if isinstance(snippets, int) else None,
        is_final=state in ("", FINAL),
    )


def _prose(one: Mapping[str, Any]) -> LibrarySection:
    page, _, rest = _line(one, "breadcrumb").partition(">")
    heading = rest.rpartition(">")[2].strip() or page.strip()
    text = close_fence(_text(one, "content").strip())
    return LibrarySection(heading, text, _line(one, "pageId"), page.strip() if rest else "")


def _code(one: Mapping[str, Any]) -> LibrarySection:
    parts = [close_fence(_text(one, "codeDescription").strip())]
    for code in _dicts(one, "codeList", MAX_CODES):
        if body := _text(code, "code"):
            parts.append(fenced(body, _line(code, "language")))
    page = _line(one, "pageTitle")
    heading, text = _line(one, "codeTitle") or page, "\n\n".join(filter(None, parts))
    return LibrarySection(heading, text, _line(one, "codeId"), page)


def _dicts(told: Mapping[str, Any], name: str, most: int) -> Iterator[Mapping[str, Any]]:
    """Yield the objects of a list, which may be missing where it is empty."""
    found = told.get(name)
    if found is None and name != "results":
        return
    if not isinstance(found, list):
        raise ValueError(f"`{name}` is a {type(found).__name__}, not a list")
    for one in found[:most]:
        if not isinstance(one, dict):
            raise ValueError(f"`{name}` holds a {type(one).__name__}, not an object")
        yield one


def _line(one: Mapping[str, Any], name: str) -> str:
    return " ".join(_text(one, name)[:MAX_LINE_CHARS].split())


def _text(one: Mapping[str, Any], name: str) -> str:
    """Return a text, which may be missing; it ends where the limit is."""
    found = one.get(name)
    if found is None:
        return ""
    if not isinstance(found, str):
        raise ValueError(f"`{name}` is a {type(found).__name__}, not a text")
    return found[:MAX_TEXT_CHARS]
