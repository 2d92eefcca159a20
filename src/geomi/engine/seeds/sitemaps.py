"""Find the sitemap of one host, what it lists, and its bytes (SED-11, C-54, C-56, C-58).

Sitemaps that robots.txt names are tried first, then /sitemap.xml. The first one that lists
something is taken. The sitemaps of an index are read as well, to count their pages. The number of
requests has a limit, requests without an answer included, and so have the stored bytes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice

from geomi.engine.host.reserve import RedirectFollower, as_entry
from geomi.engine.seeds.hosts import (
    DomainSession,
    ReachedHost,
    RecordingFetcher,
    ask_until_lasting,
    http_date,
    raise_passing,
    raise_unasked,
    short_error,
    why_no_file,
)
from geomi.engine.visit.sitemaps import SITEMAP_NESTING
from geomi.model.dataset.contract import SitemapFacts
from geomi.model.entry import Discovered, EntryKind, Source, UrlEntry
from geomi.model.page import Fetched
from geomi.model.verdict import Verdict
from geomi.ports.runtime import Clock, Compute, Rehearsal, RehearsedBody, Unread
from geomi.seed.sitemap import MAX_BYTES, Sitemap, SitemapReader, lastmod_s
from geomi.text.encoding import iso_utc
from geomi.url.parse import Url
from geomi.url.parse import parse as parse_url

PATH = "/sitemap.xml"
REHEARSAL_S = 20.0
# What is kept in memory of all sitemaps of a domain, until they are written. One as large as
# sitemaps.org allows has room; what comes after it is described, and not kept.
MAX_KEPT_BYTES = MAX_BYTES


@dataclass(slots=True)
class _Body:
    """Takes the pieces of a sitemap: all are read, and kept as long as there is room.

    Args:
        held: the pieces that wait for their rehearsal; None where there is none.
    """

    room: int
    size: int = 0
    reader: SitemapReader = field(default_factory=SitemapReader)
    kept: bytearray = field(default_factory=bytearray)
    held: bytearray | None = None

    def take(self, piece: bytes) -> None:
        if self.held is None:
            self.reader.feed(piece)
        elif len(self.held) <= MAX_BYTES:
            self.held += piece
        self.size += len(piece)
        if self.size <= self.room:
            self.kept += piece
        else:
            self.kept.clear()

    @property
    def whole(self) -> bytes | None:
        return bytes(self.kept) if self.size <= self.room else None


@dataclass(frozen=True, slots=True)
class _List:
    """A list that was read, or why it was not."""

    url: Url
    fetched_at: str | None
    error: str = ""
    content: Sitemap = field(default_factory=Sitemap)
    last_modified: str | None = None
    size: int = 0
    kept: bytes | None = None

    @property
    def is_there(self) -> bool:
        return bool(self.content.pages or self.content.sitemaps)


@dataclass(slots=True)
class _Tally:
    """The sums over lists: their pages, and the newest change among these."""

    urls: int = 0
    newest_s: float = 0.0
    lists: int = 0

    def add(self, content: Sitemap, wall_s: float) -> None:
        dates = {date for _, date in content.pages if date}
        times_s = (lastmod_s(date, wall_s=wall_s) for date in dates)
        self.urls += len(content.pages)
        self.newest_s = max([self.newest_s, *(at_s for at_s in times_s if at_s is not None)])
        self.lists += 1


class HostSitemaps:
    """Reads the sitemaps of one domain's hosts."""

    def __init__(
        self,
        clock: Clock,
        line: DomainSession,
        walk: RedirectFollower,
        hearing: RecordingFetcher,
        *,
        max_lists: int,
        rehearsing: Compute | None = None,
    ) -> None:
        self._rehearsing = rehearsing
        self._clock = clock
        self._line = line
        self._walk = walk
        self._hearing = hearing
        self._max_lists = self._left = max_lists
        self._room = MAX_KEPT_BYTES

    async def find(
        self, reached: ReachedHost, named: Sequence[str]
    ) -> tuple[SitemapFacts, bytes | None]:
        """Find a host's sitemap and describe it; return its bytes where there is room for them.

        Args:
            named: those that its robots.txt names.
        """
        facts = SitemapFacts(exists=False, error=self._left_out)
        probe = parse_url(PATH, reached.root.href)
        assert probe is not None, "a path of a host is a URL"
        for url in dict.fromkeys((*named, probe.href)):
            if self._left <= 0 or self._line.is_closed:
                break
            one = await self._read(url, reached, room=self._room)
            if one.is_there:
                self._room -= len(one.kept or b"")
                return await self._described(one, reached), one.kept
            facts = SitemapFacts(False, fetched_at=one.fetched_at, error=short_error(one.error))
        return facts, None

    @property
    def _left_out(self) -> str:
        if self._left > 0:
            return "its host must wait"
        return f"geomi requests at most {self._max_lists} sitemaps (seeds.max_sitemaps)"

    async def _described(self, one: _List, reached: ReachedHost) -> SitemapFacts:
        tally = _Tally()
        tally.add(one.content, self._clock.wall_s())
        is_index = bool(one.content.sitemaps)
        if is_index:
            await self._add_children(one, reached, tally)
        is_counted = tally.lists > 1 or not is_index or tally.urls > 0
        unkept = "" if one.kept is not None else f"geomi does not keep it: it has {one.size} bytes"
        return SitemapFacts(
            exists=True,
            size=one.size,
            last_modified=one.last_modified,
            url_count=tally.urls if is_counted else None,
            last_updated=iso_utc(tally.newest_s) if tally.newest_s else one.last_modified,
            sitemap_count=len(one.content.sitemaps) if is_index else None,
            sitemaps_read=tally.lists - 1 if is_index else None,
            url=one.url.href,
            fetched_at=one.fetched_at,
            error=short_error(one.content.problem or unkept),
        )

    async def _add_children(self, index: _List, reached: ReachedHost, tally: _Tally) -> None:
        """Read what an index lists, and what indexes among that list, down to the limits.

        The time of the domain is one of them: how many pages there are is worth no second try.
        """
        waiting = deque((url, 1) for url in islice(_own(index), self._left))
        seen = {index.url.href}
        while waiting and self._left > 0 and not (self._hearing.is_over or self._line.is_closed):
            url, nesting = waiting.popleft()
            if url in seen:
                continue
            seen.add(url)
            child = await self._read(url, reached, room=0)
            if not child.is_there:
                continue
            tally.add(child.content, self._clock.wall_s())
            if nesting < SITEMAP_NESTING:
                room = max(0, self._left - len(waiting))
                waiting.extend((below, nesting + 1) for below in islice(_own(child), room))

    async def _read(self, href: str, reached: ReachedHost, *, room: int) -> _List:
        """Ask for a list, and again where that may help."""
        self._left -= 1
        url = parse_url(href)
        assert url is not None, "only URLs that parse are named"
        if refusal := self._refusal(url, reached):
            return _List(url, None, refusal)
        self._hearing.check()
        entry = sitemap_entry(url)

        async def ask() -> tuple[Fetched | Verdict, _Body]:
            body = _Body(room, held=bytearray() if self._rehearsing else None)
            walk = partial(
                self._walk.ask, entry, robots=reached.robots, keeper=reached.keeper, sink=body.take
            )
            return await self._line.use(reached.root.authority, lambda it: walk(session=it)), body

        answer, body = await ask_until_lasting(
            self._clock,
            ask,
            _judge,
            goes_on=lambda: not (self._hearing.is_over or self._line.must_rest),
        )
        unread = await self._rehearsed(body)
        if unread is not None and isinstance(answer, Fetched):
            return _List(url, iso_utc(self._clock.wall_s()), unread.reason)
        return self._as_list(url, answer, body)

    async def _rehearsed(self, body: _Body) -> Unread | None:
        """Read a list of which processes may have died, if another one survives it."""
        if self._rehearsing is None or not body.held:
            return None
        what, held = Rehearsal(RehearsedBody.SITEMAP), bytes(body.held)
        unread = await self._rehearsing.rehearse(what, held, deadline_s=REHEARSAL_S)
        if unread is None:
            body.reader.feed(held)
        return unread

    def _refusal(self, url: Url, reached: ReachedHost) -> str:
        """Return why a list is not requested: a blocked host, or robots.txt."""
        blocked = self._walk.rules.host_verdict(url)
        if not blocked.admitted:
            return f"{blocked.rule}: {blocked.detail}"
        if url.authority != reached.root.authority:  # another host's rules are another file
            return ""
        verdict = reached.robots.judge(url)
        return "" if verdict.admitted else _by_robots(verdict)

    def _as_list(self, url: Url, answer: Fetched | Verdict, body: _Body) -> _List:
        if isinstance(answer, Verdict):  # of where it redirects to
            return _List(url, None, _by_robots(answer))
        raise_unasked(url, answer.failure)
        fetched_at = iso_utc(self._clock.wall_s())
        if answer.failure is not None or not 200 <= answer.status < 300:
            error = why_no_file(answer.status, answer.failure, answer.detail)
            return _List(url, fetched_at, error)
        content = body.reader.close()
        return _List(
            url,
            fetched_at,
            content.problem,
            content,
            http_date(answer.header("last-modified")),
            body.size,
            body.whole,
        )


def _judge(answered: tuple[Fetched | Verdict, _Body]) -> None:
    answer, _ = answered
    if isinstance(answer, Fetched):
        error = why_no_file(answer.status, answer.failure, answer.detail)
        raise_passing(answer.status, answer.failure, error)


def sitemap_entry(url: Url) -> UrlEntry:
    """Give a sitemap the form in which the rules and the requests know it; nothing stores it."""
    return as_entry(
        Discovered(
            url_hash=b"",
            url=url.href,
            host=url.authority,
            depth=0,
            priority=0,
            source=Source.SITEMAP,
            kind=EntryKind.SITEMAP,
        )
    )


def _by_robots(verdict: Verdict) -> str:
    detail = verdict.detail
    return detail if detail.startswith("robots.txt") else f"robots.txt: {detail}"


def _own(index: _List) -> Iterator[str]:
    """Yield the sitemaps that an index lists on its own host; it may name no others (C-82)."""
    for text in index.content.sitemaps:
        url = parse_url(text)
        if url is not None and url.host == index.url.host:
            yield url.href
