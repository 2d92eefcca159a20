"""The road of one page, top to bottom; a visit ends at the first step that closes it.

A worker has claimed the entry, and holds the lease of its host.

1. Admit: judge the URL again (`rules`), and look whether its site has refused it.
2. Robots: read the host's robots.txt.
3. Fetch: send one request through the host session, and judge the status of the answer.
4. Parse: read a list into URLs, a page into an article; a page may say that there is nothing.
5. Find: which page it duplicates (`duplicates`), and which of its links are new (`links`).
6. Record: write down what is kept of the page (`record`), and when it is due again (`revisit`).

Whatever happens, the end is one `ClosedVisit` (`endings`): a settlement for the store and, where
the page is kept, a capture for the archive. Nothing here writes; the settler does.
"""

from __future__ import annotations

from dataclasses import replace

from geomi.dedup.decide import fingerprint
from geomi.engine.host.robots import JobRobots, RobotsKeeper
from geomi.engine.host.session import HostSession
from geomi.engine.host.sign_in import SignIns
from geomi.engine.visit.directives import Directives, canonical_target, read_directives
from geomi.engine.visit.duplicates import Duplicates, exact_duplicate
from geomi.engine.visit.endings import NO_LINKS, ClosedVisit, Visit, VisitEndings, VisitFindings
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
from geomi.fetch.request import Requests
from geomi.fetch.response import decide_rendering, respond
from geomi.model.entry import EntryKind, Settlement, UrlEntry
from geomi.model.job import CrawlJob
from geomi.model.page import Article, Fetched, Fingerprint, KnownPage
from geomi.model.verdict import Outcome, State, Verdict
from geomi.model.worker import ALONE_AFTER, POISONED_AFTER, WorkKind
from geomi.ports.runtime import Unread
from geomi.recrawl.due import first_due_s
from geomi.robots.signals import still_said
from geomi.url.parse import split

# A page that was kept by a worker of another machine can be read once that worker has sent it,
# which it does within minutes; one that is not there by then is lost, and fetched anew elsewhere.
UNSENT_WAIT_S = 20.0
UNSENT_TRIES = 30


class Road:
    """The steps that every page of one job passes, in their order."""

    def __init__(self, world: World, job: CrawlJob, gate: LinkGate) -> None:
        config, rules = job.config, gate.rules
        self._world = world
        self._config = config
        self._gate = gate
        self._rules = rules
        self._privacy = rules.privacy
        self._requests = Requests(config, job.seeds, version=world.version)
        self._sign_ins = SignIns(world, job, self._requests) if config.http.sign_in else None
        self._robots = RobotsKeeper(world, job.id, config, self._requests, rules.privacy)
        self._revisits = Revisits(world, job)
        self._keeps_sitemaps = config.keeps_sitemaps
        self._changes = ChangeTracker(world, job)
        self._duplicates = Duplicates(world, rules)
        self._soft404 = Soft404(config.extract)
        self._reader = PageReader(world, job.id, config, rules.privacy)
        self._endings = VisitEndings(world, gate)
        self._fingerprint = world.meter.timed("fingerprint", fingerprint)

    async def visit(self, entry: UrlEntry, session: HostSession) -> ClosedVisit | None:
        """Take one entry down the road and return what is to be settled.

        What processes have died of is forgotten when it has come to any other end. None where
        robots.txt asks for a rest that is too long to hold the host for: nothing was asked for, and
        the entry waits with its host.
        """
        closed = await self._visit(entry, session)
        if entry.deaths and closed is not None and _is_read(closed.settlement):
            await self._world.store.suspects.clear(WorkKind.PAGE, entry.url_hash)
        return closed

    async def _visit(self, entry: UrlEntry, session: HostSession) -> ClosedVisit | None:
        visit = Visit(entry, session)
        if (closed := await self._admit(visit)) is not None:
            return await self._changes.put_off(closed) if self._changes.is_again else closed
        url = split(entry.url)
        robots = await self._robots.read(url, session, alone=_is_alone(entry))
        if session.must_rest() and robots.unreached is None and robots.judge(url).admitted:
            return None
        earlier = await self._revisits.known(entry)
        closed = await self._ask(visit, robots, earlier)
        if earlier is not None:
            closed = await self._changes.learn(closed, earlier.page)
        if self._changes.is_again:
            closed = await self._changes.only_news(closed)
        if entry.kind is not EntryKind.PAGE:  # a host asked for a list alone leads no further
            return closed
        return closed.adding(self._gate.sitemaps(robots.file.sitemaps, url))

    async def unvisited(self, entry: UrlEntry, session: HostSession) -> ClosedVisit:
        """Close an entry without asking a host that has just failed again and again."""
        visit = Visit(entry, session)
        if entry.outcome in KEPT_OUTCOMES:
            return self._endings.expanded(visit, NO_LINKS)
        detail = f"`{entry.host}` failed {session.state.errors} times in a row; not asked again now"
        closed = self._endings.failed(visit, Outcome.CONNECT_ERROR, detail)
        earlier = await self._revisits.known(entry)
        return closed if earlier is None else await self._changes.learn(closed, earlier.page)

    async def _admit(self, visit: Visit) -> ClosedVisit | None:
        """Close what is here already, what no rule wants any more, and what its site refuses us."""
        entry = visit.entry
        is_kept = entry.outcome in KEPT_OUTCOMES
        if entry.deaths >= POISONED_AFTER:
            end = self._endings
            return end.expanded(visit, NO_LINKS) if is_kept else end.deadly(visit)
        if is_kept:
            return await self._expand(visit)
        if (verdict := self._gate.recheck(entry)) is not None:
            return self._endings.dropped(visit, verdict)
        if entry.kind is EntryKind.PAGE and entry.is_known:
            wall_s = self._world.clock.wall_s()
            refusal = await self._world.store.refusals.find(entry.url_hash, wall_s=wall_s)
            # Who signs in now may be let in.
            signs_in = self._sign_ins
            if refusal is not None and not (signs_in and await signs_in.covers(split(entry.url))):
                return self._endings.left_alone(visit, refusal)
        return None

    async def _expand(self, visit: Visit) -> ClosedVisit:
        """Follow the links of a kept page anew; a worker elsewhere may still have its bytes."""
        entry = visit.entry
        try:
            earlier = await self._revisits.again(entry)
        except BytesMissing:
            if entry.attempts < UNSENT_TRIES:
                return self._endings.put_off(visit, UNSENT_WAIT_S)
            earlier = None
        found = NO_LINKS if earlier is None else await self._links_again(visit, earlier)
        return self._endings.expanded(visit, found)

    async def _links_again(self, visit: Visit, earlier: EarlierPage) -> FoundLinks:
        """Judge the links of a page of this job once more, from where it was found now."""
        entry = visit.entry
        twin = await self._duplicates.exact(entry, earlier.page.fingerprint)
        follows = await self._follows(entry, twin, nofollow=earlier.nofollow)
        return await self._gate.admit(
            entry,
            earlier.page.final_url,
            earlier.links,
            nofollow=not follows,
            rest=visit.session.pause,
        )

    async def _ask(
        self, visit: Visit, robots: JobRobots, earlier: EarlierPage | None
    ) -> ClosedVisit:
        """Fetch an entry, and close the visit by what the answer is."""
        if robots.unreached is not None:
            return self._endings.failed(visit, robots.unreached, robots.copy.detail)
        entry = visit.entry
        reader = ListReader(entry, keeps=self._keeps_sitemaps, alone=_is_alone(entry))
        fetched = await self._fetch(visit, robots, earlier, reader)
        if isinstance(fetched, Verdict):
            return self._endings.blocked(visit, robots, fetched)
        is_conditional = bool(self._revisits.conditions(earlier, fetched.url))
        outcome = respond(fetched, is_conditional=is_conditional)
        if outcome is Outcome.REDIRECTED:
            return self._endings.redirected(visit, fetched)
        fetched = self._privacy.answer(fetched)
        if outcome is Outcome.NOT_MODIFIED and earlier is not None:
            directives = read_directives(robots, fetched)
            return await self._keep_unchanged(visit, fetched, earlier, directives)
        if outcome is not Outcome.OK:
            if not _is_alone(entry):
                self._soft404.learn(entry.host, fetched)
            detail = fetched.detail or (last_seen(earlier) if outcome is Outcome.GONE else "")
            return self._endings.failed(visit, outcome, detail, fetched)
        if entry.kind is not EntryKind.PAGE:
            unread = await visit.session.hold(reader.rehearse(fetched, self._world.compute))
            if unread is not None:
                return self._unread(visit, fetched, unread)
            wall_s = self._world.clock.wall_s()
            rest = visit.session.pause
            found, problem = await reader.found(fetched, self._gate, wall_s=wall_s, rest=rest)
            closed = self._endings.listed(visit, fetched, found, problem)
            return replace(closed, sitemap=reader.kept())
        article = await self._parse(visit, fetched)
        if isinstance(article, ClosedVisit):
            return article
        directives = read_directives(robots, fetched, article)
        return await self._keep(visit, fetched, article, directives)

    async def _fetch(
        self, visit: Visit, robots: JobRobots, earlier: EarlierPage | None, reader: ListReader
    ) -> Fetched | Verdict:
        """Ask for an entry, and again where it redirects to another spelling of its own URL.

        `/docs` and `/docs/` have one identity (C-18): the frontier would take the target for the
        entry that it has already, and the page would be lost.
        """
        entry, session = visit.entry, visit.session
        url, asked = split(entry.url), set[str]()
        while True:
            verdict = robots.judge(url)
            if not verdict.admitted:
                return verdict
            shown = await self._sign_ins.headers(url, session, robots) if self._sign_ins else ()
            session.allowed_by(robots.fetched_s, robots.rule(url).line)
            asked.add(url.href)
            conditions = self._revisits.conditions(earlier, url.href)
            request = self._requests.page(entry, url, conditions, reader.sink, shown)
            fetched = await session.ask(request)
            respelled = self._rules.respelled(entry, response.redirect_target(fetched))
            is_last = entry.hops + len(asked) > self._config.http.max_redirects
            if respelled is None or respelled.href in asked or is_last:
                return fetched
            url = respelled

    async def _parse(self, visit: Visit, fetched: Fetched) -> Article | ClosedVisit:
        """Read a page; close the visit where it cannot be read, or says that there is nothing."""
        if not is_readable(kind := fetched.header("content-type")):
            problem = f"`{kind}` cannot be read as text"
            return self._endings.failed(visit, Outcome.WRONG_TYPE, problem, fetched)
        alone = _is_alone(visit.entry)
        article = await self._reader.read(fetched, visit.session, alone=alone)
        if isinstance(article, Unread):
            return self._unread(visit, fetched, article)
        if article.unreadable:
            outcome, problem = Outcome.WRONG_TYPE, article.unreadable
        elif (sign := self._soft404.sign(visit.entry.host, fetched, article)) is not None:
            outcome, problem = Outcome.SOFT_404, sign
        else:
            return article
        return self._endings.failed(visit, outcome, problem, fetched)

    def _unread(self, visit: Visit, fetched: Fetched, unread: Unread) -> ClosedVisit:
        """Close a visit whose answer nobody can read."""
        outcome, problem, deaths = Outcome.TOO_COMPLEX, unread.reason, visit.entry.deaths
        if unread.crashed or _is_alone(visit.entry):
            outcome = Outcome.POISONED
        if deaths:
            problem = f"{deaths} processes died while they had it in hand, and then {problem}"
        return self._endings.failed(visit, outcome, problem, fetched)

    async def _find(
        self,
        visit: Visit,
        final_url: str,
        page: Article | EarlierPage,
        fingerprint: Fingerprint,
        *,
        nofollow: bool,
        left_out: int = 0,
    ) -> VisitFindings:
        """Find which page a page repeats, and judge its links."""
        entry = visit.entry
        named = canonical_target(entry, page.canonical, self._rules)
        duplicate = await self._duplicates.find(entry, fingerprint, named)
        follows = await self._follows(entry, exact_duplicate(duplicate), nofollow=nofollow)
        found = await self._gate.admit(
            entry,
            final_url,
            page.links,
            nofollow=not follows,
            left_out=left_out,
            rest=visit.session.pause,
        )
        return VisitFindings(found, page.text, duplicate, named if follows else None)

    async def _follows(self, entry: UrlEntry, twin: KnownPage | None, *, nofollow: bool) -> bool:
        """Whether links are followed; those that an exact twin has brought add nothing (C-41)."""
        if nofollow or twin is None or self._config.scope.links_of_duplicates:
            return not nofollow
        return not await self._duplicates.speaks_for(twin, entry)

    async def _keep(
        self, visit: Visit, fetched: Fetched, article: Article, directives: Directives
    ) -> ClosedVisit:
        """Decide what is kept of a page that was read, and which links it adds."""
        entry, nofollow = visit.entry, directives.nofollow
        offered = self._gate.offered(article.links)
        body = self._privacy.body(fetched, article)
        fingerprint = self._fingerprint(article.text, body, offered, nofollow=nofollow)
        findings = await self._find(
            visit,
            fetched.url,
            article,
            fingerprint,
            nofollow=nofollow,
            left_out=article.links_left_out,
        )
        if directives.noindex:
            return self._not_indexed(visit, fetched, findings, directives)
        rendering = decide_rendering(self._config.render, article.needs_browser)
        if not article.text and not (article.needs_browser and rendering.is_wanted):
            return self._endings.passed_over(
                visit, Outcome.EMPTY, fetched, findings, article.needs_browser
            )
        if held := self._privacy.objection(article):
            return self._endings.passed_over(visit, Outcome.PRIVATE, fetched, findings, held)
        at_s = self._world.clock.wall_s()
        page = KeptPage(
            entry,
            fetched,
            article,
            fingerprint,
            findings.duplicate,
            rendering,
            nofollow,
            directives.signals,
            self._revisits.rules,
            at_s,
        )
        self._reader.learn(article, visit.session)
        row = page_record(page, due_s=self._due_s(entry, at_s))
        stored = StoredPage(row, kept_capture(page, self._config))
        return self._kept(visit, Outcome.OK, fetched, findings, stored)

    async def _keep_unchanged(
        self, visit: Visit, fetched: Fetched, earlier: EarlierPage, directives: Directives
    ) -> ClosedVisit:
        """Keep a page that has not changed since the last visit as a page of this job."""
        entry, nofollow = visit.entry, earlier.nofollow or directives.nofollow
        findings = await self._find(
            visit, fetched.url, earlier, earlier.page.fingerprint, nofollow=nofollow
        )
        if directives.noindex:
            return self._not_indexed(visit, fetched, findings, directives)
        at_s = self._world.clock.wall_s()
        signals = still_said(earlier.signals, directives.signals)
        due_s = self._due_s(entry, at_s)
        unchanged = UnchangedVisit(
            entry, fetched, findings.duplicate, signals, fetched_at_s=at_s, due_s=due_s
        )
        row, capture = unchanged_row(earlier, unchanged), unchanged_capture(earlier, unchanged)
        stored = StoredPage(row, capture)
        return self._kept(visit, Outcome.NOT_MODIFIED, fetched, findings, stored)

    def _not_indexed(
        self, visit: Visit, fetched: Fetched, findings: VisitFindings, directives: Directives
    ) -> ClosedVisit:
        """Pass over a page that asks not to be kept, and say where it asks (ROB-33)."""
        detail = f"its {directives.noindex} says noindex"
        return self._endings.passed_over(visit, Outcome.NOINDEX, fetched, findings, detail)

    def _kept(
        self,
        visit: Visit,
        outcome: Outcome,
        fetched: Fetched,
        findings: VisitFindings,
        stored: StoredPage,
    ) -> ClosedVisit:
        """Close a page that is kept; the next page that comes may be its duplicate."""
        self._duplicates.remember(stored.page)
        if exact_duplicate(findings.duplicate) is not None:
            outcome = Outcome.DUPLICATE
        return self._endings.kept(visit, outcome, fetched, findings, stored)

    def _due_s(self, entry: UrlEntry, at_s: float) -> float:
        """Return when a page met for the first time is due; `ChangeTracker` decides for others."""
        return first_due_s(at_s, self._config.recrawl, lastmod_s=entry.lastmod_s)


def _is_alone(entry: UrlEntry) -> bool:
    """Whether what an entry brings is read in the process that can be killed."""
    return entry.deaths >= ALONE_AFTER


def _is_read(settlement: Settlement) -> bool:
    """Whether an entry has come to an end that no process died of."""
    is_over = settlement.state is not State.PENDING
    return is_over and settlement.outcome is not Outcome.POISONED
