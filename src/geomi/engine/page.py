"""One page's road, top to bottom: robots -> fetch -> respond -> extract -> dedup -> links -> due.

Each line hands one frozen value on. Whatever happens, the end is one `Visit`: a settlement for the
store and, where something is kept, a capture for the archive. Nothing here writes.
"""

from __future__ import annotations

from geomi.dedup.decide import fingerprint, nearest
from geomi.engine.ask import Asker
from geomi.engine.fate import Fates, Visit
from geomi.engine.links import LinkGate
from geomi.engine.record import Portrait, capture, page_record
from geomi.engine.requests import Requests
from geomi.engine.robots import Reading, RobotsKeeper
from geomi.engine.world import World
from geomi.extract.page import extract
from geomi.fetch import redirect
from geomi.fetch.body import is_readable
from geomi.fetch.respond import respond
from geomi.model.entry import EntryKind, UrlEntry
from geomi.model.job import CrawlJob
from geomi.model.page import Article, Fetched, Fingerprint
from geomi.model.verdict import Outcome, Verdict
from geomi.recrawl.due import due_s
from geomi.robots.meta import directives
from geomi.seed import sitemap
from geomi.url.parse import Url
from geomi.url.parse import parse as parse_url

# Bodies up to this size cost a few milliseconds to parse and stay in the worker; larger ones go to
# a process that can be killed, because a native parser cannot be interrupted.
INLINE_BYTES = 256 * 1024
PARSE_DEADLINE_S = 20.0
# Pages on their way to a commit that the store cannot yet name as twins; about eight full batches.
FRESH_KEYS = 1024


class Road:
    """What every page of one job meets, in order."""

    def __init__(self, world: World, job: CrawlJob, gate: LinkGate) -> None:
        self._world = world
        self._config = job.config
        self._gate = gate
        self._requests = Requests(job.config, job.seeds, version=world.version)
        self._robots = RobotsKeeper(world, job.id, job.config, self._requests)
        self._fates = Fates(world, job.config, gate)
        self._fresh: dict[bytes, str] = {}  # exact keys of the last pages, and their URLs

    async def visit(self, entry: UrlEntry, asker: Asker) -> Visit | None:
        """Take one entry down the road and return what is to be settled.

        None where robots.txt asks for a rest that is too long to hold the host for: nothing was
        asked for, and the entry waits with its host.
        """
        url = parse_url(entry.url)
        assert url is not None, f"the frontier holds a URL that does not parse: {entry.url!r}"
        reading = await self._robots.read(url, asker)
        if asker.must_rest() and reading.unreached is None and reading.judge(url).admitted:
            return None
        visit = await self._walk(entry, url, asker, reading)
        if entry.kind is EntryKind.SITEMAP:  # a host asked for its sitemap alone leads no further
            return visit
        return visit.adding(self._gate.sitemaps(reading.file.sitemaps, url))

    def unvisited(self, entry: UrlEntry, asker: Asker) -> Visit:
        """Close an entry without asking a host that has just failed again and again."""
        detail = f"`{entry.host}` failed {asker.state.errors} times in a row; not asked again now"
        return self._fates.failed(entry, asker, Outcome.CONNECT_ERROR, detail)

    async def _walk(self, entry: UrlEntry, url: Url, asker: Asker, reading: Reading) -> Visit:
        if reading.unreached is not None:
            return self._fates.failed(entry, asker, reading.unreached, reading.copy.detail)
        fetched = await self._fetch(entry, url, asker, reading)
        if isinstance(fetched, Verdict):
            return self._fates.blocked(entry, asker, reading, fetched)
        outcome = respond(fetched)
        if outcome is Outcome.REDIRECTED:
            return self._fates.redirected(entry, asker, fetched)
        if outcome is not Outcome.OK:
            return self._fates.failed(entry, asker, outcome, fetched.detail, fetched)
        if entry.kind is EntryKind.SITEMAP:
            return self._fates.sitemap(entry, asker, fetched, sitemap.read(fetched.body))
        if not is_readable(kind := fetched.header("content-type")):
            detail = f"`{kind}` cannot be read as text"
            return self._fates.failed(entry, asker, Outcome.WRONG_TYPE, detail, fetched)
        article = await self._extract(fetched)
        if article is None:
            return self._fates.failed(
                entry, asker, Outcome.TOO_COMPLEX, "parsing took too long", fetched
            )
        return await self._keep(entry, asker, fetched, article)

    async def _fetch(
        self, entry: UrlEntry, url: Url, asker: Asker, reading: Reading
    ) -> Fetched | Verdict:
        """Ask for an entry, and again where it redirects to another spelling of its own URL.

        `/docs` and `/docs/` have one identity (C-18): the frontier would take the target for the
        entry that it has already, and the page would be lost.
        """
        asked: set[str] = set()
        while True:
            verdict = reading.judge(url)
            if not verdict.admitted:
                return verdict
            asked.add(url.href)
            fetched = await asker.ask(self._requests.page(entry, url))
            respelled = self._gate.respelled(entry, redirect.target(fetched))
            is_last = entry.hops + len(asked) > self._config.http.max_redirects
            if respelled is None or respelled.href in asked or is_last:
                return fetched
            url = respelled

    async def _extract(self, fetched: Fetched) -> Article | None:
        body, kind = fetched.body, fetched.header("content-type")
        limit = self._config.limits.max_links_per_page
        if len(body) <= INLINE_BYTES:
            return extract(body, fetched.url, kind, self._config.extract, max_links=limit)
        return await self._world.compute.extract(
            body,
            fetched.url,
            kind,
            self._config.extract,
            max_links=limit,
            deadline_s=PARSE_DEADLINE_S,
        )

    async def _keep(
        self, entry: UrlEntry, asker: Asker, fetched: Fetched, article: Article
    ) -> Visit:
        """Decide what is kept of a page that came and was read, and which links it adds."""
        tags = [value for name, value in fetched.headers if name == "x-robots-tag"]
        wishes = directives([*article.robots, *tags], self._requests.token)
        print_ = fingerprint(article.text, fetched.body, [link.url for link in article.links])
        twin, near = await self._twin(entry, print_)
        if twin and not near:  # C-41: a page that repeats another adds no links
            wishes |= {"nofollow"}
        found = self._gate.admit(entry, fetched.url, article.links, nofollow="nofollow" in wishes)
        if "noindex" in wishes:
            return self._fates.passed_over(entry, asker, Outcome.NOINDEX, fetched, found)
        if not article.text and not article.needs_browser:
            return self._fates.passed_over(entry, asker, Outcome.EMPTY, fetched, found)
        portrait = Portrait(entry, fetched, article, print_, twin, near, self._world.clock.wall_s())
        kept = page_record(portrait, due_s=await self._due_s(entry, print_))
        outcome = Outcome.DUPLICATE if twin and not near else Outcome.OK
        self._remember(print_.exact_key, twin or entry.url)
        return self._fates.kept(
            asker, outcome, portrait, kept, found, capture(portrait, raw=self._config.store.raw)
        )

    async def _twin(self, entry: UrlEntry, print_: Fingerprint) -> tuple[str, bool]:
        """Return the page this one repeats, and whether it does so only nearly."""
        if not print_.exact_key:
            return "", False
        twins = await self._world.pages.twins(entry.job, [print_.exact_key])
        fresh = self._fresh.get(print_.exact_key, "")
        if (twin := twins.get(print_.exact_key, fresh)) and twin != entry.url:
            return twin, False
        candidates = await self._world.pages.near(entry.job, print_.simhash)
        found = nearest(print_.simhash, [pair for pair in candidates if pair[0] != entry.url])
        return found or "", found is not None

    def _remember(self, exact_key: bytes, url: str) -> None:
        """Note a page that is kept but not yet committed: the next that comes may be its twin."""
        self._fresh.setdefault(exact_key, url)
        if len(self._fresh) > FRESH_KEYS:
            del self._fresh[next(iter(self._fresh))]

    async def _due_s(self, entry: UrlEntry, print_: Fingerprint) -> float:
        previous = await self._world.pages.get(entry.url_hash)
        changed = previous is None or previous.fingerprint.content_hash != print_.content_hash
        now_s = self._world.clock.wall_s()
        return due_s(now_s, previous=previous, changed=changed, rules=self._config.recrawl)
