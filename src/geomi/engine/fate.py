"""How a visit ends: every ending of the road as one settlement, and nothing else."""

from __future__ import annotations

from dataclasses import dataclass, replace

from geomi.engine.ask import Asker
from geomi.engine.links import Found, LinkGate
from geomi.engine.record import Portrait
from geomi.engine.robots import Reading
from geomi.engine.world import World
from geomi.fetch import redirect
from geomi.fetch.retry import parse_retry_after, retry
from geomi.frontier.state import settle_state
from geomi.model.config import CrawlConfig
from geomi.model.entry import Discovered, EntryKind, Settlement, UrlEntry
from geomi.model.page import Capture, Fetched, PageRecord
from geomi.model.verdict import Exclusion, Outcome, State, Verdict
from geomi.seed.sitemap import Sitemap

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
    }
)

NOTHING = Found()


@dataclass(frozen=True, slots=True)
class Visit:
    """A closed visit on its way to the store; `fetch_ms` and `links` are for its event."""

    settlement: Settlement
    capture: Capture | None = None
    fetch_ms: int = 0
    links: int = 0

    def adding(self, discovered: tuple[Discovered, ...]) -> Visit:
        """Return this visit with some more URLs found on the way."""
        if not discovered:
            return self
        more = replace(self.settlement, discovered=self.settlement.discovered + discovered)
        return replace(self, settlement=more)


class Fates:
    """The endings of one job's visits."""

    def __init__(self, world: World, config: CrawlConfig, gate: LinkGate) -> None:
        self._world = world
        self._config = config
        self._gate = gate

    def failed(
        self,
        entry: UrlEntry,
        asker: Asker,
        outcome: Outcome,
        detail: str,
        fetched: Fetched | None = None,
    ) -> Visit:
        """Close a visit that brought no page; the retry table says whether it is tried again."""
        answer = fetched or Fetched(entry.url)
        wait_s = self._wait_s(entry, outcome, answer)
        return self._close(entry, asker, outcome, answer, detail=detail, wait_s=wait_s)

    def blocked(self, entry: UrlEntry, asker: Asker, reading: Reading, verdict: Verdict) -> Visit:
        """Close a URL that robots.txt forbids, or let it wait for one that is out of order."""
        waits = reading.policy.is_temporary and entry.attempts + 1 < ROBOTS_TRIES
        wait_s = reading.policy.expires_s - self._world.clock.now_s() if waits else None
        answer = Fetched(entry.url)
        return self._close(
            entry, asker, Outcome.ROBOTS, answer, detail=verdict.detail, wait_s=wait_s
        )

    def redirected(self, entry: UrlEntry, asker: Asker, fetched: Fetched) -> Visit:
        """Close a redirect: its target becomes an entry of its own, judged like any other."""
        target = redirect.target(fetched) or ""
        if entry.hops >= self._config.http.max_redirects:
            detail = f"more than {self._config.http.max_redirects} redirects, the last to {target}"
            return self._close(entry, asker, Outcome.TOO_MANY_REDIRECTS, fetched, detail=detail)
        answer = self._gate.follow(entry, target)
        if isinstance(answer, Verdict):
            found = Found(excluded=(Exclusion(answer.rule, target, answer.detail),))
            detail = f"redirects to {target}, which rule {answer.rule} excludes"
            return self._close(
                entry, asker, Outcome.REDIRECT_EXCLUDED, fetched, detail=detail, found=found
            )
        found = Found(discovered=(answer,))
        return self._close(
            entry, asker, Outcome.REDIRECTED, fetched, detail=f"redirects to {target}", found=found
        )

    def sitemap(self, entry: UrlEntry, asker: Asker, fetched: Fetched, content: Sitemap) -> Visit:
        """Close a sitemap: its URLs are found, the file itself is not a page."""
        found = self._gate.admit_sitemap(entry, content)
        return self._close(entry, asker, Outcome.OK, fetched, detail=content.problem, found=found)

    def passed_over(
        self, entry: UrlEntry, asker: Asker, outcome: Outcome, fetched: Fetched, found: Found
    ) -> Visit:
        """Close a page that was read and is not kept; its links count all the same (LNK-12)."""
        return self._close(entry, asker, outcome, fetched, found=found)

    def kept(
        self,
        asker: Asker,
        outcome: Outcome,
        portrait: Portrait,
        page: PageRecord,
        found: Found,
        archived: Capture,
    ) -> Visit:
        """Close a page that is kept."""
        repeats = f"repeats {portrait.twin}" if outcome is Outcome.DUPLICATE else ""
        visit = self._close(
            portrait.entry, asker, outcome, portrait.fetched, detail=repeats, found=found
        )
        return replace(visit, settlement=replace(visit.settlement, page=page), capture=archived)

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

    def _close(
        self,
        entry: UrlEntry,
        asker: Asker,
        outcome: Outcome,
        fetched: Fetched,
        *,
        detail: str = "",
        wait_s: float | None = None,
        found: Found = NOTHING,
    ) -> Visit:
        now_s = self._world.clock.now_s()
        state = settle_state(outcome, will_retry=wait_s is not None)
        requests, bytes_received = asker.spend()
        settlement = Settlement(
            entry=entry,
            token=asker.lease.token,
            outcome=outcome,
            state=state,
            settled_s=now_s,
            due_s=now_s + wait_s if wait_s is not None else 0.0,
            status=fetched.status or None,
            detail=detail,
            counts=self._counts(entry, outcome, state),
            bytes_received=bytes_received,
            requests=requests,
            discovered=found.discovered,
            excluded=found.excluded,
        )
        return Visit(settlement, None, fetched.fetch_ms, found.links)

    def _counts(self, entry: UrlEntry, outcome: Outcome, state: State) -> bool:
        return (
            entry.kind is EntryKind.PAGE and state is not State.PENDING and outcome not in UNCOUNTED
        )
