"""How well the main content of real pages is found, and what that costs, against other extractors.

    python -m bench.extract [--every N] [--only NAMES]

reads the sets of `../shared/corpus/content` (`GEOMI_CORPUS`) with every extractor that is
installed, one after the other in one process, and prints the word F1 by kind of page (WCXB), the F1
of phrases (trafilatura's own set), CPU milliseconds a page, and how geomi found what. The scores
are those of `../shared/harness`, run in place; without that folder there is nothing to do.
"""

from __future__ import annotations

import argparse
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
    print(f"every {options.every}. page; F1 by kind of page (WCXB), CPU ms a page\n")
    for title, score in (("wcxb", _score_words), ("trafeval", _score_phrases)):
        _print({n: score(harness, run, options.every) for n, run in extractors.items()}, title)
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


def _score_words(harness: ModuleType, run: Extractor, every: int) -> Scores:
    found: dict[str, list[float]] = defaultdict(list)
    for row in _rows("wcxb", every):
        text, cpu_ms = _timed(run, row, harness)
        f1 = harness.wordf1(text, row["main_content"])[2]
        found[str(row["page_type"])].append(f1)
        found[ALL].append(f1)
        found[CPU].append(cpu_ms)
    return {key: mean(values) for key, values in found.items()}


def _score_phrases(harness: ModuleType, run: Extractor, every: int) -> Scores:
    right = wrong = missed = 0
    took_ms: list[float] = []
    for row in _rows("trafeval", every):
        text, cpu_ms = _timed(run, row, harness)
        counts = harness.seg_counts(text, row["with"], row["without"])
        right, wrong, missed = right + counts[0], wrong + counts[1], missed + counts[2]
        took_ms.append(cpu_ms)
    return {
        "F1": 2 * right / max(2 * right + wrong + missed, 1),
        "precision": right / max(right + wrong, 1),
        "recall": right / max(right + missed, 1),
        CPU: mean(took_ms),
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


def _rows(source: str, every: int) -> Iterator[dict[str, object]]:
    with lzma.open(CORPUS / "content" / f"{source}.jsonl.xz", "rt", encoding="utf-8") as lines:
        for line in islice(lines, 0, None, every):
            yield json.loads(line)


def _timed(run: Extractor, row: dict[str, object], harness: ModuleType) -> tuple[str, float]:
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
