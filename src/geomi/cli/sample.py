"""A crawl of the sample web that comes with geomi, and whether it brought what it should.

`geomi demo` shows it to people and `geomi doctor` takes it for proof that everything works
together: network, robots.txt, extraction, store and archive, without leaving this machine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from geomi.app import crawl as run_crawl
from geomi.app import make_plan, open_directory
from geomi.app.index import SearchResult, search_pages
from geomi.demo import DemoSite, DemoVisit
from geomi.engine.inspect.export import records
from geomi.engine.inspect.status import Status, status
from geomi.engine.worker.supervisor import CrawlReport
from geomi.library import Page
from geomi.model.index.search import NO_FILTERS
from geomi.model.verdict import Outcome
from geomi.ports.clock import Clock
from geomi.ports.sink import EventSink
from geomi.settings.layers import Layer, resolve
from geomi.settings.options import Settings

DELAY_S = 0.05
LEAST_PAGES = 44

_WWW, _DOCS, _BLOG, _SHOP = (
    f"http://{name}.geomi.test" for name in ("www", "docs", "blog", "shop")
)
# One URL of each kind that the sample web was written for, and how its visit ends.
EXPECTED: dict[str, Outcome] = {
    f"{_WWW}/careers": Outcome.GONE,
    f"{_DOCS}/internal/roadmap": Outcome.ROBOTS,
    f"{_DOCS}/guide/field-notes": Outcome.OK,  # only the sitemap leads there
    f"{_BLOG}/ko/letter-1998": Outcome.OK,  # in EUC-KR, as only its header says
    f"{_BLOG}/old": Outcome.REDIRECTED,
    f"{_SHOP}/torn": Outcome.PROTOCOL_ERROR,
    f"{_SHOP}/wholesale": Outcome.NOINDEX,
}
EXPECTED_RULES = ("trap.repeating_path", "block.calendar", "block.cart")
OLD_LETTER = ("/ko/letter-1998", "할머니")
# What is looked for in the end, and the page that has to come first.
QUERIES: dict[str, str] = {
    "how long do you keep personal data": f"{_WWW}/privacy",
    "이슬이 내린 아침": f"{_BLOG}/ko/morning-web",
}


@dataclass(frozen=True, slots=True)
class Sample:
    """What the crawl did, seen from the store and from the server.

    Args:
        gaps_s: the shortest rest of each host, from the end of an answer to the next request.
        answers: what was found for each query.
        faults: what is not as it should be; empty when all is well.
    """

    report: CrawlReport
    status: Status
    pages: tuple[Page, ...]
    requests: int
    gaps_s: Mapping[str, float]
    answers: Mapping[str, SearchResult]
    faults: tuple[str, ...]


async def crawl_sample(root: Path, listen: Callable[[Clock], EventSink]) -> Sample:
    """Serve the sample web on loopback, crawl it into a directory, and look at what came."""
    async with DemoSite() as site:
        settings = Settings(allow_private=True, resolve=site.overrides)
        plan = make_plan(site.seeds, resolve([_LAYER]), _LAYER)
        async with open_directory(root, settings, listen) as home:
            report = await run_crawl(home, plan)
            found = await status(home.world, report.job)
            pages = tuple(
                [Page.from_record(line) async for line in records(home.world, report.job.id)]
            )
            answers = {
                query: await search_pages(home, query, NO_FILTERS, limit=1) for query in QUERIES
            }
        gaps_s = shortest_gaps_s(site.log)
        faults = (
            *_page_faults(pages),
            *_fate_faults(found),
            *_gap_faults(gaps_s),
            *_search_faults(answers),
        )
        return Sample(report, found, pages, len(site.log), gaps_s, answers, faults)


def shortest_gaps_s(visits: Sequence[DemoVisit]) -> dict[str, float]:
    """Return the shortest time between an answer and the next request, for each host."""
    gaps: dict[str, float] = {}
    ended: dict[str, float] = {}
    for visit in sorted(visits, key=lambda visit: visit.start_s):
        if visit.host in ended:
            gap = visit.start_s - ended[visit.host]
            gaps[visit.host] = min(gap, gaps.get(visit.host, gap))
        ended[visit.host] = visit.end_s
    return gaps


_LAYER = Layer(
    "the sample crawl",
    {
        "politeness.delay_s": DELAY_S,
        "http.max_retries": 0,  # its broken pages stay broken, and nobody wants to wait for that
        "limits.max_pages": 0,
    },
)


def _page_faults(pages: Sequence[Page]) -> Iterator[str]:
    if len(pages) < LEAST_PAGES:
        yield f"{len(pages)} pages were collected; there should be at least {LEAST_PAGES}"
    path, word = OLD_LETTER
    letter = next((page for page in pages if page.url.endswith(path)), None)
    if letter is not None and word not in letter.markdown:
        yield f"{letter.url} was not read as EUC-KR"


def _fate_faults(found: Status) -> Iterator[str]:
    ends = {problem.url: problem.outcome for problem in found.problems}
    for url, outcome in EXPECTED.items():
        ended = ends.get(url, Outcome.OK)
        if ended is not outcome:
            yield f"{url} ended as {ended}, not as {outcome}"
    for rule in EXPECTED_RULES:
        if rule not in found.exclusions:
            yield f"rule {rule} kept nothing out"


def _gap_faults(gaps_s: Mapping[str, float]) -> Iterator[str]:
    for host, gap_s in gaps_s.items():
        if gap_s < DELAY_S:
            yield f"{host} was asked again after {gap_s:.3f} s; {DELAY_S} s was promised"


def _search_faults(answers: Mapping[str, SearchResult]) -> Iterator[str]:
    for query, searched in answers.items():
        first = next((hit.passage.url for hit in searched.found.hits), "nothing")
        if first != QUERIES[query]:
            yield f"a search for `{query}` finds {first}, not {QUERIES[query]}"
