"""What a page says about itself."""

from __future__ import annotations

import json

import pytest

from geomi.extract import metadata
from geomi.extract.dom import parse_html
from geomi.extract.metadata import Metadata, read_metadata


def read(html: str) -> Metadata:
    return read_metadata(parse_html(html.encode(), "text/html"))


def json_ld(value: object) -> str:
    return f'<script type="application/ld+json">{json.dumps(value)}</script>'


@pytest.mark.parametrize(
    ("html", "title"),
    [
        ("<title> A\n title </title><meta property=og:title content=B><h1>C</h1>", "A title"),
        ("<title></title><meta property=og:title content=B><h1>C</h1>", "B"),
        ("<svg><title>icon</title></svg><h1>C <b>d</b></h1>", "C d"),
        (json_ld({"headline": "H"}) + "<h1>C</h1>", "H"),
        ("<p>nothing", ""),
    ],
)
def test_title(html: str, title: str) -> None:
    assert read(html).title == title


@pytest.mark.req("META-01")
def test_everything_the_head_says() -> None:
    said = read(
        '<html lang="ko-KR"><head><meta name="Description" content=" d  e ">'
        '<link rel="alternate canonical" href=" /c "><meta name="author" content="Kim">'
        '<meta property="article:published_time" content="2024-01-02">'
        '<meta property="article:modified_time" content="2024-02-03">'
    )
    assert (said.description, said.canonical, said.language) == ("d e", "/c", "ko-KR")
    assert (said.author, said.published_at, said.modified_at) == ("Kim", "2024-01-02", "2024-02-03")
    assert said.pairs == (
        ("article:published_time", "2024-01-02"),
        ("article:modified_time", "2024-02-03"),
    )


@pytest.mark.parametrize(
    "value",
    [
        {"datePublished": "2024", "dateModified": "2025", "author": "Lee", "headline": "x"},
        [{"@type": "Other", "author": "no"}, {"datePublished": "2024", "author": {"name": "Lee"}}],
        {"@graph": [{"datePublished": "2024", "author": [{"name": "Lee"}]}]},
    ],
)
def test_json_ld_is_read_wherever_it_stands(value: object) -> None:
    said = read(json_ld(value))
    assert (said.published_at, said.author) == ("2024", "Lee")


@pytest.mark.parametrize(
    "block",
    ["{", "[" * 5000, "null", '{"datePublished": {"a": 1}, "author": [[1]]}', '"\\ud800"', ""],
)
def test_broken_json_ld_says_nothing(block: str) -> None:
    said = read(f'<script type="application/ld+json">{block}</script><title>t</title>')
    assert (said.title, said.published_at, said.author) == ("t", "", "")


@pytest.mark.parametrize(
    ("html", "published", "modified"),
    [
        ('<article><time datetime="2024-05-06"></time>', "2024-05-06", ""),
        (
            '<time itemprop="dateModified" datetime="2024-05-07">x</time>'
            '<time itemprop="datePublished" datetime="2024-05-06">x</time>',
            "2024-05-06",
            "2024-05-07",
        ),
        (
            "<meta name=date content=soon><meta name=pubdate content='May 6, 2024'>",
            "2024-05-06",
            "",
        ),
        (
            json_ld({"headline": "x", "dateModified": "2024-05-07T01:02:03+0900"}),
            "",
            "2024-05-07T01:02:03+09:00",
        ),
    ],
)
@pytest.mark.req("META-01")
def test_the_first_date_that_can_be_read_is_taken(html: str, published: str, modified: str) -> None:
    said = read(html)
    assert (said.published_at, said.modified_at) == (published, modified)


@pytest.mark.parametrize(
    ("html", "author"),
    [
        ("<meta property=article:author content=https://f.test/kim><a rel=author>Kim</a>", "Kim"),
        (json_ld({"headline": "x", "author": [{"name": "Lee"}, {"name": "Park"}]}), "Lee, Park"),
        ("<meta name=author content='@kim'>", ""),
    ],
)
def test_an_author_is_a_name(html: str, author: str) -> None:
    assert read(html).author == author


def test_other_versions_of_a_page(monkeypatch: pytest.MonkeyPatch) -> None:
    html = (
        '<link rel="alternate" hreflang="ko" href="/ko"><link rel=alternate hreflang=en href=/en>'
        '<link rel="ALTERNATE" type="application/rss+xml" href="/feed">'
        '<link rel=alternate type="application/atom+xml" href="/atom"><link rel=alternate href=/x>'
        '<link rel="stylesheet" hreflang="de" href="/x"><link rel=alternate hreflang=fr>'
    )
    said = read(html)
    assert said.alternates == (("ko", "/ko"), ("en", "/en"))
    assert said.feeds == ("/feed", "/atom")
    monkeypatch.setattr(metadata, "MAX_ALTERNATES", 1)
    monkeypatch.setattr(metadata, "MAX_FEEDS", 1)
    assert (read(html).alternates, read(html).feeds) == ((("ko", "/ko"),), ("/feed",))


@pytest.mark.req("ROB-33")
@pytest.mark.parametrize(
    ("html", "robots"),
    [
        ('<meta name="ROBOTS" content="NoIndex, nofollow">', {"noindex", "nofollow"}),
        (
            "<meta name=robots content=noindex><meta name=robots content=noarchive>",
            {"noindex", "noarchive"},
        ),
        ('<meta name="geomi" content="noindex">', {"noindex"}),
        ("<meta name=robots content=none>", {"none", "noindex", "nofollow"}),
        ('<meta name="googlebot" content="noindex">', set()),
        ("", set()),
    ],
)
def test_robots_directives_are_words(html: str, robots: set[str]) -> None:
    assert read(html).robots == robots


@pytest.mark.parametrize(
    ("html", "language"),
    [
        ('<html xml:lang="de">', "de"),
        ('<meta http-equiv="Content-Language" content="ko">', "ko"),
        ('<meta property="og:locale" content="ko_KR">', "ko_KR"),
    ],
)
def test_a_language_may_be_declared_elsewhere(html: str, language: str) -> None:
    assert read(html).language == language


def test_values_and_their_number_are_limited() -> None:
    tags = "".join(f'<meta property="og:x{n}" content="v">' for n in range(60))
    said = read(f"<title>{'x' * 2000}</title>{tags}")
    assert len(said.title) == metadata.MAX_VALUE_CHARS
    assert len(said.pairs) == metadata.MAX_OPEN_GRAPH_PAIRS


@pytest.mark.parametrize(
    ("html", "field"),
    [
        ("<meta name=author content=a><meta name=description content=b>", "description"),
        ("<title></title><title>t</title>", "title"),
        ("<link rel=canonical href=''><link rel=canonical href=/a>", "canonical"),
    ],
)
def test_only_so_many_elements_of_a_kind_are_read(
    html: str, field: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert getattr(read(html), field) != ""
    monkeypatch.setattr(metadata, "MAX_ELEMENTS", 1)
    assert getattr(read(html), field) == ""
