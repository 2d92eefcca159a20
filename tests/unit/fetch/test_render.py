"""Whether a page is only a shell."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geomi.fetch.render import MAX_NOTE_BYTES, MAX_SHELL_CHARS, SCAN_BYTES, needs_browser

SCRIPT = '<script src="/a.js"></script>'


@pytest.mark.parametrize(
    ("html", "word"),
    [
        (f'<body><div id="root"></div>{SCRIPT}', "root"),
        (f"<body><div class=x id='app' data-v> \n </div>{SCRIPT}", "root"),
        (f"<div id=__next></div>{SCRIPT}", "root"),
        (f"<app-root></app-root>{SCRIPT}", "root"),
        ('<p>x</p><script id="__NEXT_DATA__" type="application/json">{}</script>', "data"),
        (f"<noscript>You need to enable JavaScript to run this app.</noscript>{SCRIPT}", "note"),
        (f"<noscript>자바스크립트를 켜 주세요</noscript>{SCRIPT}", "note"),
        (f"<noscript>x</noscript><NOSCRIPT>Please turn on JavaScript</NOSCRIPT>{SCRIPT}", "note"),
        (f"<div id='root'><p>short</p></div>{SCRIPT}", ""),
        (f"<div id='rooted'></div>{SCRIPT}", ""),
        (f"<noscript><img src=pixel></noscript><p>short</p>{SCRIPT}", ""),
        (f"<noscript>javascript pixel</noscript>{SCRIPT}", ""),
        (f"<noscript>enable JavaScript{SCRIPT}", ""),
        (f"<p>A short page.</p>{SCRIPT}", ""),
        ("", ""),
    ],
)
def test_shells(html: str, word: str) -> None:
    reason = needs_browser(10, html.encode(), scripts=1)
    assert bool(reason) is bool(word)
    assert word in reason


SHELL = b'<div id="root"></div>'


@pytest.mark.parametrize("extra", [0, 1])
def test_a_page_with_text_is_no_shell(extra: int) -> None:
    assert bool(needs_browser(MAX_SHELL_CHARS + extra, SHELL, scripts=1)) is not bool(extra)


def test_a_page_without_scripts_is_no_shell() -> None:
    assert needs_browser(0, SHELL, scripts=0) == ""


def test_only_the_first_part_is_read() -> None:
    assert needs_browser(0, b" " * (SCAN_BYTES - len(SHELL)) + SHELL, scripts=1)
    assert not needs_browser(0, b" " * SCAN_BYTES + SHELL, scripts=1)
    note = b"<noscript>%s enable javascript</noscript>"
    assert not needs_browser(0, note % (b"x" * MAX_NOTE_BYTES), scripts=1)


@pytest.mark.parametrize(
    "piece", [b"<noscript>", b"<div id=root ", b"<div id=root> ", b"<app-root>"]
)
def test_hostile_pages_cost_little(piece: bytes) -> None:
    started = time.perf_counter()
    assert not needs_browser(0, piece * (SCAN_BYTES // len(piece)), scripts=1)
    assert time.perf_counter() - started < 1.0


@given(st.binary(max_size=200))
def test_any_bytes(html: bytes) -> None:
    needs_browser(0, html, scripts=1)
