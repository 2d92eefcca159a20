"""Visit one page, top to bottom: robots, fetch, respond, extract, deduplicate, links, due date.

Each line hands one frozen value on. Whatever happens, the end is one `ClosedVisit`: a settlement
for the store and, where something is kept, a capture for the archive. Nothing here writes.
"""

from __future__ import annotations

from geomi.dedup.decide import fingerprint
from geomi.engine.host.requests import Requests
from geomi.engine.host.robots import JobRobots, RobotsKeeper
from geomi.engine.host.session import HostSession
from geomi.engine.visit.directives import Directives, canonical_target, read_directives
from geomi.engine.visit.duplicates import Duplicates, exact_duplicate
from geomi.engine.visit.endings import NO_LINKS, ClosedVisit, VisitEndings, VisitFindings
from geomi.engine.visit.links import FoundLinks, LinkGate
from geomi.engine.visit.parsing import ListReader, PageReader, Soft404
from geomi.engine.visit.preview_text import kept_capture
from geomi.engine.visit.record import KeptPage, StoredPage, page_record
from geomi.engine.visit.revisit import (
    KEPT_OUTCOMES,
    ChangeTracker,
    EarlierPage,
    Revisits,
    UnchangedVisit,
    last_seen,
    unchanged_capture,
    unchanged_row,
)
from geomi.engine.world import World
from geomi.errors import BytesMissing
from geomi.extract.media import is_readable
from geomi.fetch import response
from geomi.fetch.response import decide_rendering, respond
from geomi.model.entry import EntryKind, UrlEntry
from geomi.model.job import CrawlJob
from geomi.model.page import Article, Fetched, KnownPage
from geomi.model.verdict import Outcome, Verdict
from geomi.recrawl.due import first_due_s
from geomi.robots.signals import still_said
from geomi.url.parse import Url, split

# A page that was kept by a worker of another machine can be read once that worker has sent it,
# which it does within minutes; one that is not there by then is lost, and fetched anew elsewhere.
UNSENT_WAIT_S = 20.0
UNSENT_TRIES = 30


class Road:
    """What every page of one job meets, in order."""

    def __init__(self, world: World, job: CrawlJob, gate: LinkGate) -> None:
        config, rules = job.config, gate.rules
        self._world = world
        self._config = config
        self._gate = gate
        self._rules = rules
        self._privacy = rules.privacy
        self._requests = Requests(config, job.seeds, version=world.version)
        self._robots = RobotsKeeper(world, job.id, config, self._requests, rules.privacy)
        self._revisits = Revisits(world, config)
        self._lessons = ChangeTracker(world, job)
        self._twins = Duplicates(world, rules)
        self._missing = Soft404(config.extract)
        self._reader = PageReader(world, job.id, config, rules.privacy)
        self._fates = VisitEndings(world, gate)
        self._fingerprint = world.meter.timed("fingerprint", fingerprint)
        self._admit = world.meter.timed("links", gate.admit)

    async def visit(self, entry: UrlEntry, asker: HostSession) -> ClosedVisit | None:
        """Take one entry down the road and return what is to be settled.

        None where robots.txt asks for a rest that is too long to hold the host for: nothing was
        asked for, and the entry waits with its host.
        """
        if (closed := await self._without_asking(entry, asker)) is not None:
            return await self._lessons.put_off(closed) if self._lessons.is_again else closed
        url = split(entry.url)
        reading = await self._robots.read(url, asker)
        if asker.must_rest() and reading.unreached is None and reading.judge(url).admitted:
            return None
        known = await self._revisits.known(entry)
        visit = await self._walk(entry, url, asker, reading, known)
        if known is not None:
            visit = await self._lessons.learn(visit, known.page)
        if self._lessons.is_again:
            visit = await self._lessons.only_news(visit)
        if entry.kind is not EntryKind.PAGE:  # a host asked for a list alone leads no further
            return visit
        return visit.adding(self._gate.sitemaps(reading.file.sitemaps, url))

    def unvisited(self, entry: UrlEntry, asker: HostSession) -> ClosedVisit:
        """Close an entry without asking a host that has just failed again and again."""
        if entry.outcome in KEPT_OUTCOMES:
            return self._fates.expanded(entry, asker, NO_LINKS)
        detail = f"`{entry.host}` failed {asker.state.errors} times in a row; not asked again now"
        return self._fates.failed(entry, asker, Outcome.CONNECT_ERROR, detail)

    async def _without_asking(self, entry: UrlEntry, asker: HostSession) -> ClosedVisit | None:
        """Close what is here already, what no rule wants any more, and what its site refuses us."""
        if entry.outcome in KEPT_OUTCOMES:
            return await self._expand(entry, asker)
        if (verdict := self._gate.recheck(entry)) is not None:
            return self._fates.dropped(entry, asker, verdict)
        if entry.kind is EntryKind.PAGE and entry.is_known:
            wall_s = self._world.clock.wall_s()
            refusal = await self._world.store.refusals.find(entry.url_hash, wall_s=wall_s)
            if refusal is not None:
                return self._fates.left_alone(entry, asker, refusal)
        return None

    async def _walk(
        self,
        entry: UrlEntry,
        url: Url,
        asker: HostSession,
        reading: JobRobots,
        known: EarlierPage | None,
    ) -> ClosedVisit:
        if reading.unreached is not None:
            return self._fates.failed(entry, asker, reading.unreached, reading.copy.detail)
        listed = ListReader(entry)
        fetched = await self._fetch(entry, url, asker, reading, known, listed)
        if isinstance(fetched, Verdict):
            return self._fates.blocked(entry, asker, reading, fetched)
        conditions = self._revisits.conditions(known, fetched.url)
        outcome = respond(fetched, is_conditional=bool(conditions))
        if outcome is Outcome.REDIRECTED:
            return self._fates.redirected(entry, asker, fetched)
        fetched = self._privacy.answer(fetched)
        if outcome is Outcome.NOT_MODIFIED and known is not None:
            return await self._renew(
                entry, asker, fetched, known, read_directives(reading, fetched)
            )
        if outcome is not Outcome.OK:
            self._missing.learn(entry.host, fetched)
            detail = fetched.detail or (last_seen(known) if outcome is Outcome.GONE else "")
            return self._fates.failed(entry, asker, outcome, detail, fetched)
        if entry.kind is not EntryKind.PAGE:
            wall_s = self._world.clock.wall_s()
            found, problem = listed.found(fetched, self._gate, wall_s=wall_s)
            return self._fates.listed(entry, asker, fetched, found, problem)
        if not is_readable(kind := fetched.header("content-type")):
            detail = f"`{kind}` cannot be read as text"
            return self._fates.failed(entry, asker, Outcome.WRONG_TYPE, detail, fetched)
        article = await self._reader.read(fetched, asker)
        if article is None:
            return self._fates.failed(
                entry, asker, Outcome.TOO_COMPLEX, "parsing took too long", fetched
            )
        if article.unreadable:
            return self._fates.failed(entry, asker, Outcome.WRONG_TYPE, article.unreadable, fetched)
        wishes = read_directives(reading, fetched, article)
        return await self._keep(entry, asker, fetched, article, wishes)

    async def _fetch(
        self,
        entry: UrlEntry,
        url: Url,
        asker: HostSession,
        reading: JobRobots,
        known: EarlierPage | None,
        listed: ListReader,
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
            asker.allowed_by(reading.fetched_s, reading.rule(url).line)
            asked.add(url.href)
            conditions = self._revisits.conditions(known, url.href)
            fetched = await asker.ask(self._requests.page(entry, url, conditions, listed.sink))
            respelled = self._rules.respelled(entry, response.redirect_target(fetched))
            is_last = entry.hops + len(asked) > self._config.http.max_redirects
            if respelled is None or respelled.href in asked or is_last:
                return fetched
            url = respelled

    async def _keep(
        self,
        entry: UrlEntry,
        asker: HostSession,
        fetched: Fetched,
        article: Article,
        wishes: Directives,
    ) -> ClosedVisit:
        """Decide what is kept of a page that came and was read, and which links it adds."""
        if (sign := self._missing.sign(entry.host, fetched, article)) is not None:
            return self._fates.failed(entry, asker, Outcome.SOFT_404, sign, fetched)
        nofollow = wishes.nofollow
        offered = self._gate.offered(article.links)
        body = self._privacy.body(fetched, article)
        mark = self._fingerprint(article.text, body, offered, nofollow=nofollow)
        named = canonical_target(entry, article.canonical, self._rules)
        duplicate = await self._twins.find(entry, mark, named)
        follows = await self._follows(entry, exact_duplicate(duplicate), nofollow=nofollow)
        cut = article.links_left_out
        found = self._admit(entry, fetched.url, article.links, nofollow=not follows, left_out=cut)
        brought = VisitFindings(found, article.text, duplicate, named if follows else None)
        if wishes.noindex:
            return self._unwanted(entry, asker, fetched, brought, wishes)
        rendering = decide_rendering(self._config.render, article.needs_browser)
        if not article.text and not (article.needs_browser and rendering.is_wanted):
            return self._fates.passed_over(
                entry, asker, Outcome.EMPTY, fetched, brought, article.needs_browser
            )
        if held := self._privacy.objection(article):
            return self._fates.passed_over(entry, asker, Outcome.PRIVATE, fetched, brought, held)
        at_s = self._world.clock.wall_s()
        portrait = KeptPage(
            entry,
            fetched,
            article,
            mark,
            duplicate,
            rendering,
            nofollow,
            wishes.signals,
            self._revisits.rules,
            at_s,
        )
        self._reader.learn(article, asker)
        row = page_record(portrait, due_s=self._due_s(entry, at_s))
        keepsake = StoredPage(row, kept_capture(portrait, self._config))
        outcome = Outcome.DUPLICATE if exact_duplicate(duplicate) else Outcome.OK
        return self._kept(entry, asker, outcome, fetched, brought, keepsake)

    async def _renew(
        self,
        entry: UrlEntry,
        asker: HostSession,
        fetched: Fetched,
        known: EarlierPage,
        wishes: Directives,
    ) -> ClosedVisit:
        """Keep a page that has not changed since the last visit as a page of this job."""
        nofollow = known.nofollow or wishes.nofollow
        named = canonical_target(entry, known.canonical, self._rules)
        duplicate = await self._twins.find(entry, known.page.fingerprint, named)
        follows = await self._follows(entry, exact_duplicate(duplicate), nofollow=nofollow)
        found = self._admit(entry, fetched.url, known.links, nofollow=not follows)
        brought = VisitFindings(found, known.text, duplicate, named if follows else None)
        if wishes.noindex:
            return self._unwanted(entry, asker, fetched, brought, wishes)
        at_s = self._world.clock.wall_s()
        again_s = self._due_s(entry, at_s)
        signals = still_said(known.signals, wishes.signals)
        renewal = UnchangedVisit(
            entry, fetched, duplicate, signals, fetched_at_s=at_s, due_s=again_s
        )
        keepsake = StoredPage(unchanged_row(known, renewal), unchanged_capture(known, renewal))
        outcome = Outcome.DUPLICATE if exact_duplicate(duplicate) else Outcome.NOT_MODIFIED
        return self._kept(entry, asker, outcome, fetched, brought, keepsake)

    async def _expand(self, entry: UrlEntry, asker: HostSession) -> ClosedVisit:
        """Follow the links of a kept page anew; a worker elsewhere may still have its bytes."""
        try:
            known = await self._revisits.again(entry)
        except BytesMissing:
            if entry.attempts < UNSENT_TRIES:
                return self._fates.put_off(entry, asker, UNSENT_WAIT_S)
            known = None
        found = NO_LINKS if known is None else await self._links_again(entry, known)
        return self._fates.expanded(entry, asker, found)

    async def _links_again(self, entry: UrlEntry, known: EarlierPage) -> FoundLinks:
        """Judge the links of a page of this job once more, from where it was found now."""
        twin = await self._twins.exact(entry, known.page.fingerprint)
        follows = await self._follows(entry, twin, nofollow=known.nofollow)
        return self._admit(entry, known.page.final_url, known.links, nofollow=not follows)

    def _unwanted(
        self,
        entry: UrlEntry,
        asker: HostSession,
        fetched: Fetched,
        brought: VisitFindings,
        wishes: Directives,
    ) -> ClosedVisit:
        """Pass over a page that asks not to be kept, and say where it asks (ROB-33)."""
        detail = f"its {wishes.noindex} says noindex"
        return self._fates.passed_over(entry, asker, Outcome.NOINDEX, fetched, brought, detail)

    async def _follows(self, entry: UrlEntry, twin: KnownPage | None, *, nofollow: bool) -> bool:
        """Whether links are followed; those that an exact twin has brought add nothing (C-41)."""
        if nofollow or twin is None or self._config.scope.links_of_duplicates:
            return not nofollow
        return not await self._twins.speaks_for(twin, entry)

    def _kept(
        self,
        entry: UrlEntry,
        asker: HostSession,
        outcome: Outcome,
        fetched: Fetched,
        brought: VisitFindings,
        keepsake: StoredPage,
    ) -> ClosedVisit:
        self._twins.remember(keepsake.page)
        return self._fates.kept(entry, asker, outcome, fetched, brought, keepsake)

    def _due_s(self, entry: UrlEntry, at_s: float) -> float:
        """Return when a page met for the first time is due; `ChangeTracker` decides for others."""
        return first_due_s(at_s, self._config.recrawl, lastmod_s=entry.lastmod_s)
