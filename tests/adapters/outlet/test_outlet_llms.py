"""llms.txt and llms-full.txt of some pages."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from geomi.adapters.outlet.llms import MAX_TITLE_CHARS, LlmsTxt, llms_full_file, llms_full_passage
from geomi.engine.worker.publisher import Outlet

REPEATED = {"duplicate_of": "https://a.test/", "duplicate_reason": "exact"}
NEAR = REPEATED | {"duplicate_reason": "near", "similarity": 0.9}


def record(url: str, title: str = "", **fields: Any) -> bytes:
    """Make a record of a page, with what the files need of it."""
    page: dict[str, Any] = {"url": url, "final_url": url, "depth": 1, "title": title}
    return orjson.dumps(page | {"description": "", "markdown": "", "metadata": {}} | fields)


def site_map(folder: Path, *records: bytes, seed: str = "") -> str:
    """Write llms.txt of some records."""
    file = io.BytesIO()
    with LlmsTxt(folder, seed) as pages:
        for one in records:
            pages.add(one)
        pages.write(file)
    return file.getvalue().decode()


def test_a_site_is_drawn_by_its_folders(tmp_path: Path) -> None:
    found = site_map(
        tmp_path,
        record("https://a.test/docs/api/x", "X"),
        record("https://a.test/docs/getting-started/b", "B", description="How to\n begin."),
        record("https://a.test/docs/", "Home", depth=0, description="All of it."),
        record("https://a.test/docs/getting-started", "Start"),
        record("https://a.test/docs/about", "About"),
        record("https://b.test:8080/y", "Y"),
        record("https://a.test/docs/copy", "Copy", metadata=REPEATED),
    )
    assert found == (
        "# Home\n\n> All of it.\n\n## Pages\n\n- [Home](https://a.test/docs/)\n".replace(
            ")\n", "): All of it.\n"
        )
        + "- [About](https://a.test/docs/about)\n"
        "- [X](https://a.test/docs/api/x)\n"
        "\n## Getting started\n\n"
        "- [Start](https://a.test/docs/getting-started)\n"
        "- [B](https://a.test/docs/getting-started/b): How to begin.\n"
        "\n## b.test:8080\n\n"
        "- [Y](https://b.test:8080/y)\n"
    )


@pytest.mark.parametrize(
    ("page", "head"),
    [
        ({"title": "T", "metadata": {"og:site_name": "Site"}}, "# Site\n"),
        ({"title": "T", "markdown": "# T\n\nFirst words.\n\nMore."}, "# T\n\n> First words.\n"),
        ({"title": "", "markdown": "- a\n\n| b |"}, "# a.test\n"),
        ({"title": "a\n## b"}, "# a ## b\n"),
        ({"title": "x" * (MAX_TITLE_CHARS + 1)}, f"# {'x' * (MAX_TITLE_CHARS - 1)}…\n"),
        ({"title": "x" * MAX_TITLE_CHARS}, f"# {'x' * MAX_TITLE_CHARS}\n"),
    ],
)
def test_the_head_of_a_site_map(tmp_path: Path, page: dict[str, Any], head: str) -> None:
    found = site_map(tmp_path, record("https://a.test/", **page))
    assert found.startswith(f"{head}\n## Pages\n")


def test_the_first_seed_names_the_site(tmp_path: Path) -> None:
    pages = [record(f"https://{name}.test/", name, depth=0) for name in "ab"]
    assert site_map(tmp_path, *pages).startswith("# a\n")
    assert site_map(tmp_path, *pages, seed="https://b.test/").startswith("# b\n")


def test_no_page_is_no_file(tmp_path: Path) -> None:
    assert site_map(tmp_path) == ""


def test_a_link_cannot_be_ended_by_its_page(tmp_path: Path) -> None:
    url = "https://a.test/x_(y)"
    found = site_map(tmp_path, record(url, "a](http://evil.test)\n- [b"))
    assert found.endswith("- [a)(http://evil.test) - (b](https://a.test/x_%28y%29)\n")


SEGMENTS = st.lists(st.sampled_from(["a", "b", "a-b", "A", "%20", "가"]), max_size=3)
URLS = st.tuples(st.sampled_from(["a.test", "b.test:81"]), SEGMENTS, st.sampled_from(["", "/"]))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sets(URLS.map(lambda parts: (parts[0], *parts[1], parts[2])), min_size=1))
def test_every_page_is_named_once(tmp_path: Path, places: set[tuple[str, ...]]) -> None:
    urls = {f"https://{'/'.join(place)}".rstrip("/") + "/" for place in sorted(places)}
    found = site_map(tmp_path, *(record(url, "t") for url in sorted(urls))).splitlines()
    links = [line.partition("(")[2].rstrip(")") for line in found if line.startswith("- ")]
    assert sorted(links) == sorted(urls)


@pytest.mark.parametrize(
    ("page", "text"),
    [
        (
            {"title": "T", "markdown": "Words.\n"},
            "# T\nSource: https://a.test/\n\nWords.\n\n",
        ),
        (
            {"title": "T | Site", "markdown": "# T\n\nWords."},
            "# T\nSource: https://a.test/\n\nWords.\n\n",
        ),
        ({"metadata": REPEATED}, ""),
        ({"metadata": NEAR, "title": "T"}, "# T\nSource"),
        (
            {"metadata": {"signals": {"ai-train": "no", "tdm-reservation": 1, "noai": True}}},
            "# https://a.test/\nSource: https://a.test/\n"
            "Signals: ai-train=no, tdm-reservation=1, noai\n\n",
        ),
    ],
)
def test_a_passage(page: dict[str, Any], text: str) -> None:
    found = llms_full_passage(record("https://a.test/", **page)).decode()
    assert found.startswith(text)
    assert bool(found) is bool(text)


def test_the_full_text_is_an_output_that_grows(tmp_path: Path) -> None:
    path = tmp_path / "llms-full.txt"
    outlet: Outlet = llms_full_file(path)
    assert outlet.open(0)
    one, copy = (
        record("https://a.test/", "T"),
        record("https://a.test/x", metadata=REPEATED),
    )
    length = outlet.write([one, copy])
    assert outlet.write([copy]) == length
    outlet.close()
    assert path.read_bytes() == llms_full_passage(one)


def test_no_title_ends_or_swallows_its_link(tmp_path: Path) -> None:
    page = record("https://a.test/x", "a ] b` \\", description="see `x")
    found = site_map(tmp_path, record("https://a.test/", "Home", depth=0), page)
    assert "- [a ) b' /](https://a.test/x): see 'x\n" in found
