"""External sources: servers that already have the documents of many libraries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from geomi.model.external_docs import ExternalDocument, LibraryCandidate


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
