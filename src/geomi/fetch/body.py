"""The gates of a body: whether its type is wanted, and its bytes as text where it is not HTML.

The charset of plain text is found by G-11: BOM, header, what the text says of itself, then its
bytes. Only charsets of a closed list are used, under the names the web gives them (WHATWG
Encoding): a label comes from outside, and some of Python's codecs are no charsets at all.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Sequence

HEAD_BYTES = 1024  # where a text says which charset it has (WHATWG HTML §13.2.3.2)
SNIFF_BYTES = 65_536


def accepts(content_type: str, types: Sequence[str]) -> bool:
    """Say whether a media type is wanted; an empty list wants all, and a missing type passes."""
    media = content_type.partition(";")[0].strip().lower()
    if not types or not media:
        return True
    family = media.partition("/")[0] + "/*"
    return any(wanted.lower() in (media, family, "*/*") for wanted in types)


def decode_text(body: bytes, content_type: str) -> str:
    """Decode a body that is text but not HTML; whatever cannot be read becomes U+FFFD."""
    for mark, codec in _MARKS:
        if body.startswith(mark):
            return body[len(mark) :].decode(codec, "replace")
    codec = _declared(body, content_type) or _sniffed(body)
    return body.decode(codec, "replace")


_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)

_LABELS = {
    "utf-8": "utf-8",
    "utf8": "utf-8",
    "us-ascii": "cp1252",
    "ascii": "cp1252",
    "iso-8859-1": "cp1252",
    "latin1": "cp1252",
    "windows-1252": "cp1252",
    "iso-8859-2": "iso8859-2",
    "iso-8859-15": "iso8859-15",
    "windows-1250": "cp1250",
    "windows-1251": "cp1251",
    "koi8-r": "koi8-r",
    "utf-16": "utf-16-le",
    "utf-16le": "utf-16-le",
    "utf-16be": "utf-16-be",
    "euc-kr": "cp949",
    "ks_c_5601-1987": "cp949",
    "cp949": "cp949",
    "windows-949": "cp949",
    "shift_jis": "cp932",
    "windows-31j": "cp932",
    "euc-jp": "euc_jp",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "gb18030": "gb18030",
    "big5": "big5",
}
_LABEL = re.compile(rb"""(?:charset|encoding)\s{0,9}=\s{0,9}["']?([A-Za-z0-9_.:-]{1,40})""", re.I)

# Asian charsets worth trying, each with the characters that a text in it is full of. A wrong guess
# decodes too, but to rare characters.
_TELLING = (
    ("cp949", re.compile("[가-힣]")),
    ("cp932", re.compile("[ぁ-ヶ]")),
    ("euc_jp", re.compile("[ぁ-ヶ]")),
    ("gb18030", re.compile("[的一是不了在有人我他这中大来上国个到说们]")),
)
# Of the characters outside ASCII: common ones make up far more than this in a real text of theirs,
# and far less in a text of another.
_TELLING_SHARE = {"cp949": 0.5, "cp932": 0.3, "euc_jp": 0.3, "gb18030": 0.1}


def _declared(body: bytes, content_type: str) -> str | None:
    for text in (content_type.encode("ascii", "replace"), body[:HEAD_BYTES]):
        found = _LABEL.search(text)
        if found is not None and (codec := _LABELS.get(found[1].decode().lower())):
            return codec
    return None


def _sniffed(body: bytes) -> str:
    sample = body[:SNIFF_BYTES]
    if _reads(sample, "utf-8") is not None:
        return "utf-8"
    for codec, telling in _TELLING:
        text = _reads(sample, codec)
        if text is not None:
            foreign = sum(not character.isascii() for character in text)
            if len(telling.findall(text)) > foreign * _TELLING_SHARE[codec]:
                return codec
    # Mostly UTF-8 with some damage stays UTF-8; what is left is Western, where every octet reads.
    broken = sample.decode("utf-8", "replace").count("�")
    return "utf-8" if broken * 50 < len(sample) else "cp1252"


def _reads(sample: bytes, codec: str) -> str | None:
    """Decode a sample, forgiving a character that was cut at its end; None if it does not fit."""
    try:
        return codecs.getincrementaldecoder(codec)().decode(sample)
    except UnicodeDecodeError:
        return None
