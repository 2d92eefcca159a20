"""One markdown file a page, at a place that no URL can choose."""

from __future__ import annotations

import errno
import json
import re
from hashlib import sha256
from pathlib import Path
from typing import NoReturn

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from geomi.adapters.outlet.markdown import MAX_SLUG_CHARS, MarkdownTree
from geomi.engine.worker.publisher import Outlet
from geomi.errors import StoreError, StoreFull

SAFE = re.compile(r"[a-z0-9._-]+/[a-z0-9-]+-[0-9a-f]{12}\.md")


def written(root: Path, url: str, **fields: str) -> Path:
    return MarkdownTree(root).write_page(orjson.dumps({"url": url, "markdown": "# Hi", **fields}))


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://a.test/", "a.test/index"),
        ("https://A.test:8080/Docs/Get_Started.html?x=1#y", "a.test_8080/docs-get-started-html"),
        ("https://user:secret@a.test/p", "a.test/p"),
        ("https://a.test/%ED%95%9C/intro", "a.test/intro"),
        ("https://a.test/../../etc/passwd", "a.test/etc-passwd"),
        ("https://../x", "_/x"),
        ("https://[::1]/x", "___1_/x"),
        ("https://a.test\\..\\x", "a.test/x"),
        ("", "_/index"),
    ],
)
def test_a_page_lies_under_its_host(tmp_path: Path, url: str, name: str) -> None:
    digest = sha256(url.encode()).hexdigest()[:12]
    assert written(tmp_path, url).relative_to(tmp_path) == Path(f"{name}-{digest}.md")


def test_a_slug_stops_at_its_limit(tmp_path: Path) -> None:
    name = written(tmp_path, "https://a.test/" + "a" * (MAX_SLUG_CHARS + 1)).name
    assert name.rpartition("-")[0] == "a" * MAX_SLUG_CHARS


@given(st.text() | st.from_regex(r"https?://[.\\/a]{0,20}(/\.\.|%2e%2e|\\){0,9}", fullmatch=True))
def test_no_url_leads_out_of_the_folder(tmp_path_factory: pytest.TempPathFactory, url: str) -> None:
    root = tmp_path_factory.getbasetemp() / "tree"
    path = written(root, url)
    assert path.resolve().is_relative_to(root.resolve())
    assert SAFE.fullmatch(path.relative_to(root).as_posix())


def test_front_matter_then_text(tmp_path: Path) -> None:
    path = written(
        tmp_path, "https://a.test/", title='한 "quoted"\n: x', fetched_at="2026-01-02T03:04:05Z"
    )
    assert path.read_text("utf-8") == (
        "---\n"
        'url: "https://a.test/"\n'
        'title: "한 \\"quoted\\"\\n: x"\n'
        'fetched_at: "2026-01-02T03:04:05Z"\n'
        "---\n"
        "\n"
        "# Hi\n"
    )


def test_what_is_reserved_stands_at_the_head(tmp_path: Path) -> None:
    signals = {"ai-train": "no", "tdm-reservation": 1, "noai": True}
    record = orjson.dumps({"url": "https://a.test/", "metadata": {"signals": signals}})
    text = MarkdownTree(tmp_path).write_page(record).read_text("utf-8")
    assert '\nsignals: {"ai-train": "no", "tdm-reservation": 1, "noai": true}\n---\n' in text


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1))
def test_a_title_is_one_printable_line_that_reads_back(
    tmp_path_factory: pytest.TempPathFactory, title: str
) -> None:
    path = written(tmp_path_factory.getbasetemp() / "titles", "https://a.test/", title=title)
    line = path.read_text("utf-8").split("\n")[2]
    assert line.isprintable()
    escaped = re.sub(
        r"(?<!\\)((?:\\\\)*)\\U([0-9a-f]{8})",
        lambda match: match[1] + json.dumps(chr(int(match[2], 16)))[1:-1],
        line.removeprefix("title: "),
    )
    assert json.loads(escaped) == title


def test_a_page_is_replaced_whole(tmp_path: Path) -> None:
    first = written(tmp_path, "https://a.test/", title="one")
    second = written(tmp_path, "https://a.test/", title="two")
    assert first == second
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [second]
    assert "two" in second.read_text("utf-8")


def test_pages_are_counted_and_a_lost_folder_is_said(tmp_path: Path) -> None:
    tree: Outlet = MarkdownTree(tmp_path / "md")
    assert not tree.open(5)
    assert tree.open(0)
    records = [orjson.dumps({"url": f"https://a.test/{number}"}) for number in range(3)]
    assert tree.write(records[:1]) == 1
    assert tree.write(records[1:]) == 3
    tree.close()
    assert tree.open(3)
    assert len(list((tmp_path / "md").rglob("*.md"))) == 3


def test_a_full_disk_leaves_the_page_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path, "https://a.test/", title="one")

    def full(*_: object) -> NoReturn:
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(StoreFull):
        written(tmp_path, "https://a.test/", title="two")
    assert [file for file in tmp_path.rglob("*") if file.is_file()] == [path]
    assert "one" in path.read_text("utf-8")


@pytest.mark.parametrize("record", [b"", b"{", b"[]", b'"text"'])
def test_what_is_no_record_is_refused(tmp_path: Path, record: bytes) -> None:
    with pytest.raises(StoreError, match="a page's record is"):
        MarkdownTree(tmp_path).write([record])


def test_a_file_where_the_folder_should_be_is_refused(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("something else")
    with pytest.raises(StoreError):
        MarkdownTree(tmp_path / "out").write_page(b'{"url": "http://a.test/", "markdown": "x"}')
