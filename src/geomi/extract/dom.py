"""The one door to the HTML parser: bytes in, a WHATWG tree out.

Nothing else imports the parser, so that it can be pinned, replaced and compared in one place. It
never raises: an unknown charset falls back to `<meta>` and sniffing, a selector that cannot be
read matches nothing, and input beyond `MAX_HTML_BYTES` is cut off.
"""

from __future__ import annotations

from turbohtml import Axis, Document, Element, Markdown, Namespace, Node, SelectorSyntaxError, parse
from turbohtml.detect import LanguageDetection, detect_language

from geomi.extract.charset import header_charset, mislabelled_charset, utf8_text

__all__ = [
    "HEADINGS",
    "MAX_HTML_BYTES",
    "Axis",
    "Document",
    "Element",
    "Markdown",
    "Namespace",
    "Node",
    "SelectorSyntaxError",
    "decode_plain",
    "guess_language",
    "parse_html",
    "select",
    "text_of",
]

HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
# 10 MB of dense markup takes about 300 MB as a tree (measured).
MAX_HTML_BYTES = 10 * 1024 * 1024
# The sample of a text that its language is read from, and how much of it there must be: a heading
# alone is often taken for the wrong language.
_SAMPLE_CHARS = 500
_MIN_SAMPLE_CHARS = 100
_SURE = LanguageDetection(threshold=0.5)
_TWO_LETTERS = {
    "ara": "ar", "ces": "cs", "cmn": "zh", "dan": "da", "deu": "de", "ell": "el", "eng": "en",
    "fin": "fi", "fra": "fr", "heb": "he", "hin": "hi", "hun": "hu", "ind": "id", "ita": "it",
    "jpn": "ja", "kor": "ko", "nld": "nl", "nob": "no", "pol": "pl", "por": "pt", "ron": "ro",
    "rus": "ru", "spa": "es", "swe": "sv", "tha": "th", "tur": "tr", "ukr": "uk", "vie": "vi",
}  # fmt: skip
# WHATWG names whose Python codec of the same name knows fewer characters.
_PYTHON_CODECS = {"EUC-KR": "cp949", "Shift_JIS": "cp932", "GBK": "gb18030"}


def parse_html(body: bytes, content_type: str) -> Document:
    """Parse a page, whatever its bytes are."""
    body = body[:MAX_HTML_BYTES]
    text = utf8_text(body)
    if text is not None:
        return parse(text, positions=False)
    charset = header_charset(body, content_type)
    if charset is not None:
        try:
            return parse(body, positions=False, encoding=charset)
        except LookupError:
            pass  # a label that nobody knows says nothing
    document = parse(body, positions=False, detect_encoding=True)
    if document.encoding == "UTF-8" and not body.isascii():
        return parse(body, positions=False, encoding=mislabelled_charset(body))
    return document


def decode_plain(body: bytes, content_type: str) -> str:
    """Decode a text/plain body by the rules of a page."""
    body = body[:MAX_HTML_BYTES]
    text = utf8_text(body)
    if text is not None:
        return text
    charset = parse_html(body, content_type).encoding or "utf-8"
    try:
        return body.decode(_PYTHON_CODECS.get(charset, charset), "replace")
    except LookupError:
        return body.decode("utf-8", "replace")


def select(node: Document | Element, selector: str) -> list[Element]:
    """Return what a configured selector matches."""
    try:
        return node.select(selector)
    except SelectorSyntaxError:
        return []


def text_of(node: Document | Element) -> str:
    """Return a node's text, its parts held apart by one space."""
    return " ".join(node.stripped_strings)


def guess_language(text: str) -> str:
    """Return the two-letter code of the language a text is surely written in, else nothing."""
    if len(text) < _MIN_SAMPLE_CHARS:
        return ""
    return _TWO_LETTERS.get(detect_language(text[:_SAMPLE_CHARS], _SURE).language or "", "")
