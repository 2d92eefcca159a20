"""Which character set a body is in, as far as its bytes and its HTTP header can tell.

The order is that of G-11 with one exception: bytes that are valid multi-byte UTF-8 are UTF-8,
whatever a label says, because nothing else looks like it by accident and mislabelled pages are
common. A body that is called UTF-8 but is mostly broken as such is Korean (CP949) where that
fits, else Western. What neither bytes nor header tell is left to the parser, which reads `<meta>`
and sniffs.
"""

from __future__ import annotations

MAX_CHARSET_CHARS = 40
# A real UTF-8 page with some damaged characters stays far below this share of broken sequences;
# EUC-KR read as UTF-8 lies far above it.
BROKEN_SHARE = 0.2


def utf8_text(body: bytes) -> str | None:
    """Return the text of a body that can only be UTF-8; plain ASCII is left to its labels."""
    if body.isascii():
        return None
    try:
        return body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        # A body that was cut at a limit may end inside a character.
        whole = body[: error.start]
        is_cut = error.reason == "unexpected end of data" and not whole.isascii()
        return whole.decode("utf-8-sig") if is_cut else None


def header_charset(body: bytes, content_type: str) -> str | None:
    """Return the label that the Content-Type gives to a body that is not UTF-8, if it is usable."""
    label = _parameter(content_type)
    if not label or (label.startswith("utf-16") and b"\0" not in body[:1024]):
        return None
    if label in ("utf-8", "utf8") and not body.isascii():
        return mislabelled_charset(body)
    return label


def mislabelled_charset(body: bytes) -> str:
    """Return the charset of a body that is called UTF-8 and is not valid UTF-8."""
    decoded = body.decode("utf-8", "replace")
    foreign = len(decoded) - len(decoded.encode("ascii", "ignore"))
    if decoded.count("\ufffd") < foreign * BROKEN_SHARE:
        return "utf-8"
    try:
        body.decode("cp949")
    except UnicodeDecodeError:
        return "windows-1252"
    return "euc-kr"


def _parameter(content_type: str) -> str:
    for parameter in content_type.lower().split(";")[1:]:
        name, _, value = parameter.partition("=")
        if name.strip() == "charset":
            return value.strip().strip("\"'")[:MAX_CHARSET_CHARS]
    return ""
