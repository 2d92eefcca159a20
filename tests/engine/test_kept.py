"""Kept pages, read again from their records."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import geomi.demo
from geomi.analyse.page import analyse
from geomi.dedup.decide import Duplicate, fingerprint
from geomi.engine.kept import subject_of
from geomi.engine.record import Portrait, capture, read_line
from geomi.extract.page import extract
from geomi.fetch.render import Rendering
from geomi.model.analysis import Subject
from geomi.model.config import Extraction
from geomi.model.entry import EntryKind, Source, UrlEntry
from geomi.model.indexing import AnalysisRules
from geomi.model.page import Article, DuplicateReason, Fetched
from geomi.model.signals import SILENCE
from geomi.model.verdict import State

SITE = Path(geomi.demo.__file__).parent / "site"
NOW_S = 1_763_251_200.0
RULES = AnalysisRules(article_fields=True)


def portrait(url: str, article: Article, duplicate: Duplicate | None) -> Portrait:
    entry = UrlEntry(
        "job", b"", url, "host:80", 0, 0, Source.SEED, EntryKind.PAGE, None, None, 0,
        State.PENDING, 0, 0.0, 0.0,
    )  # fmt: skip
    mark = fingerprint(article.text, b"", (), nofollow=False)
    rendering = Rendering(False, "")
    fetched = Fetched(url, 200)
    return Portrait(
        entry, fetched, article, mark, duplicate, rendering, False, SILENCE, "rules", NOW_S
    )


def kept(url: str, article: Article, duplicate: Duplicate | None = None) -> Subject:
    line = capture(portrait(url, article, duplicate), raw=False).record
    return subject_of(read_line(line), now_s=NOW_S)


@pytest.mark.parametrize(
    "name",
    [
        "shop.geomi.test/products/orb-kit",
        "www.geomi.test/faq",
        "www.geomi.test/ko/privacy",
        "blog.geomi.test/posts/why-spiders-rest",
        "docs.geomi.test/reference/config",
    ],
)
def test_a_record_says_of_a_page_what_the_page_said(name: str) -> None:
    url = f"http://{name}"
    article = extract((SITE / f"{name}.html").read_bytes(), url, "text/html", Extraction())
    seen = Subject(url, article, NOW_S, duplicate_of="")
    assert analyse(kept(url, article), RULES) == analyse(seen, RULES)


def test_a_copy_is_one_of_the_page_that_it_repeats() -> None:
    article = Article("t", "# t", "t", ())
    near = Duplicate("http://a.test/", DuplicateReason.NEAR, 0.93)
    copy = kept("http://b.test/", article, near)
    assert (copy.duplicate_of, copy.similarity) == ("http://a.test/", 0.93)
    exact = kept("http://b.test/", article, replace(near, reason=DuplicateReason.EXACT))
    assert exact.similarity == 1.0
