"""Pages that are cheap to send and dear to read, and pages in one charset that are called another.

`SMALL` pages fit into 256 KB and are read inside the worker; `LARGE` ones go to the killable child,
which the last of them outgrows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product

from geomi.model.verdict import Outcome

INLINE_BYTES = 256 * 1024
MIB = 1024 * 1024


def repeated(unit: bytes, size: int) -> bytes:
    """Say the same until so many bytes are full."""
    return unit * (size // len(unit))


def counted(unit: str, size: int) -> bytes:
    """Say the same with another number each time, until so many bytes are full."""
    return "".join(unit.format(n) for n in range(size // len(unit.format(10**5)))).encode()


def _twice(first: bytes, second: bytes, size: int) -> bytes:
    return repeated(first, size // 2) + repeated(second, size // 2)


# Each found a limit when it was new; the numbers are what 256 KB of it took before.
SHAPES: dict[str, Callable[[int], bytes]] = {
    "deep": lambda size: repeated(b"<div>", size),
    "deep-formatting": lambda size: repeated(b"<b><i><u>", size),
    "deep-paragraphs": lambda size: _twice(b"<div>", b"<p>", size),
    "adopted": lambda size: _twice(b"<b><p>", b"</b>", size),
    "foster-parents": lambda size: b"<table>" + repeated(b"<a>x", size),
    "deep-lists": lambda size: repeated(b"<ul><li>x", size),
    "deep-quotes": lambda size: repeated(b"<blockquote><p>x", size),
    "deep-tables": lambda size: repeated(b"<table><tr><td>", size),
    "siblings": lambda size: repeated(b"<p>x", size),
    "attributes": lambda size: b"<p " + counted("a{0}=1 ", size) + b">x",
    "attributes-of-the-root": lambda size: counted("<body a{0}>", size),  # 11 s, 3.9 GB
    "classes": lambda size: b'<p class="' + counted("c{0} ", size) + b'">x',
    "links": lambda size: counted("<a href=/skip/{0}>x</a>", size),
    "links-of-a-long-base": lambda size: (  # 17 s, 2.1 GB
        b"<base href=/skip/"
        + b"x/" * (size // 12)
        + b">"
        + counted("<a href=skip/{0}>x</a>", size // 2)
    ),
    "columns-spanned": lambda size: b"<table><tr>" + repeated(b"<td colspan=100>", size),  # 450 MB
    "rows-spanned": lambda size: b"<table>" + repeated(b"<tr><td rowspan=99 colspan=99>", size),
    "tables-spanned": lambda size: repeated(b"<table>" + b"<td colspan=100>" * 400, size),
    "columns-by-rows": lambda size: (  # 27 s
        b"<table><td colspan=1>" + _twice(b"<td>", b"<tr>", size)
    ),
    "options": lambda size: b"<select>" + repeated(b"<option>x", size),
    "templates": lambda size: repeated(b"<template>", size),
    "comments": lambda size: repeated(b"<!--", size),
    "entities": lambda size: repeated(b"&#x1f577;&NotEqualTilde;", size),
    "markdown": lambda size: repeated(b"*_`[](<!", size),
    "json": lambda size: b'<script type="application/ld+json">' + repeated(b'[{"a":', size),
    "one-word": lambda size: repeated(b"x", size),
    "spaces": lambda size: repeated(b" ", size),
    "nul-bytes": lambda size: repeated(b"x\0\0", size),
}


SMALL = tuple(SHAPES)
# A hundred thousand levels, attributes and links; a million siblings; and spans without number.
LARGE = {
    "deep": 1 * MIB,
    "deep-formatting": 1 * MIB,
    "attributes": 2 * MIB,
    "attributes-of-the-root": 2 * MIB,
    "links": 4 * MIB,
    "links-of-a-long-base": 2 * MIB,
    "columns-spanned": 4 * MIB,
    "rows-spanned": 2 * MIB,
    "tables-spanned": 2 * MIB,
    "entities": 4 * MIB,
    "json": 4 * MIB,
    "one-word": 9 * MIB,
    "siblings": 9 * MIB,
}
ENDINGS = {("siblings", 9 * MIB): Outcome.TOO_COMPLEX}  # of memory: its tree takes over 512 MiB


def document(shape: str, size: int) -> bytes:
    """Make a page of a shape, with a title and some words of its own before the trouble."""
    words = " ".join(f"{word} {shape}" for word in "some words of its own to keep".split())
    start = f"<!doctype html><title>{shape}</title><h1>{shape}</h1><p>{words}</p>".encode()
    return start + SHAPES[shape](size - len(start) - 64)


TEXT = {
    "korean": "안녕하세요. 데비안 설치 안내서에 오신 것을 환영합니다. 똠방각하",
    "japanese": "こんにちは。日本語のページです。漢字とカタカナが混ざっています。",
}
CODECS = {
    "korean": ("utf-8", "utf-8-sig", "cp949", "utf-16", "utf-16-le", "utf-16-be"),
    "japanese": ("utf-8", "shift_jis", "euc-jp", "utf-16-le"),
}
LABELS = ("", "utf-8", "utf-16", "no-such-charset")


def charsets() -> Iterator[tuple[str, bytes, str, str]]:
    """Yield a name, a body, its Content-Type and the text that must come out of it."""
    for language, codecs in CODECS.items():
        for codec, label in product(codecs, (*LABELS, "itself")):
            name = f"{language}-{codec}-called-{label or 'nothing'}"
            named = codec if label == "itself" else label
            kind = f"text/html; charset={named}" if named else "text/html"
            # Each text once: pages of one text are duplicates.
            text = f"{TEXT[language]} {name}"
            html = f"<html><title>{name}</title><h1>{name}</h1><p>{text}</p></html>"
            yield name, html.encode(codec), kind, text
