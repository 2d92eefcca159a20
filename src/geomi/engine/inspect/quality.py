"""Report how well the pages of a job were extracted, site by site, and what to check."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import attrgetter

from geomi.engine.world import World
from geomi.extract.content.strategy import SELECTOR
from geomi.extract.document import WITHOUT_TREE
from geomi.model.job import CrawlJob
from geomi.model.site import OutcomeCount
from geomi.model.verdict import Outcome

THIN_WORDS = 50
# Fewer pages than this say nothing of a site.
TELLING_PAGES = 5
UNSURE = 0.5
MANY = 0.5
MANY_EMPTY = 0.1


@dataclass(frozen=True, slots=True)
class SiteReport:
    """One host of a job.

    Args:
        strategies: kept pages by the way their content was found.
        confidence: how sure that was on average, 0 to 1.
        thin: kept pages with hardly any words.
        duplicates: kept pages that repeat another.
        lost: pages that were asked for and not kept, by outcome.
        remarks: what a person should look at.
    """

    host: str
    pages: int
    strategies: Mapping[str, int]
    confidence: float
    thin: int
    duplicates: int
    lost: Mapping[str, int]
    remarks: tuple[str, ...] = ()

    @property
    def empty(self) -> int:
        """Pages without any text."""
        return self.lost.get(Outcome.EMPTY, 0)


async def quality(world: World, job: CrawlJob) -> list[SiteReport]:
    """Report on every host of a job, the one with the most pages first."""
    rows = await world.store.census.qualities(job.id, thin_words=THIN_WORDS)
    selector = job.config.extract.content
    sites = (
        _site(host, list(of_host), selector) for host, of_host in groupby(rows, attrgetter("host"))
    )
    return sorted(sites, key=lambda site: (-site.pages, site.host))


async def strategies_of(world: World, job: CrawlJob) -> Mapping[str, int]:
    """Count the pages of a whole job by the way their content was found."""
    return _by_strategy(await world.store.census.qualities(job.id, thin_words=THIN_WORDS))


def _site(host: str, rows: Sequence[OutcomeCount], selector: str) -> SiteReport:
    kept = [row for row in rows if row.strategy]
    strategies = _by_strategy(kept)
    pages = sum(strategies.values())
    sure = sum(row.confidence * row.pages for row in kept)
    site = SiteReport(
        host=host,
        pages=pages,
        strategies=strategies,
        confidence=round(sure / (pages or 1), 3),
        thin=sum(row.thin for row in kept),
        duplicates=sum(row.duplicates for row in kept),
        lost={str(row.outcome): row.pages for row in rows if not row.strategy},
    )
    return replace(site, remarks=tuple(_remarks(site, selector)))


def _by_strategy(rows: Iterable[OutcomeCount]) -> Mapping[str, int]:
    """Add up pages, the most common way first; without a way, nothing was kept."""
    found: Counter[str] = Counter()
    for row in rows:
        if row.strategy:
            found[row.strategy] += row.pages
    return dict(found.most_common())


def _remarks(site: SiteReport, selector: str) -> Iterator[str]:
    """Return what looks wrong, and what a person can do about it."""
    pages, matched = site.pages, site.strategies.get(SELECTOR, 0)
    if site.empty >= TELLING_PAGES and site.empty > MANY_EMPTY * (pages + site.empty):
        yield f"{site.empty} pages have no text; scripts may write their text"
    if pages < TELLING_PAGES:
        return
    trees = sum(many for way, many in site.strategies.items() if way not in WITHOUT_TREE)
    if selector and matched <= trees * MANY:
        yield f"`extract.content` ({selector}) matched {matched} of {trees} pages; correct it"
    if site.confidence < UNSURE:
        yield "geomi guessed the content; name it with `extract.content`"
    if site.thin > pages * MANY:
        yield f"{site.thin} of {pages} pages have fewer than {THIN_WORDS} words"
    if site.duplicates > pages * MANY:
        yield f"{site.duplicates} of {pages} pages repeat another; exclude one of their URLs"
