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
        {"@graph": [{"datePublished": "2024", "author": [{"name": "Lee"}, {"name": "Park"}]}]},
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


def test_json_ld_has_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    block = json_ld([{"x": 1}, {"datePublished": "2024"}])
    monkeypatch.setattr(metadata, "MAX_JSON_LD_NODES", 3)
    assert read(block).published_at == "2024"
    monkeypatch.setattr(metadata, "MAX_JSON_LD_NODES", 2)
    assert read(block).published_at == ""
    monkeypatch.setattr(metadata, "MAX_JSON_LD_NODES", 3)
    monkeypatch.setattr(metadata, "MAX_JSON_LD_CHARS", 10)
    assert read(block).published_at == ""


def test_a_time_element_is_the_last_source_of_a_date() -> None:
    assert read('<article><time datetime="2024-05-06"></time>').published_at == "2024-05-06"


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
        (f"{json_ld({})}{json_ld({'headline': 'h'})}", "title"),
    ],
)
def test_only_so_many_elements_of_a_kind_are_read(
    html: str, field: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert getattr(read(html), field) != ""
    monkeypatch.setattr(metadata, "MAX_ELEMENTS", 1)
    assert getattr(read(html), field) == ""
