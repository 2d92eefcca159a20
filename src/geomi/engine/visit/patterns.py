"""Report what the visits of one pattern bring, and ask whether the pattern is endless.

The store adds the reports up (`Tally`), and `admit/trap.py` decides by the sum. `PatternMarks`
remembers the last texts of each pattern: a calendar that alternates between two texts brings
nothing new either. Its memory is bounded; forgetting costs a few fetches and never a page.
Where a URL names no space itself, the page that it was found on may (`lineage.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from geomi.admit.trap import heeds_text, judge_tally
from geomi.admit.url_pattern import ENDLESS, FOUND_KINDS, SpaceKind, kind_of, text_mark
from geomi.engine.visit.lineage import Lineage, novelty_of_find
from geomi.engine.visit.rules import JobRules
from geomi.model.entry import Discovered, Novelty, Source, UrlEntry
from geomi.model.verdict import Verdict
from geomi.url.host import split_authority
from geomi.url.parse import parse as parse_url
from geomi.url.parse import split

# What the site itself lists has an end, and what a person asked for, or is here already, is wanted.
FINITE = frozenset({Source.SEED, Source.SITEMAP, Source.REVISIT})
MAX_MARKED_PATTERNS = 1024
MARKS_PER_PATTERN = 64
MAX_TOLD_HOSTS = 256
TEXTS_PER_HOST = 1024
MAX_COMPARED_CHARS = 20_000  # of a page whose URL names no space; to compare so many takes 40 µs


class Patterns:
    """The patterns of one job, as one worker sees them."""

    def __init__(self, rules: JobRules) -> None:
        self._identity = rules.identity
        self._decisions = rules.decisions
        self._marks = PatternMarks()
        self._texts = PatternMarks(MAX_TOLD_HOSTS, TEXTS_PER_HOST)
        self._lineage = Lineage()

    def exhausted(self, entry: UrlEntry) -> Verdict | None:
        """Refuse an entry whose pattern has brought nothing new for long."""
        if not entry.pattern or entry.source in FINITE or not self._identity.counts_patterns:
            return None
        host, _ = split_authority(entry.host)
        if self._decisions.allow(host, entry.pattern) or self._lineage.is_cleared(entry.url):
            return None
        tally, is_inside = entry.tally, self._is_inside(entry)
        if kind_of(entry.pattern) == SpaceKind.VARIANTS:  # pages of other patterns lead to them
            tally = replace(tally, stale_growth=0)
            is_inside = self._lineage.has_many_variants(entry.host)
        return judge_tally(entry.pattern, tally, host=host, depth=entry.depth, is_inside=is_inside)

    def weigh(
        self,
        entry: UrlEntry,
        links: Sequence[str],
        discovered: tuple[Discovered, ...],
        text: str,
        *,
        repeats: bool,
    ) -> tuple[tuple[Discovered, ...], Novelty | None]:
        """Name the space of what a page leads to, and say what its visit brought.

        Args:
            links: where it leads, known or new.
            repeats: whether the page is exactly another one of the job. That it is nearly one says
                little: pages of one template are, whatever they tell.
        """
        if not self._identity.counts_patterns:
            return discovered, None
        tells_nothing = repeats or self._is_told(entry, text)
        placed, found = self._lineage.place(entry, links, discovered, tells_nothing=tells_nothing)
        if kind_of(entry.pattern) in FOUND_KINDS:
            return placed, novelty_of_find(entry, placed, found, tells_nothing=tells_nothing)
        return placed, self._novelty(entry, placed, text, repeats=repeats)

    def _is_told(self, entry: UrlEntry, text: str) -> bool:
        mark = text_mark(text[:MAX_COMPARED_CHARS], split(entry.url), "")
        return self._texts.is_told(entry.host, "", mark)

    def _novelty(
        self, entry: UrlEntry, discovered: Sequence[Discovered], text: str, *, repeats: bool
    ) -> Novelty | None:
        """Say what a visit brought; None where its pattern is not counted."""
        if not entry.pattern:
            return None
        leads_out = any(_leads_out(entry.pattern, found) for found in discovered)
        kin = _kin(entry, discovered)
        if not heeds_text(entry.pattern, entry.tally):
            return Novelty(links=leads_out, text=True, text_mark=b"", kin=kin)
        mark = text_mark(text, split(entry.url), entry.pattern)
        is_told = self._marks.is_told(entry.host, entry.pattern, mark)
        is_news = not (repeats or is_told or mark == entry.tally.text_mark)
        return Novelty(links=leads_out, text=is_news, text_mark=mark, kin=kin)

    def of_redirect(self, entry: UrlEntry, target: Discovered) -> Discovered:
        """Keep a redirect's target in the space that its URL was found in."""
        is_found = kind_of(entry.pattern) in FOUND_KINDS and target.host == entry.host
        return replace(target, pattern=entry.pattern) if is_found else target

    def redirected(self, entry: UrlEntry, targets: Sequence[Discovered]) -> Novelty | None:
        """Say what a redirect brought: it tells nothing, and may lead to a new place."""
        if not entry.pattern:
            return None
        leads_out = any(_leads_out(entry.pattern, target) for target in targets)
        return Novelty(links=leads_out, text=False, text_mark=b"", kin=_kin(entry, targets))

    def _is_inside(self, entry: UrlEntry) -> bool:
        """Tell whether an entry was found on a page of its own space."""
        if kind_of(entry.pattern) in FOUND_KINDS:
            return True
        found_on = parse_url(entry.parent) if entry.parent else None
        if found_on is None or self._identity.pattern(found_on) != entry.pattern:
            return False
        # A growing path begins with the one before; those of real pages lie side by side.
        return kind_of(entry.pattern) != "long" or entry.url.startswith(found_on.href)


class PatternMarks:
    """The marks of texts by host and pattern."""

    __slots__ = ("_by_pattern", "_marks", "_patterns")

    def __init__(self, patterns: int = MAX_MARKED_PATTERNS, marks: int = MARKS_PER_PATTERN) -> None:
        self._patterns = patterns
        self._marks = marks
        self._by_pattern: dict[tuple[str, str], dict[bytes, None]] = {}

    def is_told(self, host: str, pattern: str, mark: bytes) -> bool:
        """Say whether a page of this pattern had this mark before, and remember it."""
        place = host, pattern
        marks = self._by_pattern.pop(place, {})
        is_told = mark in marks
        marks.pop(mark, None)
        marks[mark] = None
        self._by_pattern[place] = marks  # the one that was used last is the last to go
        if len(marks) > self._marks:
            del marks[next(iter(marks))]
        if len(self._by_pattern) > self._patterns:
            del self._by_pattern[next(iter(self._by_pattern))]
        return is_told


def _kin(entry: UrlEntry, discovered: Sequence[Discovered]) -> frozenset[str]:
    """Return the patterns by which an endless space goes on: months lead to days, and back."""
    kind = kind_of(entry.pattern)
    patterns = {found.pattern for found in discovered if found.host == entry.host}
    return frozenset(pattern for pattern in patterns if kind_of(pattern) == kind)


def _leads_out(pattern: str, found: Discovered) -> bool:
    """Tell whether a find is a place outside the space of a pattern, and of its like."""
    return found.pattern != pattern and kind_of(found.pattern) not in ENDLESS
