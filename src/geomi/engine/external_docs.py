"""Fetch documents from an external source in place of a provider's pages (C7-01…C7-03, G-22).

A `PatientClient` asks a source and counts errors; after five in a row it asks no more. A
`SourceFetcher` stands where a crawl's fetcher stands. So claims, quotas, duplicates, archive and
outputs are those of any crawl. For each address `ExternalDocsFetcher` returns what the source says
about a topic, and `ApiDocsFetcher` the document that the provider's own API has (LEG-05).
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from geomi.errors import LibraryUnknown, SourceBusy, SourceError
from geomi.fetch.response import NOT_MODIFIED
from geomi.model.entry import UrlEntry
from geomi.model.external_docs import (
    ApiLibrary,
    ExternalDocument,
    LibraryCandidate,
    SourceAnswer,
)
from geomi.model.page import Fetched, Request
from geomi.model.verdict import Outcome, State
from geomi.ports.external_docs import DocumentApi, ExternalDocsSource
from geomi.ports.runtime import Clock
from geomi.seed.external_docs import choose_library, question_of, topic_of, write_document

MOST_ERRORS = 5  # in a row (G-22)
# How long is waited after each of them; a source that says when it wants to be asked is believed,
# as far as somebody who waits for a crawl can be asked to wait.
RESTS_S = (1.0, 2.0, 4.0, 8.0)
MAX_REST_S = 30.0

# How an entry ends when its source is not asked any more; what only took too long is lost alone.
_GIVEN_UP = frozenset({Outcome.SERVER_ERROR, Outcome.CONNECT_ERROR})

T = TypeVar("T")


class PatientClient:
    """Asks one source for one run, patiently, and not for ever."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._errors = 0
        self.refusal: SourceError | None = None  # why it is not asked any more

    async def ask(self, ask: Callable[[], Awaitable[T]]) -> T:
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


class ExternalDocsClient(PatientClient):
    """Asks a source that knows libraries by name and answers questions."""

    def __init__(self, source: ExternalDocsSource, clock: Clock) -> None:
        super().__init__(clock)
        self.address = source.address
        self._source = source
        self._resolved: dict[str, LibraryCandidate | None] = {}

    async def resolve(self, name: str) -> LibraryCandidate | None:
        """Find the library of a provider, once in a run; None where the source has none."""
        if name not in self._resolved:
            found = await self.ask(lambda: self._source.search(name))
            self._resolved[name] = choose_library(name, found)
        return self._resolved[name]

    async def document(self, library: str, question: str) -> ExternalDocument:
        """Return what a library says about a question."""
        return await self.ask(lambda: self._source.document(library, question))


class ApiDocsClient(PatientClient):
    """Asks a provider's official API."""

    def __init__(self, api: DocumentApi, clock: Clock) -> None:
        super().__init__(clock)
        self._api = api

    async def find(self, place: str) -> ApiLibrary | None:
        """List the documents of a place; None where the API has none."""
        try:
            found = await self.ask(lambda: self._api.find(place))
        except LibraryUnknown:
            return None
        return found if found.documents else None

    async def fetch(self, library: str, url: str, etag: str) -> SourceAnswer:
        """Return the document that a page shows."""
        return await self.ask(lambda: self._api.fetch(library, url, etag))


class SourceFetcher(ABC):
    """`ports.web.Fetcher` of the documents of one library."""

    def __init__(self, client: PatientClient, clock: Clock) -> None:
        self._client = client
        self._clock = clock

    @abstractmethod
    async def answer(self, request: Request) -> SourceAnswer:
        """Return the document of an address; no body if the source has nothing to say."""

    async def fetch(self, request: Request) -> Fetched:
        """Bring the document of an address inside the time that a request may take."""
        started_s = self._clock.now_s()
        status, failure, detail = 200, None, ""
        answer = SourceAnswer(b"")
        try:
            async with asyncio.timeout(request.total_timeout_s):
                answer = await self.answer(request)
        except LibraryUnknown as error:
            status, detail = 404, error.message
        except SourceError as error:
            status, failure, detail = 0, Outcome.SERVER_ERROR, error.message
        except TimeoutError:
            status, failure = 0, Outcome.TIMEOUT
            detail = f"no document within {request.total_timeout_s:g} s"
            if self._client.refusal is not None:  # that was the last one
                failure, detail = Outcome.SERVER_ERROR, self._client.refusal.message
        if answer.is_unchanged:
            status = NOT_MODIFIED
        elif status == 200 and not answer.body:
            status = 204
        headers = (("content-type", answer.content_type), ("etag", answer.etag))
        return Fetched(
            url=request.url,
            status=status,
            headers=tuple((name, value) for name, value in headers if value),
            body=answer.body,
            wire_bytes=len(answer.body),
            started_s=started_s,
            ended_s=self._clock.now_s(),
            failure=failure,
            detail=detail,
        )

    async def aclose(self) -> None:  # noqa: B027  # there is nothing of its own to close
        """Leave the source open: the code that opened it closes it."""


class ExternalDocsFetcher(SourceFetcher):
    """Fetches what a source says about the topics of a library.

    Args:
        name: the provider's name, as people write it.
    """

    def __init__(
        self, client: ExternalDocsClient, clock: Clock, *, library: str, name: str
    ) -> None:
        super().__init__(client, clock)
        self._questions = client
        self._library = library
        self._name = name

    async def answer(self, request: Request) -> SourceAnswer:
        """Return what the source says about the topic of an address."""
        topic = topic_of(request.url)
        if topic is None:
            raise LibraryUnknown(
                f"`{request.url[:200]}` is not the address of an external document"
            )
        document = await self._questions.document(self._library, question_of(topic))
        if not document.sections:
            return SourceAnswer(b"")
        text = write_document(self._name, topic, self._questions.address, document)
        return SourceAnswer(text.encode("utf-8", "replace"))


class ApiDocsFetcher(SourceFetcher):
    """Fetches the documents that a provider's API has, by their pages at the site."""

    def __init__(self, client: ApiDocsClient, clock: Clock, *, library: str) -> None:
        super().__init__(client, clock)
        self._api = client
        self._library = library

    async def answer(self, request: Request) -> SourceAnswer:
        """Return the document that a page shows, unless it is the one that is known."""
        etag = next((value for name, value in request.headers if name == "if-none-match"), "")
        return await self._api.fetch(self._library, request.url, etag)


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
