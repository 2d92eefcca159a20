"""Find the page that another page duplicates: in the store, or on its way there.

Rules kept:
- A page may duplicate a page of any job of its tenant. It loses its links only to one of its own
  job, because a job has to reach by itself what it would have reached alone (C-41).
- A duplicate that lies deeper has brought those links from too far away. Then the nearer page keeps
  its own links.
- A page is never its own duplicate, under whatever spelling an earlier job has kept it.
- A short text is nobody's duplicate (C-41).
"""

from __future__ import annotations

from dataclasses import replace

from geomi.dedup.decide import DuplicateEvidence, decide, exact_keys
from geomi.engine.visit.rules import JobRules
from geomi.engine.world import World
from geomi.model.entry import Discovered, UrlEntry
from geomi.model.page import Duplicate, DuplicateReason, Fingerprint, KnownPage, PageRecord
from geomi.url.parse import split

# Pages on their way to a commit that the store cannot yet name as twins; about eight full batches.
FRESH_KEYS = 1024
MAX_CHAIN = 8  # pages that name one another as canonical, followed one by one


class Duplicates:
    """The pages one worker has kept for one job, and those that its tenant has."""

    def __init__(self, world: World, rules: JobRules) -> None:
        self._world = world
        self._rules = rules
        self._fresh: dict[bytes, KnownPage] = {}  # the last pages by their exact keys
        self._claims: dict[bytes, KnownPage] = {}  # and by their names, for those that name them

    async def find(
        self, entry: UrlEntry, fingerprint: Fingerprint, named: Discovered | None
    ) -> Duplicate | None:
        """Find the page that one with this fingerprint repeats.

        Args:
            named: what the page names as canonical, if it may be believed.
        """
        if not fingerprint.exact_key:
            return None
        exact = await self.exact(entry, fingerprint)
        near = [] if exact else await self._world.store.pages.near(fingerprint.sketch)
        return decide(
            DuplicateEvidence(
                url=entry.url,
                sketch=fingerprint.sketch,
                exact=exact,
                exact_keys=exact_keys(fingerprint.exact_key),
                canonical=named.url if named else "",
                named=await self._named(entry, named) if named and not exact else None,
                candidates=[known for known in near if known.url_hash != entry.url_hash],
            )
        )

    async def exact(self, entry: UrlEntry, fingerprint: Fingerprint) -> KnownPage | None:
        """Find the page of this job whose text and links one repeats; none for the first."""
        keys = exact_keys(fingerprint.exact_key)
        twins = await self._world.store.pages.twins(entry.job, keys) if keys else {}
        for key in keys:
            known = twins.get(key) or self._fresh.get(key)
            if known is not None and not self._is_of(entry, known):
                return known
        return None

    async def speaks_for(self, twin: KnownPage, entry: UrlEntry) -> bool:
        """Say whether the links of a twin stand for those of an entry: it lies as near."""
        host = split(twin.url).authority
        first = await self._world.store.census.entry(entry.job, twin.url_hash, host=host)
        return first is not None and first.depth <= entry.depth

    def remember(self, page: PageRecord) -> None:
        """Note a page that is kept but not yet committed: the next that comes may be its twin."""
        fingerprint = page.fingerprint
        known = KnownPage(page.url, fingerprint.sketch, page.duplicate_of, page.url_hash)
        self._fresh.setdefault(fingerprint.exact_key, known)
        self._claims[page.url_hash] = known
        for recent in (self._fresh, self._claims):
            if len(recent) > FRESH_KEYS:
                del recent[next(iter(recent))]

    async def _named(self, entry: UrlEntry, named: Discovered) -> KnownPage | None:
        """Find the page that is named, and follow what it names in turn, to see a circle."""
        found = known = await self._known(named.url_hash)
        for _ in range(MAX_CHAIN):
            if known is None:
                break
            if self._is_of(entry, known):  # in whatever spelling; `decide` hears the contradiction
                return replace(found or known, duplicate_of=entry.url)
            if not known.duplicate_of:
                return replace(found or known, duplicate_of="" if known is found else known.url)
            known = await self._known(self._rules.identity.hash(split(known.duplicate_of)))
        return found

    async def _known(self, url_hash: bytes) -> KnownPage | None:
        if (fresh := self._claims.get(url_hash)) is not None:
            return fresh
        page = await self._world.store.pages.get(url_hash)
        if page is None:
            return None
        return KnownPage(page.url, page.fingerprint.sketch, page.duplicate_of, page.url_hash)

    def _is_of(self, entry: UrlEntry, known: KnownPage) -> bool:
        """Whether an entry is a known page itself, or the one that stands for it."""
        if entry.url_hash == known.url_hash or entry.url == known.duplicate_of:
            return True
        return self._rules.respelled(entry, known.duplicate_of) is not None


def exact_duplicate(duplicate: Duplicate | None) -> KnownPage | None:
    """Return the page of the same job that has the same text and links."""
    return duplicate.twin if duplicate else None


def describe_duplicate(duplicate: Duplicate | None) -> str:
    """Say for people which page a page repeats, and why."""
    if duplicate is None:
        return ""
    match duplicate.reason:
        case DuplicateReason.EXACT:
            return f"repeats {duplicate.of}"
        case DuplicateReason.CANONICAL:
            return f"names {duplicate.of} as canonical"
        case DuplicateReason.NEAR:
            return f"nearly repeats {duplicate.of}, similarity {duplicate.similarity:.2f}"
