"""External documents: what an external source such as Context7 has about a library.

A library is what such a source calls the documents of one product. Its id looks like
`/owner/name`.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LibraryCandidate:
    """A library that a source offers for a name.

    Args:
        snippets: how many passages it has; None where the source does not say.
        is_final: whether the source has read it to the end.
    """

    library: str
    title: str
    snippets: int | None = None
    is_final: bool = True


@dataclass(frozen=True, slots=True)
class LibrarySection:
    """One passage of an external document, as markdown.

    Args:
        origin: the page that it was taken from, as the source names it; may be empty.
        page: the title of that page, which is a topic of the library; may be empty.
    """

    heading: str
    text: str
    origin: str = ""
    page: str = ""


@dataclass(frozen=True, slots=True)
class ExternalDocument:
    """The document of a source about one topic; without sections it is empty.

    Args:
        library: the id under which it was found, which is another one where the library has moved.
    """

    library: str
    sections: tuple[LibrarySection, ...] = ()


@dataclass(frozen=True, slots=True)
class RepositoryFile:
    """A file of a repository, as its API lists it."""

    path: str
    size_bytes: int


@dataclass(frozen=True, slots=True)
class ApiLibrary:
    """The documents that a provider's API has.

    Args:
        documents: the address of each at the provider's site.
    """

    library: str
    documents: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SourceAnswer:
    """What a source answers for the address of a document.

    Args:
        etag: asks the next time whether it is still the same.
        is_unchanged: it is; there is no body then.
    """

    body: bytes
    content_type: str = "text/markdown; charset=utf-8"
    etag: str = ""
    is_unchanged: bool = False


@dataclass(frozen=True, slots=True)
class LibraryFinding:
    """Whether a source has a provider's documents, and the time of the question.

    Args:
        name: what the source was asked for; a provider that goes by another is asked for again.
        library: the id of its library; empty where the source has none.
        documents: where they are, if the source lists them.
    """

    key: str
    name: str
    library: str
    at_s: float
    documents: tuple[str, ...] = ()
