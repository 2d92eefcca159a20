"""Name the space of a URL by the page it was found on, where the URL itself names none.

A server that makes up pages makes up any names. But its pages are found on one another, and that
shows, whatever their URLs look like:

- `copies`: what is found on a page that told nothing new.
- `branch`: what is found on pages that lead to new pages alone. Pages of a real site lead to pages
  beside them, and most lead to nothing new at all. A page that leads to several new URLs, and to
  none that is known and as deep, founds a branch; its finds pass the name on.
- `deep`: what is found far from the start URLs on pages that lead to pages beside them and to more.
- `facets`: what adds no name to those that the host's URLs are made of, where names stand anywhere:
  a language or a version that every page has stands in one place.
- `variants`: another spelling of a URL that is known.

A row, where each page leads to one more, is in no branch and not deep: the limit of depth ends it.

What an ordinary page leads to, too, is no part of a space: `Lineage` takes its name away. All of
its memory is bounded; forgetting costs a few fetches and never a page.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace

from geomi.admit.trap import ends_within
from geomi.admit.url_pattern import FOUND_KINDS, SpaceKind, branch_of, kind_of, loose_key, names
from geomi.frontier.seen import SeenUrls
from geomi.model.entry import Discovered, Novelty, Source, UrlEntry
from geomi.url.parse import Url, split

MAX_RECENT = 10_000  # URLs a generation; the store learns of them only with the next commit
MAX_SUSPECTS = 50_000
MAX_MET = 1_000
MAX_TEMPLATES = 16  # of one kind on a host; with more, each part of the space has its own budget
MAX_NAMES_KNOWN = 20_000
MAX_HOSTS = 1_000
# What lies nearer to the start URLs belongs to the frame of a site: every page leads there.
NEAR_DEPTH = 2
# The pages of three sites of documentation (`tests/corpus`) lie within 7 links.
DEEP = 7
MIN_BRANCHES = 2
MIN_NAMES = 2  # that wander
MIN_PLACES = 3  # of a name that wanders; a page may stand below a language, or below none
# A page that leads aside, or to nothing new, takes back so many that did not: a real site is a tree
# only in parts, and one page in five with such a link keeps it open.
SETBACK = 4
SETBACK_OF_FACETS = 1  # their names show them already, and half of them lead nowhere
# Spellings are a trap where they are so much of what a host brings of late, `RECENT_VISITS`.
MOST_VARIANTS = 0.4
RECENT_VISITS = 32
_ANY_DEPTH = sys.maxsize
_CLEARED = ""


@dataclass(frozen=True, slots=True)
class PageLinks:
    """What a page leads to on its own host.

    Args:
        fresh: URLs that nobody has found before.
        leads_aside: whether one was known already, and lies as deep as the page or deeper.
    """

    fresh: frozenset[str] = frozenset()
    leads_aside: bool = False

    @property
    def is_row(self) -> bool:
        """Whether it leads to one more page, and to none beside it."""
        return len(self.fresh) == 1 and not self.leads_aside

    @property
    def only_branches(self) -> bool:
        """Whether it leads to new pages alone."""
        return len(self.fresh) >= MIN_BRANCHES and not self.leads_aside


class Lineage:
    """The spaces of one job's URLs, as one worker sees them."""

    def __init__(self) -> None:
        self._recent = SeenUrls(MAX_RECENT)
        self._spellings = SeenUrls(MAX_RECENT)
        self._places: dict[str, int] = {}  # of the names of hosts, one bit for each
        self._suspects: dict[str, str] = {}  # URLs in a space, with its name
        # The patterns that pages led to, by host and kind.
        self._met: dict[tuple[str, str], dict[str, None]] = {}
        self._variants: dict[str, float] = {}  # how much of what a host brought of late they are

    def place(
        self,
        entry: UrlEntry,
        urls: Sequence[str],
        discovered: Sequence[Discovered],
        *,
        tells_nothing: bool,
    ) -> tuple[tuple[Discovered, ...], PageLinks]:
        """Put what a page leads to into its spaces.

        Args:
            urls: all that the page leads to, known or new.
        """
        links = self._links(entry, urls, discovered)
        space = _space(entry, links, tells_nothing=tells_nothing)
        if kind_of(entry.pattern) not in FOUND_KINDS and entry.depth < DEEP:
            self._clear(space, urls)
        placed = tuple(self._placed(entry, find, links, space) for find in discovered)
        self._learn(entry, placed)
        self._meet(discovered)
        return placed, links

    def is_cleared(self, url: str) -> bool:
        """Whether a page outside its space leads to a URL."""
        return self._suspects.get(url) == _CLEARED

    def has_many_variants(self, host: str) -> bool:
        """Whether a host brings little but other spellings of late."""
        return self._variants.get(host, 0.0) >= MOST_VARIANTS

    def _links(
        self, entry: UrlEntry, urls: Sequence[str], discovered: Sequence[Discovered]
    ) -> PageLinks:
        recent = self._recent
        recent.remember(entry.url, entry.depth)
        finds = {find.url for find in discovered if find.host == entry.host}
        fresh = frozenset(url for url in finds if not recent.is_known(url, _ANY_DEPTH))
        if not fresh:
            return PageLinks()
        nearer = max(entry.depth, NEAR_DEPTH) - 1
        aside = any(
            recent.is_known(url, _ANY_DEPTH) and not recent.is_known(url, nearer)
            for url in urls
            if url != entry.url
        )
        return PageLinks(fresh, aside)

    def _placed(
        self, entry: UrlEntry, find: Discovered, links: PageLinks, space: str
    ) -> Discovered:
        if find.url not in links.fresh or find.source is not Source.LINK:
            return find
        space = self._own_space(find, space)
        # Where each URL has a pattern of its own, no budget is ever used up. Months lead to days.
        met = self._met.get((find.host, kind_of(find.pattern)), {})
        is_met = find.pattern in met and len(met) <= MAX_TEMPLATES
        is_kin = kind_of(find.pattern) == kind_of(entry.pattern) == "calendar"
        if not space or ((is_met or is_kin) and ends_within(find.pattern, space)):
            return find
        return replace(find, pattern=space)

    def _own_space(self, find: Discovered, space: str) -> str:
        """Name the space that a URL shows beside those that are known."""
        if kind_of(space) == SpaceKind.COPIES:
            return space
        url = split(find.url)
        key = loose_key(url)
        if self._spellings.is_known(key, _ANY_DEPTH):
            return f"{SpaceKind.VARIANTS}:/*"
        self._spellings.remember(key, 0)
        places = [self._places.get(f"{url.authority}/{name}", 0) for name in names(url)]
        wandering = sum(each.bit_count() >= MIN_PLACES for each in places)
        return f"{SpaceKind.FACETS}:/*" if all(places) and wandering >= MIN_NAMES else space

    def _learn(self, entry: UrlEntry, placed: Sequence[Discovered]) -> None:
        for find in placed:
            if self._recent.is_known(find.url, _ANY_DEPTH):
                continue
            self._recent.remember(find.url, find.depth)
            self._learn_names(split(find.url))
            if kind_of(find.pattern) in FOUND_KINDS:
                self._suspects[find.url] = find.pattern
        while len(self._suspects) > MAX_SUSPECTS:
            del self._suspects[next(iter(self._suspects))]
        is_variant = kind_of(entry.pattern) == SpaceKind.VARIANTS
        before = self._variants.pop(entry.host, 0.0)
        self._variants[entry.host] = before + (is_variant - before) / RECENT_VISITS
        if len(self._variants) > MAX_HOSTS:
            del self._variants[next(iter(self._variants))]

    def _learn_names(self, url: Url) -> None:
        for at, name in enumerate(names(url)):
            key = f"{url.authority}/{name}"
            self._places[key] = self._places.pop(key, 0) | 1 << at
        while len(self._places) > MAX_NAMES_KNOWN:
            del self._places[next(iter(self._places))]

    def _clear(self, space: str, urls: Sequence[str]) -> None:
        """Take the names from those URLs that a page outside of all spaces leads to."""
        suspects = self._suspects
        for url in urls:
            if suspects.get(url, space) != space:
                suspects[url] = _CLEARED

    def _meet(self, discovered: Sequence[Discovered]) -> None:
        for find in discovered:
            if not find.pattern:
                continue
            met = self._met.setdefault((find.host, kind_of(find.pattern)), {})
            if len(met) <= MAX_TEMPLATES:
                met[find.pattern] = None
        while len(self._met) > MAX_MET:
            del self._met[next(iter(self._met))]


def novelty_of_find(
    entry: UrlEntry, placed: Sequence[Discovered], links: PageLinks, *, tells_nothing: bool
) -> Novelty | None:
    """Say what the visit of a URL brought that lies in a space of this kind.

    A page of a row counts in none of the spaces that show by their links.
    """
    kind = kind_of(entry.pattern)
    kin = frozenset({entry.pattern} & {find.pattern for find in placed if find.host == entry.host})
    setback = SETBACK
    match kind:
        case SpaceKind.COPIES:
            return Novelty(links=False, text=not tells_nothing, text_mark=b"", kin=kin)
        case SpaceKind.VARIANTS:
            leads_out = False
        case SpaceKind.FACETS:
            leads_out, setback = not links.fresh, SETBACK_OF_FACETS
        case _ if links.is_row:
            return None
        case SpaceKind.DEEP:
            leads_out = not links.fresh
        case _:
            leads_out = not links.only_branches
    return Novelty(links=leads_out, text=True, text_mark=b"", kin=kin, setback=setback)


def _space(entry: UrlEntry, links: PageLinks, *, tells_nothing: bool) -> str:
    """Name the space of what a page leads to; empty for an ordinary page."""
    if tells_nothing:
        return f"{SpaceKind.COPIES}:/*"
    if entry.depth >= DEEP and links.leads_aside:
        return f"{SpaceKind.DEEP}:/*"
    # A page of either founds no branch of its own: each would have a budget of its own.
    if kind_of(entry.pattern) in (SpaceKind.BRANCH, SpaceKind.DEEP):
        return entry.pattern
    return branch_of(entry.url) if entry.depth and links.only_branches else ""
