"""Fetch documents from an external source in place of a provider's pages (C7-01…C7-03, G-22).

`ExternalDocsClient` asks the source and counts errors; after five in a row it asks no more.
`ExternalDocsFetcher` stands where a crawl's fetcher stands. So claims, quotas, duplicates, archive
and outputs are those of any crawl. For each address it returns what the source says about a topic.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from geomi.errors import LibraryUnknown, SourceBusy, SourceError
from geomi.model.entry import UrlEntry
from geomi.model.external_docs import ExternalDocument, LibraryCandidate
from geomi.model.page import Fetched, Request
from geomi.model.verdict import Outcome, State
from geomi.ports.external_docs import ExternalDocsSource
from geomi.ports.runtime import Clock
from geomi.seed.external_docs import TOPICS, choose_library, topic_of, write_document

MOST_ERRORS = 5  # in a row (G-22)
# How long is waited after each of them; a source that says when it wants to be asked is believed,
# as far as somebody who waits for a crawl can be asked to wait.
RESTS_S = (1.0, 2.0, 4.0, 8.0)
MAX_REST_S = 30.0

# How an entry ends when its source is not asked any more; what only took too long is lost alone.
_GIVEN_UP = frozenset({Outcome.SERVER_ERROR, Outcome.CONNECT_ERROR})

T = TypeVar("T")


class ExternalDocsClient:
    """Asks one source for one run, patiently, and not for ever."""

    def __init__(self, source: ExternalDocsSource, clock: Clock) -> None:
        self.address = source.address
        self._source = source
        self._clock = clock
        self._errors = 0
        self.refusal: SourceError | None = None  # why it is not asked any more
        self._resolved: dict[str, LibraryCandidate | None] = {}

    async def resolve(self, name: str) -> LibraryCandidate | None:
        """Find the library of a provider, once in a run; None where the source has none."""
        if name not in self._resolved:
            found = await self._ask(lambda: self._source.search(name))
            self._resolved[name] = choose_library(name, found)
        return self._resolved[name]

    async def document(self, library: str, question: str) -> ExternalDocument:
        """Return what a library says about a question."""
        return await self._ask(lambda: self._source.document(library, question))

    async def _ask(self, ask: Callable[[], Awaitable[T]]) -> T:
        while self.refusal is None:
            try:
                answer = await ask()
            except asyncio.CancelledError:  # whoever asks waits no longer
                self._count(SourceBusy("no answer came in time"))
                raise
            except SourceBusy as error:
                self._count(error)
                await self._rest(error)
            except LibraryUnknown:
                self._errors = 0
                raise
            except SourceError as error:  # it would say the same again
                self.refusal = error
            else:
                self._errors = 0
                return answer
        raise self.refusal

    def _count(self, error: SourceBusy) -> None:
        self._errors += 1
        if self._errors >= MOST_ERRORS:
            message = f"{self._errors} errors in a row, the last: {error.message}"
            self.refusal = SourceError(message, hint=error.hint)

    async def _rest(self, error: SourceBusy) -> None:
        if self.refusal is not None:
            return
        rest_s = RESTS_S[self._errors - 1]
        if error.retry_after_s is not None:
            rest_s = min(error.retry_after_s, MAX_REST_S)
        await self._clock.sleep_until(self._clock.now_s() + rest_s)


class ExternalDocsFetcher:
    """`ports.web.Fetcher` of the documents of one library.

    Args:
        name: the provider's name, as people write it.
    """

    def __init__(
        self, client: ExternalDocsClient, clock: Clock, *, library: str, name: str
    ) -> None:
        self._client = client
        self._clock = clock
        self._library = library
        self._name = name

    async def fetch(self, request: Request) -> Fetched:
        """Bring the document of an address inside the time that a request may take."""
        started_s = self._clock.now_s()
        status, body, failure, detail = 200, b"", None, ""
        try:
            async with asyncio.timeout(request.total_timeout_s):
                body = await self._body(request.url)
        except LibraryUnknown as error:
            status, detail = 404, error.message
        except SourceError as error:
            status, failure, detail = 0, Outcome.SERVER_ERROR, error.message
        except TimeoutError:
            status, failure = 0, Outcome.TIMEOUT
            detail = f"no document within {request.total_timeout_s:g} s"
            if self._client.refusal is not None:  # that was the last one
                failure, detail = Outcome.SERVER_ERROR, self._client.refusal.message
        return Fetched(
            url=request.url,
            status=204 if status == 200 and not body else status,
            headers=(("content-type", "text/markdown; charset=utf-8"),),
            body=body,
            wire_bytes=len(body),
            started_s=started_s,
            ended_s=self._clock.now_s(),
            failure=failure,
            detail=detail,
        )

    async def aclose(self) -> None:
        """Leave the source open: the code that opened it closes it."""

    async def _body(self, url: str) -> bytes:
        topic = topic_of(url)
        if topic is None:
            raise LibraryUnknown(f"`{url[:200]}` is not the address of an external document")
        document = await self._client.document(self._library, TOPICS[topic])
        if not document.sections:
            return b""
        source = self._client.address
        return write_document(self._name, topic, source, document).encode("utf-8", "replace")


def shortcoming(entries: Sequence[UrlEntry]) -> str:
    """Say why what a source brought is not enough, by how a run's entries ended; empty if it is."""
    for entry in entries:
        if entry.outcome in _GIVEN_UP:
            return entry.detail
    if any(entry.state in (State.COMPLETED, State.PENDING) for entry in entries):
        return ""  # a run that a limit has ended may go on
    if all(entry.outcome is Outcome.GONE for entry in entries):
        return "library not found"
    late = (entry.detail for entry in entries if entry.outcome is Outcome.TIMEOUT)
    return next(late, "empty result")
