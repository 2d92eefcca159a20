"""Close a visit: every way in which it can end, as one settlement.

`VisitEndings` has one method for each ending. `VisitFindings` is what a page that was read
brought: its links after the rules, its text, and the page that it duplicates.

Rules kept:
- An ending that reached no page of its own does not count against `max_pages`.
- A failure says nothing about the pattern of its URL: deleted pages are no trap.
- Details and exclusions pass `Privacy` before they are settled.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime

from geomi.engine.host.robots import JobRobots
from geomi.engine.host.session import HostSession
from geomi.engine.visit.duplicates import describe_duplicate, exact_duplicate
from geomi.engine.visit.links import FoundLinks, LinkGate
from geomi.engine.visit.record import StoredPage
from geomi.engine.visit.sitemap_copy import SitemapFile
from geomi.engine.world import World
from geomi.fetch import response
from geomi.fetch.retry import parse_retry_after, retry
from geomi.frontier.state import StateChange, change_state, settle_state
from geomi.model.entry import Discovered, EntryKind, Novelty, Settlement, Source, UrlEntry
from geomi.model.page import Capture, Duplicate, Fetched
from geomi.model.site import Refusal
from geomi.model.verdict import Exclusion, Outcome, State, Verdict

# robots.txt that is out of order is asked for again this often before its pages count as blocked.
ROBOTS_TRIES = 3
# Endings that never reached a page of their own: they do not use up `max_pages`.
UNCOUNTED = frozenset(
    {
        Outcome.REDIRECTED,
        Outcome.REDIRECT_EXCLUDED,
        Outcome.TOO_MANY_REDIRECTS,
        Outcome.ROBOTS,
        Outcome.ADDRESS_REFUSED,
        Outcome.EXCLUDED,
        Outcome.TRAPPED,
        Outcome.LEFT_ALONE,
    }
)
# G-01: 401, 407 and 451 refuse in the same way, and not for longer than this job.
REFUSED_FOR_LONG = 403
SIGNED_IN = "asked for as signed in"
NO_LINKS = FoundLinks()


@dataclass(frozen=True, slots=True)
class Visit:
    """One attempt to fetch an entry, through the session of its host."""

    entry: UrlEntry
    session: HostSession


@dataclass(frozen=True, slots=True)
class VisitFindings:
    """Links after the rules, a text, and whose it repeats.

    Args:
        found: what may count as new. That every page of a calendar names its front page as
            canonical does not make the calendar worth going on with.
        named: what the page names as canonical, if that is followed.
    """

    found: FoundLinks
    text: str
    duplicate: Duplicate | None
    named: Discovered | None

    def all_found(self, found: FoundLinks) -> FoundLinks:
        """Return everything the page leads to; `found` are its links in their spaces."""
        if self.named is None:
            return found
        return replace(found, discovered=(*found.discovered, self.named))


@dataclass(frozen=True, slots=True)
class ClosedVisit:
    """A closed visit on its way to the store; `fetch_ms` and `links` are for its event.

    Args:
        is_news: False where the entry had ended before and was told of then.
        sitemap: the file that was read, where the job keeps it.
    """

    settlement: Settlement
    capture: Capture | None = None
    fetch_ms: int = 0
    links: int = 0
    is_news: bool = True
    sitemap: SitemapFile | None = None

    def adding(self, found: FoundLinks) -> ClosedVisit:
        """Return this visit with what else was found on the way."""
        if not found.discovered and not found.excluded:
            return self
        settled = self.settlement
        more = replace(
            settled,
            discovered=settled.discovered + found.discovered,
            excluded=settled.excluded + found.excluded,
        )
        return replace(self, settlement=more)


@dataclass(frozen=True, slots=True)
class _End:
    """In what one ending differs from another.

    Args:
        wait_s: after how long the entry is tried again; None when it is not.
        is_asked: whether the entry itself was asked for now, so that it may count as a page.
    """

    detail: str = ""
    wait_s: float | None = None
    found: FoundLinks = NO_LINKS
    novelty: Novelty | None = None
    refusal: Refusal | None = None
    stored: StoredPage | None = None
    is_asked: bool = True


class VisitEndings:
    """The endings of one job's visits."""

    def __init__(self, world: World, gate: LinkGate) -> None:
        self._world = world
        self._config = gate.rules.config
        self._gate = gate
        self._privacy = gate.rules.privacy

    # nothing was asked

    def expanded(self, visit: Visit, found: FoundLinks) -> ClosedVisit:
        """Close a page once more, whose links were found to lie less deep; it stays as it was."""
        entry = visit.entry
        assert entry.outcome is not None, "only a page that was kept is expanded"
        answer = Fetched(entry.url, entry.status or 0)
        end = _End(detail=entry.detail, found=found, is_asked=False)
        return replace(self._close(visit, entry.outcome, answer, end), is_news=False)

    def put_off(self, visit: Visit, wait_s: float) -> ClosedVisit:
        """Let a page that was kept wait, with its outcome: its bytes are not here yet."""
        closed = self.expanded(visit, NO_LINKS)
        due_s = self._world.clock.now_s() + wait_s
        state = change_state(StateChange.RETRY, visit.entry.state)
        settlement = replace(closed.settlement, state=state, due_s=due_s)
        return replace(closed, settlement=settlement)

    def dropped(self, visit: Visit, verdict: Verdict) -> ClosedVisit:
        """Close a URL that a rule no longer wants."""
        entry = visit.entry
        is_trap = verdict.rule.startswith("trap.")
        outcome = Outcome.TRAPPED if is_trap else Outcome.EXCLUDED
        detail = f"{verdict.rule}: {verdict.detail}" if verdict.detail else verdict.rule
        found = FoundLinks(excluded=(Exclusion(verdict.rule, entry.url, verdict.detail),))
        end = _End(detail=detail, found=found, is_asked=False)
        return self._close(visit, outcome, Fetched(entry.url), end)

    def left_alone(self, visit: Visit, refusal: Refusal) -> ClosedVisit:
        """Close a URL whose site refused it before (ERR-04, C-91)."""
        until = "for good" if refusal.until_s is None else f"until {_day(refusal.until_s)}"
        detail = f"{refusal.reason} on {_day(refusal.since_s)}; left alone {until}"
        end = _End(detail=detail, is_asked=False)
        return self._close(visit, Outcome.LEFT_ALONE, Fetched(visit.entry.url), end)

    def deadly(self, visit: Visit) -> ClosedVisit:
        """Close a URL of which processes have died, also where it was read in one of its own."""
        detail = f"{visit.entry.deaths} processes died while they had it in hand; not asked again"
        end = _End(detail=detail)  # it was asked for in each of the visits before
        return self._close(visit, Outcome.POISONED, Fetched(visit.entry.url), end)

    def blocked(self, visit: Visit, robots: JobRobots, verdict: Verdict) -> ClosedVisit:
        """Close a URL that robots.txt forbids, or let it wait for one that is out of order."""
        entry = visit.entry
        waits = robots.policy.is_temporary and entry.attempts + 1 < ROBOTS_TRIES
        wait_s = robots.policy.expires_s - self._world.clock.now_s() if waits else None
        end = _End(detail=verdict.detail, wait_s=wait_s)
        return self._close(visit, Outcome.ROBOTS, Fetched(entry.url), end)

    # no page came

    def failed(
        self, visit: Visit, outcome: Outcome, detail: str, fetched: Fetched | None = None
    ) -> ClosedVisit:
        """Close a visit that brought no page; the retry table says whether it is tried again."""
        entry = visit.entry
        if outcome is Outcome.GONE and _is_guess(entry):
            outcome, detail = Outcome.EMPTY, "there is none"
        answer = fetched or Fetched(entry.url)
        # A failure says nothing about the pattern of its URL: deleted pages are no trap.
        end = _End(
            detail=detail,
            wait_s=self._wait_s(entry, outcome, answer),
            refusal=self._refusal(entry, answer),
        )
        return self._close(visit, outcome, answer, end)

    def redirected(self, visit: Visit, fetched: Fetched) -> ClosedVisit:
        """Close a redirect: its target becomes an entry of its own, judged like any other."""
        entry = visit.entry
        target = response.redirect_target(fetched) or ""
        outcome, detail, found = Outcome.REDIRECTED, f"redirects to {target}", NO_LINKS
        if entry.hops >= self._config.http.max_redirects:
            outcome = Outcome.TOO_MANY_REDIRECTS
            detail = f"more than {self._config.http.max_redirects} redirects, the last to {target}"
        elif isinstance(answer := self._gate.follow(entry, target), Verdict):
            outcome = Outcome.REDIRECT_EXCLUDED
            detail = f"redirects to {target}, which rule {answer.rule} excludes"
            found = FoundLinks(excluded=(Exclusion(answer.rule, target, answer.detail),))
        else:
            found = FoundLinks(discovered=(answer,))
        end = _End(detail=detail, found=found, novelty=self._gate.redirect_novelty(entry, found))
        return self._close(visit, outcome, fetched, end)

    # something was read

    def listed(
        self, visit: Visit, fetched: Fetched, found: FoundLinks, problem: str
    ) -> ClosedVisit:
        """Close a list of URLs: what it names is found, the file itself is not a page."""
        return self._close(visit, Outcome.OK, fetched, _End(detail=problem, found=found))

    def passed_over(
        self,
        visit: Visit,
        outcome: Outcome,
        fetched: Fetched,
        findings: VisitFindings,
        detail: str = "",
    ) -> ClosedVisit:
        """Close a page that was read and is not kept; its links count all the same (LNK-12)."""
        found, novelty = self._weigh(visit, findings)
        end = _End(detail=detail, found=found, novelty=novelty)
        return self._close(visit, outcome, fetched, end)

    def kept(
        self,
        visit: Visit,
        outcome: Outcome,
        fetched: Fetched,
        findings: VisitFindings,
        stored: StoredPage,
    ) -> ClosedVisit:
        """Close a page that is kept."""
        found, novelty = self._weigh(visit, findings)
        detail = describe_duplicate(findings.duplicate)
        end = _End(detail=detail, found=found, novelty=novelty, stored=stored)
        return self._close(visit, outcome, fetched, end)

    def _wait_s(self, entry: UrlEntry, outcome: Outcome, fetched: Fetched) -> float | None:
        if entry.attempts >= self._config.http.max_retries:
            return None
        asked_s = parse_retry_after(
            fetched.header("retry-after"), wall_s=self._world.clock.wall_s()
        )
        return retry(
            outcome,
            fetched.status,
            entry.attempts,
            retry_after_s=asked_s,
            rng=self._world.rng,
            config=self._config,
        )

    def _refusal(self, entry: UrlEntry, fetched: Fetched) -> Refusal | None:
        if fetched.status != REFUSED_FOR_LONG or entry.kind is not EntryKind.PAGE:
            return None
        now_s, long_s = self._world.clock.wall_s(), self._config.http.refused_for_s
        return Refusal(
            url_hash=entry.url_hash,
            url=entry.url,
            status=fetched.status,
            reason=f"HTTP {fetched.status}",
            since_s=now_s,
            until_s=now_s + long_s if long_s else None,
        )

    def _weigh(self, visit: Visit, findings: VisitFindings) -> tuple[FoundLinks, Novelty | None]:
        repeats = exact_duplicate(findings.duplicate) is not None
        found, novelty = self._gate.weigh(
            visit.entry, findings.found, findings.text, repeats=repeats
        )
        return findings.all_found(found), novelty

    def _close(self, visit: Visit, outcome: Outcome, fetched: Fetched, end: _End) -> ClosedVisit:
        entry = visit.entry
        now_s = self._world.clock.now_s()
        state = settle_state(entry.state, outcome, will_retry=end.wait_s is not None)
        totals = visit.session.spend()
        settlement = Settlement(
            entry=entry,
            token=visit.session.lease.token,
            outcome=outcome,
            state=state,
            settled_s=now_s,
            due_s=now_s + end.wait_s if end.wait_s is not None else 0.0,
            status=fetched.status or None,
            detail=self._privacy.told(_told(end.detail, fetched)),
            counts=end.is_asked and _counts(entry, outcome, state),
            bytes_received=totals.bytes,
            requests=totals.requests,
            discovered=end.found.discovered,
            excluded=self._privacy.exclusions(end.found.excluded),
            page=end.stored.page if end.stored else None,
            asked=totals.asked,
            novelty=end.novelty,
            refusal=end.refusal,
            endorsed=end.found.endorsed,
            media_type=response.told_type(fetched),
            body_bytes=response.told_length(fetched),
            answers=totals.answers,
        )
        archived = end.stored.capture if end.stored else None
        return ClosedVisit(settlement, archived, fetched.fetch_ms, end.found.links)


def _told(detail: str, fetched: Fetched) -> str:
    """Add that geomi signed in to what is said of a visit."""
    return "; ".join(filter(None, (detail, SIGNED_IN if fetched.signed_in else "")))


def _counts(entry: UrlEntry, outcome: Outcome, state: State) -> bool:
    return entry.kind is EntryKind.PAGE and state is not State.PENDING and outcome not in UNCOUNTED


def _is_guess(entry: UrlEntry) -> bool:
    """Whether a list was asked for on the chance that it is there; nobody had named it."""
    return entry.kind is not EntryKind.PAGE and entry.source is Source.SEED


def _day(at_s: float) -> str:
    return datetime.fromtimestamp(at_s, UTC).date().isoformat()
