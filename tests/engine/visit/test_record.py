"""A page read back from its record is understood as it was when it was fresh."""

from __future__ import annotations

from dataclasses import replace

import pytest

from geomi.analyse.page import analyse
from geomi.demo.pages import load_site
from geomi.engine.visit.record import (
    KeptPage,
    RecordFields,
    article_of,
    capture,
    date_of,
    read_line,
    subject_of,
)
from geomi.extract.page import extract
from geomi.fetch.response import decide_rendering
from geomi.model.config import Extraction, Render
from geomi.model.entry import EntryKind, Source, UrlEntry
from geomi.model.index.analysis import AnalysisInput, AnalysisRules, OnFinding
from geomi.model.page import Article, Duplicate, DuplicateReason, Fetched, Fingerprint
from geomi.model.robots import NO_SIGNALS
from geomi.model.verdict import State
from tests.support.hostile_pages import PAGES as HOSTILE

NOW_S = 1_763_251_200.0  # 2025-11-16
EVERYTHING = AnalysisRules(
    article_fields=True, sensitive=OnFinding.SKIP, copyright=OnFinding.SKIP, min_chars=0
)
SITE = {
    f"http://{host}{path}": given
    for (host, path), given in sorted(load_site().items())
    if given.content_type.startswith("text/html") and given.status == 200
} | {f"http://hostile.test{page.route}": page.reply for page in HOSTILE}


def fresh(url: str) -> Article:
    """Read a page as a crawl does."""
    given = SITE[url]
    return extract(given.body, url, given.content_type, Extraction())


def record(url: str, article: Article, duplicate: Duplicate | None = None) -> RecordFields:
    """Write a page down and read it back."""
    portrait = KeptPage(
        entry=_entry(url),
        fetched=Fetched(url, status=200, body=SITE[url].body),
        article=article,
        fingerprint=Fingerprint("", "", b"", 0),
        duplicate=duplicate,
        rendering=decide_rendering(Render.AUTO, article.needs_browser),
        nofollow=False,
        signals=NO_SIGNALS,
        rules="r",
        fetched_at_s=NOW_S,
    )
    return read_line(capture(portrait, raw=False).record)


def _entry(url: str) -> UrlEntry:
    return UrlEntry(
        job="job-1", url_hash=b"", url=url, host="", depth=0, priority=0, source=Source.SEED,
        kind=EntryKind.PAGE, parent=None, origin=None, hops=0, state=State.PENDING, attempts=1,
        due_s=0.0, discovered_s=0.0,
    )  # fmt: skip


@pytest.mark.req("ANA-01")
@pytest.mark.parametrize("url", SITE)
def test_a_page_of_the_archive_is_the_page_that_was_read(url: str) -> None:
    article = fresh(url)
    article = replace(article, robots=frozenset())  # such a page is never kept
    recalled = subject_of(record(url, article), now_s=NOW_S)
    assert analyse(recalled, EVERYTHING) == analyse(
        AnalysisInput(url, article, NOW_S, duplicate_of=""), EVERYTHING
    )


@pytest.mark.parametrize("url", SITE)
def test_what_is_not_asked_for_is_left_out_and_nothing_else(url: str) -> None:
    article = fresh(url)
    recalled = article_of(record(url, article))
    left_out = {
        "text": "", "outline": (), "robots": frozenset(), "rights": (), "sections": (),
        "alternates": (), "feeds": (), "needs_browser": "", "links_left_out": 0, "repeated": 0,
        "people": (), "mail_links": (), "unreadable": "",
    }  # fmt: skip
    expected = replace(article, **left_out, confidence=round(article.confidence, 3))  # type: ignore[arg-type]  # fields of Article
    assert replace(recalled, metadata=()) == replace(expected, metadata=())
    assert dict(recalled.metadata).items() <= dict(article.metadata).items()


@pytest.mark.parametrize(
    ("duplicate", "of", "similarity"),
    [
        (None, "", 1.0),
        (Duplicate("http://a.test/1", DuplicateReason.EXACT, 1.0), "http://a.test/1", 1.0),
        (Duplicate("http://a.test/1", DuplicateReason.NEAR, 0.9126), "http://a.test/1", 0.913),
        (Duplicate("http://a.test/1", DuplicateReason.NEAR, 1.0), "http://a.test/1", 1.0),
        (Duplicate("http://a.test/1", DuplicateReason.CANONICAL, 0.0), "http://a.test/1", 1.0),
    ],
    ids=str,
)
def test_what_a_page_repeats(duplicate: Duplicate | None, of: str, similarity: float) -> None:
    url = next(iter(SITE))
    subject = subject_of(record(url, fresh(url), duplicate), now_s=NOW_S)
    assert (subject.duplicate_of, subject.similarity) == (of, similarity)


@pytest.mark.parametrize(
    ("modified", "published", "expected_s"),
    [
        ("2024-03-01T12:00:00+00:00", "2020-01-01", 1_709_294_400.0),
        ("", "2024-03-01", 1_709_251_200.0),  # a day begins at midnight, UTC
        ("soon", "", NOW_S),
        ("", "", NOW_S),
    ],
)
def test_the_date_of_a_page(modified: str, published: str, expected_s: float) -> None:
    url = next(iter(SITE))
    article = replace(fresh(url), modified_at=modified, published_at=published)
    assert date_of(record(url, article)) == expected_s


@pytest.mark.parametrize(
    "metadata",
    [
        {},
        {"words": "many", "confidence": "sure", "headings": "none", "kinds": [1], "types": "x"},
        {"headings": [1, "x"], "kinds": {"a": "b"}, "duplicate_of": 7, "similarity": "0.5"},
    ],
    ids=str,
)
def test_a_record_of_another_making_is_read(metadata: dict[str, object]) -> None:
    url = next(iter(SITE))
    told: RecordFields = {**record(url, fresh(url)), "metadata": metadata}  # type: ignore[typeddict-item]  # on purpose
    subject = subject_of(told, now_s=NOW_S)
    assert subject.duplicate_of == ""
    assert analyse(subject, EVERYTHING).decision
