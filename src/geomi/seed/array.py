"""The elements of a JSON array, one after the other, each with the line it begins at.

Rules kept:
- An element is decoded only where it is no larger than an element may be: 64 MB of `[[],[],…`
  would be some gigabytes of lists. One that is larger is passed over, not decoded.
- What is no JSON array is a `SeedError`: of one that is broken nothing can be trusted, because it
  is not known where the next element begins.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from geomi.errors import SeedError
from geomi.model.seed import ErrorType

MAX_ELEMENT_CHARS = 65_536
MAX_NESTING = 100  # of an element that is passed over

# Most records are shorter, and cutting out so many characters costs nothing beside decoding them.
FIRST_CHARS = 2048


@dataclass(frozen=True, slots=True)
class TooLarge:
    """Stands in the place of an element that was not decoded."""

    chars: int


@dataclass(frozen=True, slots=True)
class Element:
    """One element; numbers in it are None, since nothing here asks for one.

    Args:
        line: where it begins; the first line is 1.
    """

    index: int
    line: int
    value: object


def elements(data: bytes, *, max_elements: int) -> Iterator[Element]:
    """Yield what a JSON array holds; `SeedError` where it is none, or has more than that."""
    text = _text(data)
    at = _begin(text)
    index, line, counted = 0, 1, 0
    while text[at : at + 1] != "]" or index:
        if index == max_elements:
            raise SeedError(
                f"it has more than {max_elements} records",
                kind=ErrorType.VALIDATION,
                hint="split the file, or raise seeds.max_records",
            )
        line += text.count("\n", counted, at)
        counted = at
        value, at = _decode(text, at)
        yield Element(index, line, value)
        index += 1
        at = _space(text, at)
        if text[at : at + 1] == "]":
            break
        if text[at : at + 1] != ",":
            raise _broken(text, at, "`,` or `]` is missing")
        at = _space(text, at + 1)
    at = _space(text, at + 1)
    if at < len(text):
        raise _broken(text, at, "something follows the array")


def _text(data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise SeedError(
            f"it is no UTF-8: byte {error.start} is {error.object[error.start]:#04x}",
            kind=ErrorType.PARSE,
        ) from None


def _begin(text: str) -> int:
    """Return where the first element is, or the end of an empty array."""
    at = _space(text, 0)
    if text[at : at + 1] == "[":
        return _space(text, at + 1)
    if text[at : at + 1] in ("{", '"') or _NUMBER_OR_WORD.match(text, at):
        raise SeedError("it is no JSON array of records", kind=ErrorType.VALIDATION)
    raise _broken(text, at, "it is no JSON")


def _decode(text: str, at: int) -> tuple[object, int]:
    """Decode the element at a place, if it is small enough; return it and where it ends."""
    if text[at : at + 1] not in ("{", "[", '"'):
        word = _NUMBER_OR_WORD.match(text, at)
        if word is None:
            raise _broken(text, at, "a record is missing")
        return None, word.end()
    for size in (FIRST_CHARS, MAX_ELEMENT_CHARS):
        try:
            value, length = _DECODER.raw_decode(text[at : at + size])
        except RecursionError:
            break
        except ValueError:  # cut off, most likely
            continue
        return value, at + length
    end = _end(text, at)
    if end - at > MAX_ELEMENT_CHARS:
        return TooLarge(end - at), end
    try:
        _DECODER.raw_decode(text[at:end])
    except json.JSONDecodeError as error:
        raise _broken(text, at + error.pos, error.msg) from None
    except (ValueError, RecursionError):  # NaN, or what is deeper than the decoder goes
        pass
    raise _broken(text, at, "a record is no JSON")


def _end(text: str, at: int) -> int:
    """Find where an object, array or text ends, without making anything of it."""
    open_ones = list[str]()
    for token in _TOKEN.finditer(text, at):
        sign = token[0]
        if sign in _CLOSES:
            open_ones.append(_CLOSES[sign])
            if len(open_ones) > MAX_NESTING:
                raise _broken(text, token.start(), f"nested deeper than {MAX_NESTING}")
        elif sign[0] in "]}" and (not open_ones or open_ones.pop() != sign):
            raise _broken(text, token.start(), f"`{sign}` closes nothing")
        elif sign == '"':
            raise _broken(text, token.start(), "a text has no end")
        if not open_ones:
            return token.end()
    raise _broken(text, len(text), "the file ends too soon")


def _space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    assert found is not None, "it matches nothing, too"
    return found.end()


def _broken(text: str, at: int, what: str) -> SeedError:
    line = text.count("\n", 0, at) + 1
    column = at - text.rfind("\n", 0, at)
    return SeedError(f"line {line} column {column}: {what}", kind=ErrorType.PARSE)


def _no_number(_: str) -> None:
    """Leave a number out: one of a million digits takes minutes to be read."""


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


_DECODER = json.JSONDecoder(
    parse_int=_no_number, parse_float=_no_number, parse_constant=_no_constant
)
_SPACE = re.compile(r"[ \t\n\r]*")
_NUMBER_OR_WORD = re.compile(
    r"(?:-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null)(?=[\s,\]]|\Z)"
)
_CLOSES = {"{": "}", "[": "]"}
# A text as a whole, so that brackets in it are none; a quotation mark alone begins one without end.
# Possessive: a text of 64 MB must not be remembered place by place.
_TOKEN = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"|["{}\[\]]', re.DOTALL)
