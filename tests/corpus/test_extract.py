"""Main content of pages that others wrote: floors that may rise, not fall.

Every n-th page of each set is read, 60 at most, so that the test stays fast; the whole sets are
scored with `bench/adapters.py`. Links are written as their text, for that is what the sets hold.
"""

from __future__ import annotations

import json
import lzma
import re
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from statistics import mean
from typing import TypedDict

import pytest

from geomi.extract.page import extract
from geomi.model.config import Extraction, LinkStyle
from tests.conftest import corpus_file

pytestmark = pytest.mark.corpus

RULES = Extraction(links=LinkStyle.TEXT)
MARKUP = re.compile(r"!\[([^\]]*)\]\([^)]*\)|^```.*$|\\(?=[\W_])|^[ \t]*\|?[-:| ]+\|[-:| ]*$", re.M)


class Page(TypedDict):
    url: str
    html: str
    main_content: str
    code: list[str]
    tables: list[list[list[str]]]
    headings: list[str]
    boilerplate: list[str]


def pages(file: Path, step: int) -> Iterator[Page]:
    with lzma.open(file, "rt", encoding="utf-8") as lines:
        for line in islice(lines, 0, None, step):
            page: Page = json.loads(line)
            yield page


def markdown(page: Page) -> str:
    return extract(page["html"].encode(), page["url"], "text/html", RULES).markdown


def words(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.lower()))


def word_f1(found: str, wanted: str) -> float:
    """Compare two texts as bags of words."""
    left, right = Counter(words(MARKUP.sub(r"\1", found)).split()), Counter(words(wanted).split())
    shared = (left & right).total()
    return 2 * shared / ((left.total() + right.total()) or 1)


def share(found: list[bool]) -> float:
    return mean(found) if found else 1.0


@pytest.mark.req("EXT-08", "MD-01", "MD-03", "MD-04")
def test_documentation_keeps_its_text_code_tables_and_headings(corpus: Path) -> None:
    scores: dict[str, list[float]] = {
        "text": [],
        "code": [],
        "rows": [],
        "headings": [],
        "leak": [],
    }
    for page in pages(corpus_file(corpus, "content/docs.jsonl.xz"), step=4):
        written = markdown(page)
        lines = [words(line) for line in written.splitlines() if line.count("|") >= 2]
        rows = [words(" ".join(row)) for table in page["tables"] for row in table if any(row)]
        titles = {words(line) for line in written.splitlines() if line.startswith("#")}
        everything = words(written)
        squeezed = re.sub(r"\s", "", written)
        scores["text"].append(word_f1(written, page["main_content"]))
        scores["code"].append(share([re.sub(r"\s", "", code) in squeezed for code in page["code"]]))
        scores["rows"].append(share([row in lines for row in rows]))
        scores["headings"].append(share([words(title) in titles for title in page["headings"]]))
        scores["leak"].append(mean([words(b) in everything for b in page["boilerplate"]] or [0]))
    assert mean(scores["text"]) >= 0.97
    assert mean(scores["code"]) >= 0.98
    assert mean(scores["rows"]) >= 0.95
    assert mean(scores["headings"]) >= 0.97
    assert mean(scores["leak"]) <= 0.03


@pytest.mark.req("EXT-08")
def test_the_main_content_of_pages_of_all_kinds_is_found(corpus: Path) -> None:
    found = [
        word_f1(markdown(page), page["main_content"])
        for page in pages(corpus_file(corpus, "content/wcxb.jsonl.xz"), step=20)
    ]
    assert len(found) <= 60
    assert mean(found) >= 0.86
