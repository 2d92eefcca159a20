"""Which characters the bytes of a robots.txt are (ROB-11).

Rules kept:
- A byte-order mark decides; else the charset of the Content-Type header; else it is UTF-8.
- A file that is not UTF-8 after all keeps its octets: `/caf\\xe9` still meets the URL `/caf%E9`
  (RFC 9309 §2.2.2 lets us bridge such a mismatch).
- Nothing raises, whatever label a server made up.
"""

from __future__ import annotations

import codecs
import re


def as_utf8(body: bytes, content_type: str) -> bytes:
    """Rewrite a body in UTF-8 where its header names another charset, so that copies have one."""
    codec = _CODECS.get(_charset(content_type))
    if codec is None or body.startswith(_MARKS):
        return body
    return body.decode(codec, "replace").encode("utf-8", "replace")


def decode(body: bytes) -> str:
    """Read a body by its byte-order mark, or else as UTF-8."""
    if body.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return body.decode("utf-16", "replace")
    body = body.removeprefix(codecs.BOM_UTF8)
    try:
        return body.decode()
    except UnicodeDecodeError:
        text = body.decode("utf-8", "surrogateescape")
        return _STRAY_OCTET.sub(lambda found: f"%{ord(found.group()) - 0xDC00:02X}", text)


_MARKS = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_STRAY_OCTET = re.compile("[\udc80-\udcff]")

# A closed list: the label comes from outside, and some of Python's codecs take quadratic time.
_CODECS = {
    "iso-8859-1": "cp1252",
    "latin1": "cp1252",
    "windows-1252": "cp1252",
    "iso-8859-2": "iso8859-2",
    "windows-1250": "cp1250",
    "windows-1251": "cp1251",
    "koi8-r": "koi8-r",
    "euc-kr": "cp949",
    "ks-c-5601-1987": "cp949",
    "cp949": "cp949",
    "shift-jis": "cp932",
    "euc-jp": "euc_jp",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "gb18030": "gb18030",
    "big5": "big5",
    "utf-16": "utf-16-le",
    "utf-16le": "utf-16-le",
    "utf-16be": "utf-16-be",
}


def _charset(content_type: str) -> str:
    for parameter in content_type.split(";")[1:]:
        name, _, value = parameter.partition("=")
        if name.strip().lower() == "charset":
            return value.strip(" \t\"'").lower().replace("_", "-")
    return ""
