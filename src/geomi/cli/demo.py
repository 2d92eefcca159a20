"""`geomi demo`: crawl the sample web that comes with geomi, and show what a crawl is like."""

from __future__ import annotations

import asyncio
import os
import shlex
import shutil
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from geomi.adapters.telemetry.fan_out import EventFanOut
from geomi.cli.options import AsJson
from geomi.cli.sample import DELAY_S, Sample, crawl_sample
from geomi.cli.search import as_data as search_data
from geomi.cli.search import tell as tell_hits
from geomi.cli.status import as_data
from geomi.cli.talk import give, note, say, say_check
from geomi.engine.inspect.status import UrlProblem
from geomi.errors import GeomiError
from geomi.model.verdict import State

FOLDER = Path("geomi-demo")

_REFUSED = "http://docs.geomi.test/internal/roadmap"


def demo(
    output: Annotated[Path, typer.Option("-o", "--output", help="Where the files go.")] = FOLDER,
    json: AsJson = False,
) -> None:
    """Serve a small web of four hosts on this machine, crawl it politely, and show what came."""
    note("crawling a sample web of four hosts on 127.0.0.1; nothing leaves this machine")
    sample = asyncio.run(crawl_sample(output, lambda _: EventFanOut()))
    if json:
        give(_as_data(sample, output))
    else:
        _tell(sample, output)
    if sample.faults:
        raise GeomiError(
            f"the sample crawl is not as it should be: {'; '.join(sample.faults)}",
            hint="geomi doctor checks the installation",
        )


def _as_data(sample: Sample, output: Path) -> dict[str, object]:
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


def _tell(sample: Sample, output: Path) -> None:
    _tell_pages(sample)
    problems = sample.status.problems
    _tell_problems("Refused by the site", problems, State.BLOCKED)
    _tell_problems("Failed", problems, State.FAILED)
    _tell_problems("Visited and not kept", problems, State.SKIPPED)
    _tell_exclusions(sample)
    _tell_politeness(sample)
    _tell_answers(sample)
    _tell_files(output)


def _tell_pages(sample: Sample) -> None:
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


def _tell_exclusions(sample: Sample) -> None:
    say("Links kept out by our own rules", style="bold")
    exclusions: Mapping[str, tuple[int, tuple[str, ...]]] = sample.status.exclusions
    for rule, (count, examples) in sorted(exclusions.items()):
        say(f"  {rule}: {count}, such as {examples[0]}")


def _tell_politeness(sample: Sample) -> None:
    say("Shortest rest of each host between two requests", style="bold")
    for host, gap_s in sorted(sample.gaps_s.items()):
        say_check(f"{host}: {gap_s:.3f} s (asked for: {DELAY_S} s)", is_good=gap_s >= DELAY_S)


def _tell_answers(sample: Sample) -> None:
    for query, searched in sample.answers.items():
        say(f"Search: {query}", style="bold")
        tell_hits(searched)


def _tell_files(output: Path) -> None:
    say("Files", style="bold")
    for name, told in {
        "md": "one markdown file a page",
        "pages.jsonl": "one JSON object a page",
        "warc": "the answers as they came",
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
