"""Documents of a code repository: name the repository, choose its documents, address them (LEG-05).

A repository's documentation is its README and the files of its folder of documents. Each has the
address of its page at the site, so that people are led there and not to the API. A library is named
`owner/name@branch`: with it an address leads back to the path.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import quote, unquote, urlsplit

from geomi.errors import ConfigError
from geomi.model.external_docs import RepositoryFile

API = "github:"
FOLDERS = ("docs", "doc", "documentation")  # the first of them that there is
MAX_PLACE_CHARS = 300
MAX_PATH_CHARS = 1024
MAX_DOCUMENT_BYTES = 1024 * 1024
# The media type of each kind of document that geomi reads.
TYPES = {
    ".md": "text/markdown",
    ".markdown": "text/markdown",
    ".mdx": "text/markdown",
    ".rst": "text/plain",
    ".adoc": "text/plain",
    ".txt": "text/plain",
    ".html": "text/html",
    ".htm": "text/html",
}

_PLACE = re.compile(r"github:([A-Za-z0-9][A-Za-z0-9-]{0,38}/[A-Za-z0-9._-]{1,100})(?:/(.*))?")
_README = re.compile(r"readme(\.[a-z]+)?", re.IGNORECASE)
_SAFE = "/!$&'()*+,;=:@~"  # what a path of a URL may hold as it is


@dataclass(frozen=True, slots=True)
class RepositoryPlace:
    """Where a provider's documents are.

    Args:
        name: `owner/name`.
        folder: without slashes at its ends; empty for the usual one, `.` for the whole repository.
    """

    name: str
    folder: str = ""


def read_api_place(text: str) -> RepositoryPlace:
    """Read `github:owner/name`, with a folder after it where that is not the usual one."""
    found = _PLACE.fullmatch(text) if len(text) <= MAX_PLACE_CHARS else None
    folder = (found[2] or "").strip("/") if found else ""
    is_path = folder == "." or not {".", ".."} & set(folder.split("/"))
    if found is None or not is_path or not folder.isprintable():
        raise ConfigError(
            f"`{text[:80]}` names no API that geomi knows",
            hint="write github:owner/name, or github:owner/name/folder",
        )
    return RepositoryPlace(found[1], folder)


def choose_documents(
    files: Iterable[RepositoryFile], place: RepositoryPlace
) -> tuple[RepositoryFile, ...]:
    """Return the documents among the files of a repository: its README first, then by path."""
    usable = [one for one in files if _type(one.path) and one.size_bytes <= MAX_DOCUMENT_BYTES]
    folder = place.folder or _usual_folder(usable)
    readme = [one for one in usable if "/" not in one.path and _README.fullmatch(one.path)]
    below = [one for one in usable if one not in readme and _is_below(one.path, folder)]
    return (*readme, *sorted(below, key=lambda one: one.path))


def library_of(name: str, branch: str) -> str:
    """Name the library that a branch of a repository is."""
    return f"{name}@{branch}"


def page_address(site: str, library: str, path: str) -> str:
    """Return the page of a document at the site, which is `site` for the repository itself."""
    return f"{site}{_blob_of(library)}{quote(path, safe=_SAFE)}"


def path_in(library: str, address: str) -> str | None:
    """Return the path of the document that a page shows; None for any other page."""
    _, found, path = urlsplit(address).path.partition(
        f"/{library.partition('@')[0]}{_blob_of(library)}"
    )
    return unquote(path) if found and _type(unquote(path)) else None


def media_type(path: str) -> str:
    """Return what a document is, by its name."""
    return f"{_type(path) or 'text/plain'}; charset=utf-8"


def _blob_of(library: str) -> str:
    return f"/blob/{quote(library.partition('@')[2], safe=_SAFE)}/"


def _type(path: str) -> str:
    if len(path) > MAX_PATH_CHARS:
        return ""
    name = path.rpartition("/")[2]
    dot = name.rfind(".")
    if dot < 0:
        return TYPES[".txt"] if _README.fullmatch(name) else ""
    return TYPES.get(name[dot:].lower(), "")


def _usual_folder(files: Iterable[RepositoryFile]) -> str:
    there = {one.path.partition("/")[0] for one in files if "/" in one.path}
    return next((folder for folder in FOLDERS if folder in there), "")


def _is_below(path: str, folder: str) -> bool:
    return folder == "." or (folder != "" and path.startswith(f"{folder}/"))
