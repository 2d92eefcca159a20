"""What looking for personal data costs, by kind, and how well it is found.

    python -m bench.private [--every N] [--quality]

prints for each labelled set of `tests/unit/private`, and each kind, how many values there are, and
with which precision and recall they are found; with `--quality` that is all. Then it
reads the documentation of `../shared/corpus/content` (`GEOMI_CORPUS`) and the pages of the bench
web (`bench/web.py`, where it was made), and prints CPU milliseconds a page: of reading the page, of
`safety.pii = off`, `flag` and `redact` on top of it, and of each kind alone. Where
`phonenumberslite` is installed, it looks for the same telephone numbers, behind the same filter for
digits. The last line is for other programs:

    private_flag_ms_page=N private_redact_ms_page=N private_off_ms_page=N
"""

from __future__ import annotations

import argparse
import gc
import importlib
import json
import lzma
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path

from bench.web import SCRATCH
from geomi.engine.visit.privacy import Privacy
from geomi.extract.page import extract
from geomi.model.config import Extraction, Safety
from geomi.model.page import Article
from geomi.model.personal_data import SURE_KINDS, PiiAction, PiiKind
from geomi.private.detect import find
from geomi.private.digits import runs
from tests.unit.private.labelled import (
    BLIND_PEOPLE_AND_PLACES,
    HELD_OUT,
    LABELLED,
    PEOPLE_AND_PLACES,
    examples,
    score,
)

SHARED = Path(__file__).parents[2] / "shared"
CORPUS = Path(os.environ.get("GEOMI_CORPUS") or SHARED / "corpus")
ROUNDS = 3
MAX_PAGES = 500

Work = Callable[[Article], object]
_NAMED = (PiiKind.ADDRESS, PiiKind.NAME)
_LABELLED: dict[str, tuple[Sequence[str], Sequence[PiiKind]]] = {
    "own": (LABELLED, SURE_KINDS),
    "held out": (HELD_OUT, SURE_KINDS),
    "own, named": (PEOPLE_AND_PLACES, _NAMED),
    "blind, named": (BLIND_PEOPLE_AND_PLACES, _NAMED),
}


def main() -> None:
    """Measure every set there is."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--every", type=int, default=1, help="take every N-th page")
    parser.add_argument("--quality", action="store_true", help="print how well it is found alone")
    options = parser.parse_args()
    _print_quality()
    if not options.quality:
        _print_costs(options.every)


def _print_quality() -> None:
    print(f"{'set':<16} {'lines':>5}  {'kind':<12} {'values':>6} {'precision':>9} {'recall':>6}")
    for title, (files, kinds) in _LABELLED.items():
        lines = sum(1 for _ in examples(files))
        scores = score(partial(find, kinds=kinds), files, [])
        for kind in kinds:
            of_kind = scores[kind]
            values = of_kind.found + of_kind.missed
            found = f"{of_kind.precision:>9.3f} {of_kind.recall:>6.3f}"
            print(f"{title:<16} {lines:>5}  {kind:<12} {values:>6} {found}")


def _print_costs(every: int) -> None:
    sets = {"documentation": _documentation, "bench web": _web}
    last: dict[str, float] = {}
    for title, pages in sets.items():
        read_s, articles = _read(list(pages(every)))
        if not articles:
            print(f"{title}: not here", file=sys.stderr)
            continue
        chars = sum(len(article.markdown) for article in articles) // len(articles)
        print(f"\n{title}: {len(articles)} pages of {chars:,} characters; reading {read_s:.3f} ms")
        costs = {name: _ms_page(work, articles) for name, work in _works().items()}
        for name, cost in costs.items():
            print(f"  {name:<24} {cost:8.4f} ms/page")
        last = last or costs
    names = (PiiAction.FLAG, PiiAction.REDACT, PiiAction.OFF)
    print("\n" + " ".join(f"private_{name}_ms_page={last.get(name, 0.0):.4f}" for name in names))


def _works() -> dict[str, Work]:
    works: dict[str, Work] = {
        action: Privacy(Safety(action)).read
        for action in (PiiAction.OFF, PiiAction.FLAG, PiiAction.REDACT)
    }
    for kind in PiiKind:
        works[f"  {kind} alone"] = _finder((kind,))
    if find_spec("phonenumbers"):
        works["  phonenumberslite"] = _library()
    return works


def _finder(kinds: Sequence[PiiKind]) -> Work:
    return lambda article: find(article.markdown, kinds)


def _library() -> Work:
    """Return a search by the library, on what has seven digits near each other."""
    matcher = importlib.import_module("phonenumbers").PhoneNumberMatcher

    def search(article: Article) -> object:
        texts = [run.text for run in runs(article.markdown)]
        return [list(matcher(text, region)) for text in texts for region in ("US", "KR")]

    return search


def _ms_page(work: Work, articles: Sequence[Article]) -> float:
    """Return the best of some rounds: others are at work on this machine."""
    return min(_once(work, articles) for _ in range(ROUNDS)) * 1000 / len(articles)


def _once(work: Work, articles: Sequence[Article]) -> float:
    gc.collect()
    start_s = time.process_time()
    for article in articles:
        work(article)
    return time.process_time() - start_s


def _read(pages: Sequence[tuple[str, bytes]]) -> tuple[float, list[Article]]:
    start_s = time.process_time()
    articles = [
        extract(body, url, "text/html; charset=utf-8", Extraction(), max_links=10_000)
        for url, body in pages
    ]
    return (time.process_time() - start_s) * 1000 / (len(pages) or 1), articles


def _documentation(every: int) -> Iterator[tuple[str, bytes]]:
    file = CORPUS / "content" / "docs.jsonl.xz"
    if not file.exists():
        return
    with lzma.open(file, "rt", encoding="utf-8") as lines:
        for number, line in enumerate(lines):
            if number % every == 0:
                row = json.loads(line)
                yield row["url"], row["html"].encode("utf-8", "replace")


def _web(every: int) -> Iterator[tuple[str, bytes]]:
    files = sorted(SCRATCH.rglob("*.html"))[: MAX_PAGES * every : every]
    for file in files:
        yield f"http://bench.test/{file.name}", file.read_bytes()


if __name__ == "__main__":
    main()
