"""What understanding a page costs, and what it says of real pages.

    python -m bench.analyse [--every N]

reads WCXB (`../shared/corpus/content`, or `GEOMI_CORPUS`), extracts each page once, and prints CPU
milliseconds a page for each step of the analysis and for the whole of it, which pages would be
indexed under the default rules, and how quality is spread by kind of page.
"""

from __future__ import annotations

import argparse
import json
import lzma
import os
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from statistics import mean, quantiles

from geomi.analyse.classify import classify
from geomi.analyse.copyright import find_copyright
from geomi.analyse.fields.by_type import read_fields
from geomi.analyse.page import analyse
from geomi.analyse.page_text import PageText, read_text
from geomi.analyse.quality import check_quality
from geomi.analyse.sensitive import find_sensitive
from geomi.analyse.summary import summarize
from geomi.extract.page import extract
from geomi.model.config import Extraction
from geomi.model.index.analysis import Analysis, AnalysisInput, AnalysisRules, PageType

CORPUS = Path(os.environ.get("GEOMI_CORPUS") or Path(__file__).parents[2] / "shared/corpus")
RULES = AnalysisRules(article_fields=True)
NOW_S = 1_763_251_200.0  # 2025-11-16, when the pages had been fetched


@dataclass(frozen=True, slots=True)
class Page:
    """A page of the set, extracted."""

    kind: str
    subject: AnalysisInput
    reading: PageText


Step = Callable[[Page], object]
STEPS: dict[str, Step] = {
    "reading": lambda p: read_text(p.subject.article.markdown, RULES.max_chars),
    "classify": lambda p: classify(p.subject.url, p.subject.article, p.reading),
    "quality": lambda p: check_quality(p.subject, p.reading, PageType.ARTICLE),
    "fields": lambda p: read_fields(
        p.subject.url, p.subject.article, p.reading, PageType.PRODUCT, of_articles=True
    ),
    "summary": lambda p: summarize(p.subject.article, p.reading, PageType.ARTICLE),
    "copyright": lambda p: find_copyright(p.subject.article),
    "sensitive": lambda p: find_sensitive(p.reading.text, RULES.sensitive_categories),
    "whole": lambda p: analyse(p.subject, RULES),
}


def main() -> None:
    """Time each step on all pages, in turns."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--every", type=int, default=1)
    pages = list(_pages(options.parse_args().every))
    STEPS["whole"](pages[0])  # load the model
    spent: defaultdict[str, list[float]] = defaultdict(list)
    found: list[tuple[str, Analysis]] = []
    for page in pages:
        for name, step in STEPS.items():
            started = time.process_time()
            result = step(page)
            spent[name].append(1000 * (time.process_time() - started))
            if isinstance(result, Analysis):
                found.append((page.kind, result))
    print(f"{len(pages)} pages; CPU ms a page: mean, 95 %")
    for name, times in spent.items():
        print(
            f"  {name:10s} {mean(times):6.2f} {quantiles(times, n=20, method='inclusive')[-1]:6.2f}"
        )
    _print_findings(found)


def _pages(every: int) -> Iterator[Page]:
    with lzma.open(CORPUS / "content" / "wcxb.jsonl.xz", "rt", encoding="utf-8") as lines:
        for line in islice(lines, 0, None, every):
            row = json.loads(line)
            body = row["html"].encode("utf-8", "replace")
            rules = Extraction(template=False)
            article = extract(body, row["url"], "text/html; charset=utf-8", rules)
            reading = read_text(article.markdown, RULES.max_chars)
            yield Page(row["page_type"], AnalysisInput(row["url"], article, NOW_S), reading)


def _print_findings(found: list[tuple[str, Analysis]]) -> None:
    print("\nby kind of page: overall quality (5 %, median, 95 %), indexed")
    by_kind: defaultdict[str, list[Analysis]] = defaultdict(list)
    for kind, analysis in found:
        by_kind[kind].append(analysis)
    for kind, analyses in sorted(by_kind.items()):
        scores = [a.quality.overall for a in analyses if a.quality]
        spread = quantiles(scores, n=20, method="inclusive")
        indexed = mean(a.decision.should_index for a in analyses)
        print(f"  {kind:14s} {spread[0]:4.1f} {spread[9]:4.1f} {spread[-1]:4.1f}  {indexed:.1%}")
    print("\ntypes", Counter(a.classification.page_type for _, a in found if a.classification))
    print("reasons", Counter(a.decision.reason for _, a in found))
    print("flags", Counter(flag for _, a in found if a.quality for flag in a.quality.raised))
    print("sensitive", Counter(s.category for _, a in found for s in a.sensitive))


if __name__ == "__main__":
    main()
