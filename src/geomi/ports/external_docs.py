"""External sources: servers that have documents of a provider, beside the provider's own pages.

One kind knows the libraries of many providers and answers questions. The other is a provider's own
API, which lists documents and returns each of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from geomi.model.external_docs import ApiLibrary, ExternalDocument, LibraryCandidate, SourceAnswer


class ExternalDocsSource(Protocol):
    """A server that knows libraries by name, and answers questions from their documents.

    Every method raises `SourceBusy` where asking again may help, and `SourceError` where it does
    not.
    """

    @property
    def address(self) -> str:
        """Where it is, without a slash at its end; the addresses of its documents begin so."""
        ...

    async def search(self, name: str) -> Sequence[LibraryCandidate]:
        """Return the libraries that it offers for a name, best first."""
        ...

    async def document(self, library: str, question: str) -> ExternalDocument:
        """Return a library's document about a topic; `LibraryUnknown` if it has none."""
        ...

    async def aclose(self) -> None:
        """Close every connection."""
        ...


class DocumentApi(Protocol):
    """An official API that has a provider's documents (LEG-05).

    Every method raises `SourceBusy` where asking again may help, and `SourceError` where it does
    not.
    """

    @property
    def address(self) -> str:
        """Where it is, without a slash at its end."""
        ...

    async def find(self, place: str) -> ApiLibrary:
        """List the documents of a place; `LibraryUnknown` if there is no such place."""
        ...

    async def fetch(self, library: str, url: str, etag: str) -> SourceAnswer:
        """Return the document that a page shows; `LibraryUnknown` if it is gone.

        Args:
            etag: of the copy that is known, which need not be sent again; empty without one.
        """
        ...

    async def aclose(self) -> None:
        """Close every connection."""
        ...
