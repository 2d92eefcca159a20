"""A client of GitHub's REST interface: it lists a repository's documents and fetches them.

Rules kept:
- The operator sets the address, so that a server of one's own works; it may be private. It is
  dialled through the egress gate all the same.
- A redirect is followed on the same server alone, a few times: repositories are renamed.
- Where the rate limit is used up, nothing is sent until its reset. A short wait is `SourceBusy`; a
  longer one is `SourceError`, because nobody waits for an hour.
- The token goes into one header. Where a server repeats it, it is removed before anything is read.
- A known document is asked for with its ETag; an answer that nothing has changed costs no request
  of the rate limit.
- A listing that the server has cut short is read folder by folder, within a number of requests.
- An answer has a size. Symbolic links, submodules and files without a size are no documents.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote, urljoin, urlsplit

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
from geomi.model.external_docs import ApiLibrary, RepositoryFile, SourceAnswer
from geomi.model.page import Fetched, Request
from geomi.ports.runtime import Clock
from geomi.ports.web import Fetcher
from geomi.seed.repository_docs import (
    FOLDERS,
    MAX_DOCUMENT_BYTES,
    RepositoryPlace,
    choose_documents,
    library_of,
    media_type,
    page_address,
    path_in,
    read_api_place,
)
from geomi.url.parse import parse as parse_url

VERSION = "2022-11-28"
RAW = "application/vnd.github.raw+json"
JSON = "application/vnd.github+json"
MAX_TREE_BYTES = 8 * 1024 * 1024  # the server cuts a listing at 7 MB
MAX_TREES = 50  # requests for one listing
MAX_DOCUMENTS = 500  # of one provider, as pages of a crawl
MAX_MOVES = 2
ANSWER_S = 30.0
LONGEST_WAIT_S = 30.0
_OK, _SAME = 200, 304
_MOVED = frozenset({301, 302, 307, 308})
_UNKNOWN = frozenset({404, 409, 410, 451})  # 409: a repository without a commit
_LIMITED = frozenset({403, 429})
_BUSY = frozenset({408, 425, 429})
_FILES = frozenset({"100644", "100755"})


def read_github_address(text: str) -> str:
    """Return the address of such a server without the slash at its end; refuse nonsense."""
    hint = "https://api.github.com, or https://HOST/api/v3; the token goes into GEOMI_GITHUB_TOKEN"
    return read_endpoint(text, "GEOMI_GITHUB_URL", hint=hint)


class GithubClient:
    """One such server (`ports.external_docs.DocumentApi`).

    Args:
        fetcher: its own; it is closed with it.
        token: sent as a bearer token; without one the server answers less often.
    """

    def __init__(self, fetcher: Fetcher, clock: Clock, address: str, *, token: str = "") -> None:
        self.address = read_github_address(address)
        self._fetcher = fetcher
        self._clock = clock
        self._token = token
        own = (("x-github-api-version", VERSION),)
        self._headers = tuple(one for one in json_headers(token) if one[0] != "accept") + own
        self._blocked_until_s = 0.0  # wall clock

    async def find(self, place: str) -> ApiLibrary:
        """List the documents of a repository on its default branch."""
        wanted = read_api_place(place)
        told = await self._json(f"repos/{wanted.name}")
        name, branch, page = (
            _text(told, key) for key in ("full_name", "default_branch", "html_url")
        )
        site = parse_url(page)
        if site is None or not branch or site.path != f"/{name}":
            raise self._strange("a repository without its page and branch")
        files = await _Listing(self, name, wanted).read(branch)
        library = library_of(name, branch)
        addresses = (page_address(site.href, library, one.path) for one in files)
        return ApiLibrary(library, tuple(addresses)[:MAX_DOCUMENTS])

    async def fetch(self, library: str, url: str, etag: str) -> SourceAnswer:
        """Return the document that a page shows."""
        path, (name, _, branch) = path_in(library, url), library.partition("@")
        if path is None:
            raise LibraryUnknown(f"`{url[:200]}` is not a document of {library}")
        asked = f"repos/{name}/contents/{quote(path)}?ref={quote(branch, safe='')}"
        fetched = await self._ask(asked, RAW, MAX_DOCUMENT_BYTES, etag)
        if fetched.status == _SAME and etag:
            return SourceAnswer(b"", media_type(path), etag, is_unchanged=True)
        if fetched.status != _OK:
            raise self._refusal(fetched, f"`{path}` of {library}")
        body = without_key(fetched.body, self._token)
        return SourceAnswer(body, media_type(path), fetched.header("etag"))

    async def aclose(self) -> None:
        """Close every connection."""
        await self._fetcher.aclose()

    async def tree(self, name: str, ref: str, *, is_deep: bool) -> Mapping[str, Any]:
        """Return the listing of a commit or a folder."""
        deep = "?recursive=1" if is_deep else ""
        return await self._json(f"repos/{name}/git/trees/{quote(ref, safe='')}{deep}")

    async def _json(self, path: str) -> Mapping[str, Any]:
        fetched = await self._ask(path, JSON, MAX_TREE_BYTES)
        if fetched.status != _OK:
            raise self._refusal(fetched, f"`{path.partition('?')[0]}`")
        try:
            return read_json_object(without_key(fetched.body, self._token))
        except ValueError as error:
            raise self._strange(str(error)) from error

    async def _ask(self, path: str, accept: str, max_bytes: int, etag: str = "") -> Fetched:
        url = f"{self.address}/{path}"
        for _ in range(MAX_MOVES + 1):
            fetched = await self._send(url, accept, max_bytes, etag)
            if fetched.status not in _MOVED:
                return fetched
            url = urljoin(url, fetched.header("location"))
            here, there = urlsplit(self.address), urlsplit(url)
            if (here.scheme, here.netloc) != (there.scheme, there.netloc):
                raise SourceError(f"{self.address} redirects to another server")
        raise SourceError(f"{self.address} redirects more than {MAX_MOVES} times")

    async def _send(self, url: str, accept: str, max_bytes: int, etag: str) -> Fetched:
        self._refuse_early()
        condition = (("if-none-match", etag),) if etag else ()
        fetched = await self._fetcher.fetch(
            Request(
                url=url,
                headers=(("accept", accept), *self._headers, *condition),
                connect_timeout_s=CONNECT_S,
                read_timeout_s=ANSWER_S,
                total_timeout_s=ANSWER_S,
                max_bytes=max_bytes,
            )
        )
        if fetched.failure is not None:
            raise SourceBusy(f"{self.address} did not answer: {fetched.detail or fetched.failure}")
        self._note_limit(fetched)
        return fetched

    def _note_limit(self, fetched: Fetched) -> None:
        """Note until when nothing may be sent: the limit is used up, or the server asks for it."""
        wall_s = self._clock.wall_s()
        reset = fetched.header("x-ratelimit-reset")
        if fetched.header("x-ratelimit-remaining") == "0" and _is_number(reset):
            self._blocked_until_s = float(reset)
        elif fetched.status in _LIMITED and fetched.header("retry-after"):
            after_s = parse_retry_after(fetched.header("retry-after"), wall_s=wall_s)
            self._blocked_until_s = wall_s + (after_s or 0.0)

    def _refuse_early(self) -> None:
        rest_s = self._blocked_until_s - self._clock.wall_s()
        if rest_s <= 0:
            return
        told = f"{self.address}: its rate limit is used up until {_moment(self._blocked_until_s)}"
        if rest_s <= LONGEST_WAIT_S:
            raise SourceBusy(told, retry_after_s=rest_s)
        hint = "" if self._token else "GEOMI_GITHUB_TOKEN allows more requests an hour"
        raise SourceError(told, hint=hint)

    def _refusal(self, fetched: Fetched, what: str) -> SourceError:
        status = fetched.status
        self._refuse_early()  # where the rate limit is why
        if status in _UNKNOWN:
            return LibraryUnknown(f"{self.address} has no {what} ({status})")
        said = on_one_line(without_key(beginning(fetched).encode(), self._token).decode())
        told = f"{self.address} answered {status}: {said}"
        if status in _BUSY or status >= 500:
            after = parse_retry_after(fetched.header("retry-after"), wall_s=self._clock.wall_s())
            return SourceBusy(told, retry_after_s=after)
        return SourceError(told, hint="check GEOMI_GITHUB_TOKEN and GEOMI_GITHUB_URL")

    def _strange(self, what: str) -> SourceBusy:
        return SourceBusy(f"{self.address} answered in an unexpected form: {what}")


class _Listing:
    """Reads which files a repository has, as far as they may be documents."""

    def __init__(self, client: GithubClient, name: str, place: RepositoryPlace) -> None:
        self._client = client
        self._name = name
        self._place = place
        self._asked = 0

    async def read(self, branch: str) -> tuple[RepositoryFile, ...]:
        """Return the documents of a branch."""
        return choose_documents(await self._below(branch, ""), self._place)

    async def _below(self, ref: str, folder: str) -> list[RepositoryFile]:
        told = await self._tree(ref, is_deep=True)
        if told.get("truncated") is not True:
            return list(_files(told, folder))
        told = await self._tree(ref, is_deep=False)
        found = list(_files(told, folder))
        for path, sha in _folders(told, folder):
            if self._leads_to(path):
                found += await self._below(sha, path)
        return found

    def _leads_to(self, folder: str) -> bool:
        """Return whether a folder is on the way to documents, or below it."""
        wanted = (self._place.folder,) if self._place.folder else FOLDERS
        return any(
            one == "." or f"{one}/".startswith(f"{folder}/") or folder.startswith(f"{one}/")
            for one in wanted
        )

    async def _tree(self, ref: str, *, is_deep: bool) -> Mapping[str, Any]:
        self._asked += 1
        if self._asked > MAX_TREES:
            raise SourceError(
                f"{self._client.address} needs more than {MAX_TREES} requests to list {self._name}",
                hint="name a folder: github:owner/name/folder",
            )
        return await self._client.tree(self._name, ref, is_deep=is_deep)


def _files(told: Mapping[str, Any], folder: str) -> Iterator[RepositoryFile]:
    for one in _entries(told):
        size = one.get("size")
        if one.get("mode") in _FILES and isinstance(size, int) and size >= 0:
            yield RepositoryFile(_joined(folder, _text(one, "path")), size)


def _folders(told: Mapping[str, Any], folder: str) -> Iterator[tuple[str, str]]:
    for one in _entries(told):
        if one.get("type") == "tree":
            yield _joined(folder, _text(one, "path")), _text(one, "sha")


def _entries(told: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    found = told.get("tree")
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def _joined(folder: str, path: str) -> str:
    return f"{folder}/{path}" if folder else path


def _text(one: Mapping[str, Any], name: str) -> str:
    found = one.get(name)
    return found if isinstance(found, str) else ""


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 12


def _moment(at_s: float) -> str:
    return datetime.fromtimestamp(at_s, UTC).strftime("%H:%M:%SZ")
