"""What one line or header says about the use of content: `Content-Signal` and `Content-Usage`.

Rules kept:
- Only known names with a known answer count, whatever else a line holds; nothing raises.
- `y` and `n` (draft-ietf-aipref-vocab) are written as `yes` and `no` (contentsignals.org), so that
  both vocabularies answer alike.
- Where a name is answered twice, the stricter answer counts: a reservation is never lost.
"""

from __future__ import annotations

from collections.abc import Iterable

Said = tuple[tuple[str, str], ...]

MAX_USAGE_CHARS = 1000  # read of one value; every name answered takes 200
NAMES = (
    # contentsignals.org; `use` is the most that may be taken of a page
    *("search", "ai-input", "ai-train", "use"),
    # draft-ietf-aipref-vocab, and names of its earlier versions that sites still send
    *("train-ai", "train-genai", "ai-output", "ai", "genai", "tdm", "bots"),
)


def read_usage(value: str) -> tuple[str, Said]:
    """Split a value into the path it speaks of, where it names one, and what it says."""
    text = value[:MAX_USAGE_CHARS].strip()
    path = ""
    if text.startswith(("/", "*")):
        path, *rest = text.split(maxsplit=1)
        text = rest[0] if rest else ""
    return path, combined(_pairs(text))


def combined(pairs: Iterable[tuple[str, str]]) -> Said:
    """Put answers together, the stricter one where there are several, in the order of `NAMES`."""
    said: dict[str, str] = {}
    for name, answer in pairs:
        said[name] = min(said.get(name, answer), answer, key=_STRICTEST_FIRST.index)
    return tuple((name, said[name]) for name in NAMES if name in said)


_STRICTEST_FIRST = ("no", "immediate", "reference", "full", "yes")
_ANSWERS = {"yes": "yes", "y": "yes", "no": "no", "n": "no"}
_LEVELS = {level: level for level in ("immediate", "reference", "full")}


def _pairs(text: str) -> Iterable[tuple[str, str]]:
    # RFC 9651 puts parameters behind a semicolon; people put the next name there.
    for part in text.replace(";", ",").split(","):
        name, _, answer = (word.strip().lower() for word in part.partition("="))
        meant = (_LEVELS if name == "use" else _ANSWERS).get(answer)
        if meant and name in NAMES:
            yield name, meant
