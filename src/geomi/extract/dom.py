"""Parse HTML: bytes come in, a WHATWG tree goes out. Only this module uses the parser.

So the parser can be pinned, replaced and compared in one place. This module never raises. An
unknown charset falls back to `<meta>` and sniffing, an invalid selector matches nothing, and input
beyond `MAX_HTML_BYTES` is cut off. Two things whose cost exceeds their size are removed: tags
beyond `MAX_ROOTS` that open the page again, and a `<base>` beyond `MAX_BASE_CHARS`.

The charset of a body is decided in this order (G-11): byte order mark, header, `<meta>`, sniffing,
UTF-8. Proof in the bytes overrules every label, because wrong labels are common: hardly any other
charset looks like multi-byte UTF-8, or like UTF-16 with its NULs. Any other label holds until the
bytes disprove it. A label is wrong if most of the body is broken under it. A Western label, which
is the default of many servers, is wrong if the letters beyond ASCII are side by side: `café` has
one among other letters, but Hangul in two bytes and Cyrillic have nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from html import escape
from itertools import islice
from typing import AnyStr

from turbohtml import (
    Axis,
    Document,
    Element,
    Markdown,
    Namespace,
    Node,
    SelectorSyntaxError,
    Text,
    parse,
)
from turbohtml.detect import detect

__all__ = [
    "HEADINGS",
    "MAX_HTML_BYTES",
    "Axis",
    "Document",
    "Element",
    "MarkdownRendering",
    "Namespace",
    "Node",
    "SelectorSyntaxError",
    "Text",
    "binary_problem",
    "decode_plain",
    "is_selector",
    "parse_html",
    "select",
    "text_of",
]
HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
# 10 MB of dense markup takes about 300 MB as a tree (measured).
MAX_HTML_BYTES = 10 * 1024 * 1024
# `<html>` and `<body>` that come again add their attributes to the first, and the parser copies all
# of them each time: 256 KB of `<body a1><body a2>…` took 11 s and 3.9 GB (turbohtml 1.15.4). Pages
# that hold whole other pages have a few. In a small page it costs less than looking for it.
MAX_ROOTS = 10
GUARDED_CHARS = 16 * 1024
# Every relative link becomes as long as its base, and a character of it nine bytes: a base of 40 kB
# and 13,000 links took 2 GB. Real ones stay below 200.
MAX_BASE_CHARS = 256
XHTML = "application/xhtml+xml"
# The WHATWG's own name for a charset that nobody can read: all of it is broken.
NO_CHARSET = "replacement"
_OPTIONS = Markdown(
    escaping=Markdown.Escaping(underscores=False), tables=Markdown.Tables(cell_blocks="text")
)
_CHOSEN = _OPTIONS._unpack()
_EMPTY_TAG = re.compile(
    r"<(script|style|title|textarea|iframe|noscript|div|span|p|a|i|b|em|strong|td|th|li|ul|ol|pre|"
    r"code|section|article|object|video|audio|canvas|button|select|label|h[1-6])"
    r"(\s[^<>]{0,2000}?)?/>"
)
_CDATA = re.compile(r"<!\[CDATA\[([^<\]]{0,100000})\]\]>")
_NOTHING = parse("", positions=False)
# `<html` and `<body`, and some names that nobody uses: this is twice as fast as to ignore case.
_ROOT = re.compile("<(?=[hHbB][tToO][mMdD][lLyY])")
_ROOT_BYTES = re.compile(b"<(?=[hHbB][tToO][mMdD][lLyY])")
MAX_CHARSET_CHARS = 40
# The share of broken characters that disproves a charset. UTF-8 whose lines were cut by a program
# that counts bytes stays below the first, and EUC-KR read as UTF-8 lies far above it. Others decode
# each other's bytes more readily: Shift_JIS read as EUC-KR breaks at one character in twelve.
BROKEN_UTF8_SHARE = 0.2
BROKEN_SHARE = 0.05
# UTF-16 without a mark is known by its markup and its spaces: every second byte of them is a NUL.
# Spaces alone are a tenth of a text; 가 (U+AC00) has its NUL on the other side.
NUL_SAMPLE_BYTES = 1024
NUL_SHARE = 0.1
NUL_DOMINANCE = 4
# Bytes beyond ASCII that have none beside them: most of them in Western languages, next to none in
# the others. A few bytes tell nothing.
WESTERN = "windows-1252"
WESTERN_SAMPLE_BYTES = 256 * 1024
MIN_HIGH_BYTES = 8
MIN_SINGLE_SHARE = 0.2
_HIGH_RUN = re.compile(rb"[\x80-\xff]+")
_MARKS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))
_ESCAPE = b"\x1b"
# Bytes that no text has (WHATWG MIME Sniffing §3). Compressed data has one in ten; a damaged page
# has a few in all.
_BINARY = bytes({*range(1, 0x20), 0x7F} - set(b"\t\n\f\r\x1b"))  # parsers drop NUL
BINARY_SHARE = 0.02
_PDF = b"%PDF-"


class MarkdownRendering(Markdown):
    """How a tree is written as markdown: one set of options, the converters of one page.

    The renderer asks for the options that are not its defaults, and comparing all of them anew for
    each page costs as much as writing a short one: so they are compared once.
    """

    def __init__(self, converters: Mapping[str, Callable[[Element, str], str]]) -> None:
        self.__dict__.update(_OPTIONS.__dict__, converters=converters)

    def _unpack(self) -> dict[str, object]:
        return {**_CHOSEN, "converters": self.converters}


def parse_html(body: bytes, content_type: str) -> Document:
    """Parse a page, whatever its bytes are."""
    text = decode_plain(body, content_type)
    if content_type.lower().lstrip().startswith(XHTML):
        text = _as_html(text)
    text = _with_few_roots(text, _ROOT, "<x-")
    document = parse(text, positions=False)
    for base in document.select("base[href]"):
        if len(base.attr("href") or "") > MAX_BASE_CHARS:
            base.decompose()
    return document


def binary_problem(body: bytes) -> str:
    """Say why a body is no text, whatever its label says; empty where it may be one."""
    if body.startswith(_PDF):
        return "it is a PDF, and is labelled as text"
    body = body[:MAX_HTML_BYTES]
    binary = len(body) - len(body.translate(None, _BINARY))
    if binary <= len(body) * BINARY_SHARE or _is_utf16(body):
        return ""
    return f"it is no text: {binary:,} of {len(body):,} bytes are binary"


def _is_utf16(body: bytes) -> bool:
    return body.startswith((b"\xff\xfe", b"\xfe\xff")) or bool(
        _utf16_codec(body[:NUL_SAMPLE_BYTES])
    )


def decode_plain(body: bytes, content_type: str) -> str:
    """Return the text of a page, or of a text/plain body, in the first charset that fits (G-11)."""
    body = body[:MAX_HTML_BYTES]
    text = proven_text(body)
    if text is not None:
        return text
    second_best = ""
    for charset in _charsets(body, content_type):
        # The parser's own codecs: Python's of the same names know fewer characters.
        text = body.decode(f"whatwg-{charset}".lower(), "replace")
        if is_broken(text):
            continue
        if not is_doubtful(body, charset):
            return text
        second_best = text
    return second_best or text or ""


def select(node: Document | Element, selector: str) -> list[Element]:
    """Return what a configured selector matches."""
    try:
        return node.select(selector)
    except SelectorSyntaxError:
        return []


def is_selector(text: str) -> bool:
    """Return whether a configured selector can be read."""
    try:
        _NOTHING.select(text)
    except SelectorSyntaxError:
        return False
    return True


def text_of(node: Document | Element) -> str:
    """Return a node's text, its parts held apart by one space."""
    return " ".join(node.stripped_strings)


def _as_html(text: str) -> str:
    """Write out what XML means otherwise: `<script/>` is empty there, and no page begins in it."""
    text = _EMPTY_TAG.sub(r"<\1\2></\1>", text)
    return _CDATA.sub(lambda match: escape(match[1], quote=False), text)


def _charsets(body: bytes, content_type: str) -> Iterator[str]:
    """Name the charsets that a body may be in: by its header, by `<meta>`, by its look alone."""
    if label := header_charset(body, content_type):
        yield _known_charset(label)
    safe = _with_few_roots(body, _ROOT_BYTES, b"<x-")
    yield parse(safe, positions=False, detect_encoding=True).encoding or NO_CHARSET
    yield detect(body.replace(b"<", b" ")).encoding or NO_CHARSET


def _known_charset(label: str) -> str:
    try:
        return parse(b"", encoding=label).encoding or NO_CHARSET
    except LookupError:
        return NO_CHARSET


def _with_few_roots(markup: AnyStr, root: re.Pattern[AnyStr], instead: AnyStr) -> AnyStr:
    """Give another name to tags that open the page, once there were too many of them."""
    if len(markup) < GUARDED_CHARS:
        return markup
    extra = next(islice(root.finditer(markup), MAX_ROOTS, None), None)
    if extra is None:
        return markup
    return markup[: extra.start()] + root.sub(instead, markup[extra.start() :])


def proven_text(body: bytes) -> str | None:
    """Return the text of a body that can only be UTF-8, of which ASCII is a part, or UTF-16."""
    for mark, codec in _MARKS:
        if body.startswith(mark):
            return body[len(mark) :].decode(codec, "replace")
    codec = _utf16_codec(body[:NUL_SAMPLE_BYTES])
    return body.decode(codec, "replace") if codec else _utf8_text(body)


def header_charset(body: bytes, content_type: str) -> str:
    """Return the label that the Content-Type gives to a body, if one of its charset is possible."""
    label = _parameter(content_type)
    is_impossible = label.startswith("utf-16") and b"\0" not in body[:NUL_SAMPLE_BYTES]
    return "" if is_impossible else label


def is_broken(text: str, share: float = BROKEN_SHARE) -> bool:
    """Return whether a body that reads like this is in another charset."""
    broken = text.count("\ufffd")
    foreign = len(text) - len(text.encode("ascii", "ignore")) if broken else 0
    return broken > foreign * share


def is_doubtful(body: bytes, charset: str) -> bool:
    """Return whether a body that is called Western looks like anything but that."""
    if charset.lower() != WESTERN:
        return False
    runs = _HIGH_RUN.findall(body[:WESTERN_SAMPLE_BYTES])
    high = sum(map(len, runs))
    single = sum(1 for run in runs if len(run) == 1)
    return high >= MIN_HIGH_BYTES and single < high * MIN_SINGLE_SHARE


def _utf16_codec(sample: bytes) -> str:
    if b"\0" not in sample:
        return ""
    sides = sample[0::2].count(0), sample[1::2].count(0)
    if max(sides) < len(sample) / 2 * NUL_SHARE or max(sides) < NUL_DOMINANCE * min(sides):
        return ""
    return "utf-16-be" if sides[0] > sides[1] else "utf-16-le"


def _utf8_text(body: bytes) -> str | None:
    if _ESCAPE in body and body.isascii():  # ISO-2022-JP is ASCII, and yet something else
        return None
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError:
        # Some damage, or the cut at a limit, does not make it anything else.
        text = body.decode("utf-8", "replace")
        return None if is_broken(text, BROKEN_UTF8_SHARE) else text


def _parameter(content_type: str) -> str:
    for parameter in content_type.lower().split(";")[1:]:
        name, _, value = parameter.partition("=")
        if name.strip() == "charset":
            return value.strip().strip("\"'")[:MAX_CHARSET_CHARS]
    return ""
