"""Read what a server sent: a page into an article, a list into links.

Small bodies are parsed in place, large ones through the `Compute` port with a deadline, and so is
what processes have died of. A sitemap is read while it arrives, an /llms.txt when it is complete.

Two things are learned from pages on the way:
- `SelectorDrift` warns once when the job's own content selector stops matching on a host. No page
  is lost by that: the general rules find the content.
- `Soft404` recognises pages that come with status 200 and say that there is nothing. It learns a
  host's error page from its answers 404 and 410; it sends no request for that. `dedup/soft404.py`
  decides.
"""

from __future__ import annotations

from asyncio import CancelledError

from geomi.dedup.sketch import sketch
from geomi.dedup.soft404 import MAX_TEMPLATES, Soft404Candidate, Soft404Sign, judge, says_missing
from geomi.engine.host.session import HostSession
from geomi.engine.loop_share import Rest
from geomi.engine.visit.links import FoundLinks, LinkGate
from geomi.engine.visit.privacy import Privacy
from geomi.engine.visit.sitemap_copy import SitemapCopy, SitemapFile
from geomi.engine.world import World
from geomi.extract.content.strategy import SELECTOR
from geomi.extract.document import WITHOUT_TREE
from geomi.extract.media import BodyFormat, body_format, is_readable, is_risky
from geomi.extract.page import extract
from geomi.model.config import CrawlConfig, Extraction
from geomi.model.entry import EntryKind, UrlEntry
from geomi.model.event import Warned
from geomi.model.page import Article, Fetched, Sink, Template
from geomi.ports.runtime import Compute, EventSink, Rehearsal, RehearsedBody, Unread
from geomi.seed import llms
from geomi.seed.sitemap import MAX_BYTES as MAX_SITEMAP_BYTES
from geomi.seed.sitemap import SitemapReader
from geomi.url.parse import split

# Bodies up to this size cost a few milliseconds to parse and stay in the worker; larger ones go to
# a process that can be killed, because a native parser cannot be interrupted.
INLINE_BYTES = 256 * 1024
PARSE_DEADLINE_S = 20.0
MAX_PROBLEM_CHARS = 200
# A selector that misses half of so many pages in a row is told. A few pages without the usual frame
# (an index, a licence) are normal.
WINDOW_PAGES = 10
MISSED_SHARE = 0.5
MAX_WATCHED_HOSTS = 1000  # under watch at once; the one that was met first makes room
# Error pages are read while the worker waits, the first few of a host: a millisecond each.
MAX_TEMPLATE_BYTES = 128 * 1024
# Hosts whose error pages a worker remembers: half a megabyte.
MAX_HOSTS = 1024
_GONE = frozenset({404, 410})
# An API that answers in JSON shows no page, and readers that may take long are not for here.
_FORMS = (BodyFormat.HTML, BodyFormat.PLAIN)


class PageReader:
    """What turns the pages of one job into articles."""

    def __init__(self, world: World, job: str, config: CrawlConfig, privacy: Privacy) -> None:
        self._compute = world.compute
        self._rules = config.extract
        self._own = world.markdown_rules
        self._max_links = config.limits.max_links_per_page
        self._privacy = privacy
        self._extract = world.meter.timed("extract", extract)
        self._drift = SelectorDrift(world.sink, job, config.extract.content)

    async def read(
        self, fetched: Fetched, session: HostSession, *, alone: bool = False
    ) -> Article | Unread:
        """Read a page as it may be kept, or say why that failed.

        Args:
            alone: in the process that can be killed, however small it is.
        """
        article = await self._read(fetched, session, alone=alone)
        return article if isinstance(article, Unread) else self._privacy.read(article)

    async def _read(
        self, fetched: Fetched, session: HostSession, *, alone: bool
    ) -> Article | Unread:
        body, kind = fetched.body, fetched.header("content-type")
        if len(body) <= INLINE_BYTES and not is_risky(kind, fetched.url) and not alone:
            return self._read_here(fetched, kind, session.state.template)
        # Several large pages may wait for the one process that reads them. They are too few, and
        # too much of their text is their own, to look for a template in them.
        return await session.hold(
            self._compute.extract(
                body,
                fetched.url,
                kind,
                self._rules,
                max_links=self._max_links,
                deadline_s=PARSE_DEADLINE_S,
            )
        )

    def _read_here(self, fetched: Fetched, kind: str, template: Template) -> Article | Unread:
        try:
            return self._extract(
                fetched.body,
                fetched.url,
                kind,
                self._rules,
                max_links=self._max_links,
                template=template,
                own=self._own,
            )
        except Exception as error:  # a fault of ours must cost this page alone, not the crawl
            problem = f"reading it failed: {type(error).__name__}: {error}"[:MAX_PROBLEM_CHARS]
            return Article(title="", markdown="", text="", links=(), unreadable=problem)
        except (KeyboardInterrupt, GeneratorExit, CancelledError):
            raise
        except BaseException as error:  # it would end the process: a panic of native code does
            problem = f"reading it raised {type(error).__name__}: {error}"[:MAX_PROBLEM_CHARS]
            return Unread(problem, crashed=True)

    def learn(self, article: Article, session: HostSession) -> None:
        """Learn from a page that is kept what its site repeats, and whether its selector fits."""
        session.teach(article.sections)
        self._drift.note(session.lease.host, article)


class ListReader:
    """Reads the list behind one entry; for a page it does nothing.

    Args:
        keeps: whether the bytes of a sitemap are kept.
        alone: a sitemap is not read while it arrives, but by `rehearse`.
    """

    def __init__(self, entry: UrlEntry, *, keeps: bool = False, alone: bool = False) -> None:
        self._entry = entry
        self._held = bytearray() if alone else None
        self._lists_any = False
        is_sitemap = entry.kind is EntryKind.SITEMAP
        self._copy = SitemapCopy() if keeps and is_sitemap else None
        copy = self._copy.take if self._copy else _forget
        self._sitemap = SitemapReader(copy=copy) if is_sitemap else None

    @property
    def sink(self) -> Sink | None:
        """Where the body goes, so that fifty megabytes are never in memory at once."""
        if self._sitemap is None:
            return None
        return self._sitemap.feed if self._held is None else self._hold

    def _hold(self, piece: bytes) -> None:
        if self._held is not None and len(self._held) <= MAX_SITEMAP_BYTES:
            self._held += piece

    async def rehearse(self, fetched: Fetched, compute: Compute) -> Unread | None:
        """Read a list of which processes have died: where another one survives it, so do we."""
        if self._held is None:
            return None
        is_sitemap, held = self._sitemap is not None, bytes(self._held)
        kind = RehearsedBody.SITEMAP if is_sitemap else RehearsedBody.LISTING
        body = held if is_sitemap else fetched.body
        unread = await compute.rehearse(Rehearsal(kind), body, deadline_s=PARSE_DEADLINE_S)
        if unread is None and self._sitemap is not None:
            self._sitemap.feed(held)
        return unread

    async def found(
        self, fetched: Fetched, gate: LinkGate, *, wall_s: float, rest: Rest
    ) -> tuple[FoundLinks, str]:
        """Return what the list names, after the rules, and what is wrong with it."""
        if self._sitemap is None:
            hrefs = llms.read(fetched.body)
            return await gate.admit_listing(self._entry, fetched.url, hrefs, rest=rest), ""
        content = self._sitemap.close()
        self._lists_any = bool(content.pages or content.sitemaps)
        found = await gate.admit_sitemap(self._entry, content, wall_s=wall_s, rest=rest)
        return found, content.problem

    def kept(self) -> SitemapFile | None:
        """Return what is kept of a sitemap that was read; one that lists nothing is not."""
        return self._copy.file(self._entry.url) if self._copy and self._lists_any else None


def _forget(_: bytes) -> None:
    """Keep nothing."""


class SelectorDrift:
    """How often the content selector of one job has matched, by host, as one worker saw it."""

    def __init__(self, sink: EventSink, job: str, selector: str) -> None:
        self._sink = sink
        self._job = job
        self._selector = selector
        self._windows: dict[str, list[bool]] = {}  # of each host: whether its last pages matched
        self._told: set[str] = set()

    def note(self, host: str, article: Article) -> None:
        """Count a page; warn once when the selector of its host has stopped matching."""
        if not self._selector or host in self._told or article.strategy in WITHOUT_TREE:
            return
        window = self._windows.setdefault(host, [])
        window.append(article.strategy == SELECTOR)
        if len(window) == WINDOW_PAGES:
            del self._windows[host]
            if sum(window) <= WINDOW_PAGES * MISSED_SHARE:
                self._warn(host, sum(window))
        elif len(self._windows) > MAX_WATCHED_HOSTS:
            del self._windows[next(iter(self._windows))]

    def _warn(self, host: str, matched: int) -> None:
        if len(self._told) < MAX_WATCHED_HOSTS:
            self._told.add(host)
        self._sink.emit(
            Warned(
                self._job,
                f"`extract.content` ({self._selector}) matched {matched} of the last "
                f"{WINDOW_PAGES} pages of `{host}`",
                "the site may have changed; look at a page of it and mend the selector",
            )
        )


class Soft404:
    """The error pages of hosts, as one worker has seen them."""

    def __init__(self, rules: Extraction) -> None:
        self._rules = rules
        self._templates: dict[str, list[bytes]] = {}

    def learn(self, host: str, fetched: Fetched) -> None:
        """Look at an answer that brought no page: it may be the error page of its host."""
        kind, body = fetched.header("content-type"), fetched.body
        if fetched.status not in _GONE or not 0 < len(body) <= MAX_TEMPLATE_BYTES:
            return
        templates = self._templates.setdefault(host, [])
        is_read = is_readable(kind) and body_format(kind, fetched.url) in _FORMS
        if len(templates) < MAX_TEMPLATES and is_read:
            text = extract(body, fetched.url, kind, self._rules, max_links=1).text
            templates.append(sketch(text))
        if len(self._templates) > MAX_HOSTS:
            del self._templates[next(iter(self._templates))]

    def sign(self, host: str, fetched: Fetched, article: Article) -> Soft404Sign | None:
        """Say what gives a page away, or None; hardly any page is looked at closely."""
        heading = _heading(article.markdown)
        if not (says_missing(article.title) or says_missing(heading)):
            return None
        suspect = Soft404Candidate(
            status=fetched.status,
            title=article.title,
            heading=heading,
            text_chars=len(article.text),
            sketch=sketch(article.text),
            path=split(fetched.url).target,
            text=article.text,
        )
        return judge(suspect, self._templates.get(host, ()))


def _heading(markdown: str) -> str:
    """Return the first heading of a page."""
    start = 0 if markdown.startswith("#") else markdown.find("\n#") + 1
    if not markdown.startswith("#", start):
        return ""
    end = markdown.find("\n", start)
    return markdown[start : end if end >= 0 else None].lstrip("#").strip()
