"""One path pattern of a robots.txt: its compare form and a matcher in linear time.

Rules kept:
- Both sides are brought to one form before they are compared (RFC 9309 §2.2.2, C-07): octets
  outside ASCII and characters that no URL may hold are percent-encoded, escapes of unreserved
  characters are undone, hex digits are upper case. Slashes and letter case stay as they are.
- `*` stands for any run of characters, `$` at the end for the end; `%2A` and `%24` mean the
  characters themselves (RFC 9309 §2.2.3).
- No regular expression is built from a pattern: stars split it into pieces that are looked for from
  left to right, never going back, so a hostile pattern gains nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

# Already in compare form: visible ASCII without `%` and without what a URL may not hold.
_PLAIN = re.compile(r"[!#-$&-;=?-\[\]_a-z~]*")
_ESCAPE_OR_ODD = re.compile(rb"%[0-9A-Fa-f]{2}|[^!#-;=?-\[\]_a-z~]")
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
        if not target.startswith(self.head):
            return False
        at = len(self.head)
        for piece in self.middle:
            at = target.find(piece, at)
            if at < 0:
                return False
            at += len(piece)
        return len(target) - at >= len(self.tail) and target.endswith(self.tail)


def compile_pattern(text: str) -> Pattern:
    """Compile the value of an `Allow` or `Disallow` line."""
    is_anchored = text.endswith("$")
    pieces = [compare_form(piece) for piece in text.removesuffix("$").split("*")]
    size = sum(map(len, pieces)) + len(pieces) - 1 + is_anchored
    is_exact = is_anchored and len(pieces) == 1
    tail = pieces.pop() if is_anchored and not is_exact else ""
    return Pattern(pieces[0], tuple(filter(None, pieces[1:])), tail, is_exact, size)


def compare_form(text: str) -> str:
    """Bring a path and query, or a piece of a pattern, to the form in which they are compared."""
    if _PLAIN.fullmatch(text):
        return text
    octets = text.encode("utf-8", "surrogatepass")
    return _ESCAPE_OR_ODD.sub(_canonical, octets).decode("ascii")


def _canonical(found: re.Match[bytes]) -> bytes:
    octets = found.group()
    if len(octets) == 1:
        return b"%%%02X" % octets[0]
    value = int(octets[1:], 16)
    return bytes((value,)) if value in _UNESCAPED else octets.upper()
