"""How well the main content of real pages is found, and what that costs, against other extractors.

    python -m bench.extract [--every N] [--only NAMES]

reads the sets of `../shared/corpus/content` (`GEOMI_CORPUS`) with every extractor that is
installed, all of them page by page in one process, and prints the word F1 by kind of page (WCXB),
the F1 of phrases (trafilatura's own set), CPU milliseconds a page, and how geomi found what. The
scores are those of `../shared/harness`, run in place; without that folder there is nothing to do.
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
from collections import defaultdict
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from statistics import mean
from types import ModuleType

from bench.adapters import extract, extract_article

Extractor = Callable[[str, str], str]
Scores = dict[str, float]
Row = dict[str, object]

SHARED = Path(__file__).parents[2] / "shared"
CORPUS = Path(os.environ.get("GEOMI_CORPUS") or SHARED / "corpus")
# The package that each peer needs; how it is called is the harness's own adapter.
PEERS = {"trafilatura": "trafilatura", "resiliparse": "resiliparse", "readability": "readability"}
ALL = "all pages"
CPU = "CPU ms"


def main() -> None:
    """Score and time all extractors on all sets."""
    options = _options()
    harness = _harness()
    extractors = _extractors(harness, options.only.split(",") if options.only else [])
    gc.collect()
    gc.freeze()  # what was imported stays for good, as in a worker; none pays for the others
    print(f"every {options.every}. page; F1 by kind of page (WCXB), CPU ms a page\n")
    words = _Words(_Readers(harness, extractors))
    phrases = _Phrases(_Readers(harness, extractors))
    for title, scored in (("wcxb", words), ("trafeval", phrases)):
        for row in _rows(title, options.every):
            for name in extractors:  # in turns, so that a busy moment of the machine hits all
                scored.add(name, row)
        _print({name: scored.scores(name) for name in extractors}, title)
    _print_strategies(options.every)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench.extract")
    parser.add_argument("--every", type=int, default=1, help="read every n-th page only")
    parser.add_argument("--only", default="", help="names, with commas between them")
    return parser.parse_args()


def _harness() -> ModuleType:
    folder = SHARED / "harness"
    if not folder.is_dir():
        raise SystemExit(f"there is no {folder}: the scores are defined there")
    sys.path.insert(0, str(folder))
    return importlib.import_module("score_content")


def _extractors(harness: ModuleType, only: list[str]) -> dict[str, Extractor]:
    found: dict[str, Extractor] = {"geomi": extract}
    for name, package in PEERS.items():
        if find_spec(package) is None:
            print(f"{name} is not installed: pip install {name}", file=sys.stderr)
        else:
            found[name] = harness.load(name)
    return {name: run for name, run in found.items() if not only or name in only}


class _Readers:
    """The extractors, and how long each took for the pages of one set."""

    def __init__(self, harness: ModuleType, extractors: dict[str, Extractor]) -> None:
        self.harness = harness
        self.took_ms: dict[str, list[float]] = defaultdict(list)
        self._extractors = extractors

    def read(self, name: str, row: Row) -> str:
        """Let one extractor read a page."""
        text, cpu_ms = _timed(self._extractors[name], row, self.harness)
        self.took_ms[name].append(cpu_ms)
        return text


class _Words:
    """Word F1 by kind of page."""

    def __init__(self, readers: _Readers) -> None:
        self._readers = readers
        self._f1: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))

    def add(self, name: str, row: Row) -> None:
        """Score one page."""
        text = self._readers.read(name, row)
        f1 = self._readers.harness.wordf1(text, row["main_content"])[2]
        self._f1[name][str(row["page_type"])].append(f1)
        self._f1[name][ALL].append(f1)

    def scores(self, name: str) -> Scores:
        """Return the means."""
        found = {key: mean(values) for key, values in self._f1[name].items()}
        return found | {CPU: mean(self._readers.took_ms[name])}


class _Phrases:
    """F1 of the phrases that should and should not be there."""

    def __init__(self, readers: _Readers) -> None:
        self._readers = readers
        self._counts: dict[str, list[tuple[int, int, int]]] = defaultdict(list)

    def add(self, name: str, row: Row) -> None:
        """Score one page."""
        text = self._readers.read(name, row)
        counts = self._readers.harness.seg_counts(text, row["with"], row["without"])
        self._counts[name].append(counts[:3])

    def scores(self, name: str) -> Scores:
        """Return the shares of all phrases."""
        right, wrong, missed = map(sum, zip(*self._counts[name], strict=True))
        return {
            "F1": 2 * right / max(2 * right + wrong + missed, 1),
            "precision": right / max(right + wrong, 1),
            "recall": right / max(right + missed, 1),
            CPU: mean(self._readers.took_ms[name]),
        }


def _print_strategies(every: int) -> None:
    """Say how often geomi weighs the blocks of a page, and what each way of reading costs."""
    took_ms: dict[str, list[float]] = defaultdict(list)
    for row in _rows("wcxb", every):
        started_s = time.process_time()
        article = extract_article(str(row["html"]), str(row["url"] or ""))
        took_ms[article.strategy].append((time.process_time() - started_s) * 1000)
    pages = sum(map(len, took_ms.values()))
    print(f"{'strategy':<16}{'share':>14}{CPU:>14}")
    for strategy, values in sorted(took_ms.items(), key=lambda item: -len(item[1])):
        print(f"{strategy:<16}{len(values) / pages:14.3f}{mean(values):14.3f}")


def _rows(source: str, every: int) -> Iterator[Row]:
    with lzma.open(CORPUS / "content" / f"{source}.jsonl.xz", "rt", encoding="utf-8") as lines:
        for line in islice(lines, 0, None, every):
            yield json.loads(line)


def _timed(run: Extractor, row: Row, harness: ModuleType) -> tuple[str, float]:
    started_s = time.process_time()
    try:
        text = run(str(row["html"]), str(row["url"] or "")) or ""
    except Exception:
        text = ""  # a peer that fails has found nothing
    cpu_ms = (time.process_time() - started_s) * 1000
    return harness.strip_md(text) if run is extract else text, cpu_ms


def _print(scores: dict[str, Scores], title: str) -> None:
    names = list(scores)
    print(f"{title:<16}" + "".join(f"{name:>14}" for name in names))
    for key in sorted(scores[names[0]], key=lambda key: (key == CPU, key == ALL, key)):
        print(f"{key:<16}" + "".join(f"{scores[name][key]:14.3f}" for name in names))
    if "trafilatura" in names and "geomi" in names:
        ratio = scores["trafilatura"][CPU] / scores["geomi"][CPU]
        print(f"CPU_ratio_vs_trafilatura={ratio:.1f}")
    print()


if __name__ == "__main__":
    main()
