"""One path pattern of a robots.txt: its compare form and a matcher in linear time.

Rules kept:
- Both sides are brought to one form before they are compared (C-07). The RFC's form (§2.2.2):
  octets outside ASCII and characters that no URL may hold are percent-encoded, escapes of
  unreserved characters are undone, hex digits are upper case; slashes and letter case stay. The raw
  form (seed 001 §5) undoes no escape, and a run of slashes is one.
- `*` stands for any run of characters, `$` at the end for the end; `%2A` and `%24` mean the
  characters themselves (RFC 9309 §2.2.3).
- No regular expression is built from a pattern: stars split it into pieces that are looked for from
  left to right, never going back, so a hostile pattern gains nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from geomi.model.config import Compare

Form = Callable[[str], str]

# Already in compare form: visible ASCII without `%` and without what a URL may not hold.
_PLAIN = re.compile(r"[!#-$&-;=?-\[\]_a-z~]*")
_ESCAPE_OR_ODD = re.compile(rb"%[0-9A-Fa-f]{2}|[^!#-;=?-\[\]_a-z~]")
_SLASHES = re.compile("/{2,}")
# With more pieces than this, it pays to look first for the last place of the last one: most fail
# there, or soon after it was passed, and are spared the walk over all their pieces.
_FEW = 3
# Unreserved characters (RFC 3986 §2.3), and the two that a pattern can only write as an escape.
_UNESCAPED = frozenset(
    b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~" + b"*$"
)


@dataclass(frozen=True, slots=True)
class Pattern:
    """A compiled pattern.

    Args:
        head: what the path must begin with, and be when the pattern `is_exact`.
        middle: what must follow somewhere, in this order.
        tail: what it must end with after all that; empty when the pattern does not end in `$`.
        size: its length in octets, which decides between rules (RFC 9309 §2.2.2).
    """

    head: str
    middle: tuple[str, ...]
    tail: str
    is_exact: bool
    size: int

    def matches(self, target: str) -> bool:
        """Say whether the pattern covers a path and query in compare form."""
        if self.is_exact:
            return target == self.head
        if not (target.startswith(self.head) and target.endswith(self.tail)):
            return False
        last = target.rfind(self.middle[-1]) if len(self.middle) > _FEW else len(target)
        at, find = len(self.head), target.find
        for piece in self.middle:
            at = find(piece, at)
            if not 0 <= at <= last:
                return False
            at += len(piece)
        return len(target) - at >= len(self.tail)


def compile_pattern(text: str, compare: Compare = Compare.RFC) -> Pattern:
    """Compile the value of an `Allow` or `Disallow` line."""
    is_anchored = text.endswith("$")
    pieces = list(map(form_of(compare), text.removesuffix("$").split("*")))
    size = sum(map(len, pieces)) + len(pieces) - 1 + is_anchored
    is_exact = is_anchored and len(pieces) == 1
    tail = pieces.pop() if is_anchored and not is_exact else ""
    return Pattern(pieces[0], tuple(filter(None, pieces[1:])), tail, is_exact, size)


def form_of(compare: Compare) -> Form:
    """Return what brings a path and query, or a piece of a pattern, to its compare form."""
    return _rfc_form if compare is Compare.RFC else _raw_form


def _rfc_form(text: str) -> str:
    if _PLAIN.fullmatch(text):
        return text
    octets = text.encode("utf-8", "surrogatepass")
    return _ESCAPE_OR_ODD.sub(_canonical, octets).decode("ascii")


def _raw_form(text: str) -> str:
    if not _PLAIN.fullmatch(text):
        octets = text.encode("utf-8", "surrogatepass")
        text = _ESCAPE_OR_ODD.sub(_escaped, octets).decode("ascii")
    return _SLASHES.sub("/", text)


def _canonical(found: re.Match[bytes]) -> bytes:
    octets = _escaped(found)
    value = int(octets[1:], 16)
    return bytes((value,)) if value in _UNESCAPED else octets


def _escaped(found: re.Match[bytes]) -> bytes:
    octets = found.group()
    return octets.upper() if len(octets) > 1 else b"%%%02X" % octets[0]
