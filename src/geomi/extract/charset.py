"""Which character set a body is in: byte order mark, header, `<meta>`, sniffing, UTF-8 (G-11).

The order has one exception: what the bytes themselves prove outranks every label, because
mislabelled pages are common. Multi-byte UTF-8 looks like nothing else by accident, and neither does
UTF-16 with its NULs. Any other label is believed until the bytes disprove it: a body that is mostly
broken when read by a label is not in that charset, and the next in the order is asked. So is one
that is called Western, as servers do by default, while its letters beyond ASCII stand side by side:
`café` has one of them between others, Hangul in two bytes and Cyrillic have nothing else. `dom`
does the asking, because `<meta>` and sniffing are the parser's.
"""

from __future__ import annotations

import re

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
    """Say whether a body that reads like this is in another charset."""
    broken = text.count("\ufffd")
    foreign = len(text) - len(text.encode("ascii", "ignore")) if broken else 0
    return broken > foreign * share


def is_doubtful(body: bytes, charset: str) -> bool:
    """Say whether a body that is called Western looks like anything but that."""
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
