"""The layout of a knowledge base: names that no site can choose, bodies as they came."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import pytest

from geomi.adapters.outlet.knowledge_base import KnowledgeTree, in_folder
from geomi.url.parse import split

KEY = "https://a.test/docs"
NAME = sha256(KEY.encode()).hexdigest()
BODY = b"<p>one</p>\r\n\r\n<p>two</p>"


def tree(root: Path) -> KnowledgeTree:
    return KnowledgeTree(in_folder(root), tenant="local", job="J1")


def files(root: Path) -> dict[str, bytes]:
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in root.rglob("*")
        if path.is_file()
    }


def answer(kind: str) -> bytes:
    return f"HTTP/1.1 200 OK\r\nServer: x\r\nContent-Type: {kind}\r\n\r\n".encode() + BODY


@pytest.mark.parametrize(
    ("kind", "ending"),
    [
        ("text/html", "html"),
        ("Text/HTML; charset=utf-8", "html"),
        ("application/xhtml+xml", "html"),
        ("", "html"),
        ("application/pdf", "pdf"),
        ("text/plain;charset=utf-8", "txt"),
        ("../../etc/passwd", "bin"),
    ],
)
@pytest.mark.req("STO-01", "URL-18")
def test_a_page_lies_where_its_key_says(tmp_path: Path, kind: str, ending: str) -> None:
    KnowledgeTree(in_folder(tmp_path), tenant="local", job="J1").write_page(
        KEY, b"{}", answer(kind)
    )
    assert files(tmp_path) == {
        f"crawls/local/J1/raw/{NAME}.{ending}": BODY,
        f"crawls/local/J1/extracted/{NAME}.json": b"{}",
    }


def test_a_page_without_a_response_has_no_body(tmp_path: Path) -> None:
    tree(tmp_path).write_page(KEY, b"{}", b"")
    assert list(files(tmp_path)) == [f"crawls/local/J1/extracted/{NAME}.json"]


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://a.test/", "a.test"),
        ("http://a.test/", "a.test"),
        ("https://a.test:8443/", "a.test_8443"),
        ("http://[::1]:8080/", "___1__8080"),
    ],
)
def test_a_robots_file_is_called_as_its_domain(tmp_path: Path, url: str, name: str) -> None:
    tree(tmp_path).write_robots(split(url), b"User-agent: *")
    assert files(tmp_path) == {f"robots/{name}.txt": b"User-agent: *"}


def test_what_was_understood_stands_in_the_extracted_record(tmp_path: Path) -> None:
    tree(tmp_path).write_page(KEY, b'{"url":"x"}', b"", b'{"quality":{"overall":7}}')
    (found,) = files(tmp_path).values()
    assert found == b'{"url":"x","analysis":{"quality":{"overall":7}}}'
