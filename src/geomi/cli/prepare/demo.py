"""`geomi demo`: crawl the sample web that comes with geomi, and show the results.

The sample web runs on loopback, so nothing leaves this machine. `crawl_sample` also compares the
result with what the sample web was written to cause. `geomi doctor` uses it as the proof that
network, robots.txt, extraction, store, archive and search work together.
"""

from __future__ import annotations

import asyncio
import os
import shlex
import shutil
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from geomi.adapters.telemetry.fan_out import EventFanOut
from geomi.app import crawl as run_crawl
from geomi.app import make_plan, open_directory
from geomi.app.index import SearchResult, search_pages
from geomi.cli import flags
from geomi.cli.console import note, print_json, say, say_check
from geomi.cli.look.status import as_data
from geomi.cli.read.search import as_data as search_data
from geomi.cli.read.search import print_hits as tell_hits
from geomi.demo import DemoSite, DemoVisit
from geomi.engine.inspect.export import records
from geomi.engine.inspect.status import Status, UrlProblem, status
from geomi.engine.worker.supervisor import CrawlReport
from geomi.errors import GeomiError
from geomi.library import Page
from geomi.model.index.search import NO_FILTERS
from geomi.model.verdict import Outcome, State
from geomi.ports.runtime import Clock, EventSink
from geomi.settings.layers import Layer, resolve
from geomi.settings.options import Settings

FOLDER = Path("geomi-demo")
_REFUSED = "http://docs.geomi.test/internal/roadmap"
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
_LAYER = Layer(
    "the sample crawl",
    {
        "politeness.delay_s": DELAY_S,
        "http.max_retries": 0,  # its broken pages stay broken, and nobody wants to wait for that
        "limits.max_pages": 0,
    },
)


def demo(
    output: Annotated[Path, typer.Option("-o", "--output", help="The data directory.")] = FOLDER,
    json: flags.AsJson = False,
) -> None:
    """Serve the sample site on this machine, crawl it politely, and show the result."""
    note("crawling the sample site, four hosts on 127.0.0.1; no request leaves this machine")
    sample = asyncio.run(crawl_sample(output, lambda _: EventFanOut()))
    if json:
        print_json(_as_data(sample, output))
    else:
        _tell(sample, output)
    if sample.faults:
        raise GeomiError(
            f"the sample crawl is not as it should be: {'; '.join(sample.faults)}",
            hint="geomi doctor checks the installation",
        )


def _as_data(sample: SampleCrawl, output: Path) -> dict[str, object]:
    return {
        **as_data(sample.status),
        "pages": [page.url for page in sample.pages],
        "requests": sample.requests,
        "seconds": round(sample.report.seconds, 3),
        "shortest_gap_s": {host: round(gap, 4) for host, gap in sample.gaps_s.items()},
        "answers": {query: search_data(searched) for query, searched in sample.answers.items()},
        "output": str(output),
        "faults": sample.faults,
    }


def _tell(sample: SampleCrawl, output: Path) -> None:
    _tell_pages(sample)
    problems = sample.status.problems
    _tell_problems("Refused by the site", problems, State.BLOCKED)
    _tell_problems("Failed", problems, State.FAILED)
    _tell_problems("Visited, not kept", problems, State.SKIPPED)
    _tell_exclusions(sample)
    _tell_politeness(sample)
    _tell_answers(sample)
    _tell_files(output)


def _tell_pages(sample: SampleCrawl) -> None:
    seconds = f"{sample.requests} requests, {sample.report.seconds:.1f} s"
    say(f"Collected {len(sample.pages)} pages ({seconds})", style="bold")
    by_host = Counter(page.final_url.split("/")[2] for page in sample.pages)
    for host, count in sorted(by_host.items()):
        say(f"  {host}: {count} pages")
    for page in sample.pages:
        if original := page.metadata.get("duplicate_of"):
            say(f"  {page.url}: duplicate of {original} ({page.metadata['duplicate_reason']})")
        if reason := page.metadata.get("needs_browser"):
            say(f"  {page.url}: needs browser {reason}")


def _tell_problems(title: str, problems: tuple[UrlProblem, ...], state: State) -> None:
    say(title, style="bold")
    for problem in sorted(problems, key=lambda problem: problem.url):
        if problem.state is state:
            status = f"HTTP {problem.status}" if problem.status else ""
            told = ", ".join(part for part in (problem.outcome, status, problem.detail) if part)
            say(f"  {problem.url}: {told}")


def _tell_exclusions(sample: SampleCrawl) -> None:
    say("Links kept out by our own rules", style="bold")
    exclusions: Mapping[str, tuple[int, tuple[str, ...]]] = sample.status.exclusions
    for rule, (count, examples) in sorted(exclusions.items()):
        say(f"  {rule}: {count}, such as {examples[0]}")


def _tell_politeness(sample: SampleCrawl) -> None:
    say("Shortest rest of each host between two requests", style="bold")
    for host, gap_s in sorted(sample.gaps_s.items()):
        say_check(f"{host}: {gap_s:.3f} s (required: {DELAY_S} s)", is_good=gap_s >= DELAY_S)


def _tell_answers(sample: SampleCrawl) -> None:
    for query, searched in sample.answers.items():
        say(f"Search: {query}", style="bold")
        tell_hits(searched)


def _tell_files(output: Path) -> None:
    say("Files", style="bold")
    for name, told in {
        "md": "one markdown file a page",
        "pages.jsonl": "one JSON object a page",
        "warc": "the responses as they came",
    }.items():
        say(f"  {output / name}: {told}")
    folder = shlex.quote(str(output))
    geomi = _command()
    say("Try next", style="bold")
    say(f"  {geomi} why {_REFUSED} -o {folder}")
    say(f"  {geomi} status -o {folder}")
    say(f"  {geomi} search 'orb web' -o {folder}")
    say(f"  {geomi} export -f jsonl -o {folder} | head -n 1")


def _command() -> str:
    """Return how this geomi is called from here, its virtual environment active or not."""
    if shutil.which("geomi"):
        return "geomi"
    program = Path(sys.argv[0])
    return "python -m geomi" if program.stem == "__main__" else os.path.relpath(program)


@dataclass(frozen=True, slots=True)
class SampleCrawl:
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


async def crawl_sample(root: Path, listen: Callable[[Clock], EventSink]) -> SampleCrawl:
    """Serve the sample site on loopback, crawl it into a directory, and check the result."""
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
        return SampleCrawl(report, found, pages, len(site.log), gaps_s, answers, faults)


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
            yield f"{host} was asked again after {gap_s:.3f} s; {DELAY_S} s are required"


def _search_faults(answers: Mapping[str, SearchResult]) -> Iterator[str]:
    for query, searched in answers.items():
        first = next((hit.passage.url for hit in searched.found.hits), "nothing")
        if first != QUERIES[query]:
            yield f"a search for `{query}` finds {first}, not {QUERIES[query]}"
