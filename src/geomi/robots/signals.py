"""Read a site's signals about the use of its content, from lines, headers and tags.

Rules kept:
- Nothing here forbids anything: geomi records signals and passes them on.
- Of `Content-Signal` and `Content-Usage` only known names with a known answer count; nothing
  raises. `y` and `n` (draft-ietf-aipref-vocab) are written as `yes` and `no` (contentsignals.org).
- If a name has two answers, in one place or in several, the stricter answer counts
  (draft-ietf-aipref-attach §4): a reservation is never lost.
- The page's own TDM tags win over the headers of its answer (TDMRep §6), value by value.
- Words of meta robots and X-Robots-Tag are those that hold for us: `directives` has selected them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from geomi.model.robots import NO_SIGNALS, Signal, Signals
from geomi.robots.meta import RESERVATIONS

Said = tuple[tuple[str, str], ...]
MAX_USAGE_CHARS = 1000  # read of one value; every name answered takes 200
NAMES = (
    # contentsignals.org; `use` is the most that may be taken of a page
    *("search", "ai-input", "ai-train", "use"),
    # draft-ietf-aipref-vocab, and names of its earlier versions that sites still send
    *("train-ai", "train-genai", "ai-output", "ai", "genai", "tdm", "bots"),
)
_STRICTEST_FIRST = ("no", "immediate", "reference", "full", "yes")
_ANSWERS = {"yes": "yes", "y": "yes", "no": "no", "n": "no"}
_LEVELS = {level: level for level in ("immediate", "reference", "full")}
MAX_POLICY_CHARS = 2048
RESERVATION, POLICY, LICENSE = "tdm-reservation", "tdm-policy", "license"
_USAGE_HEADERS = ("content-usage", "content-signal")
_HEADERS = frozenset({*_USAGE_HEADERS, RESERVATION, POLICY})
_Pairs = Sequence[tuple[str, str]]


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


def _pairs(text: str) -> Iterable[tuple[str, str]]:
    # RFC 9651 puts parameters behind a semicolon; people put the next name there.
    for part in text.replace(";", ",").split(","):
        name, _, answer = (word.strip().lower() for word in part.partition("="))
        meant = (_LEVELS if name == "use" else _ANSWERS).get(answer)
        if meant and name in NAMES:
            yield name, meant


def read_signals(site: Said, headers: _Pairs, wishes: frozenset[str], tags: _Pairs) -> Signals:
    """Collect everything that is said about the use of one page.

    Args:
        site: what robots.txt says of its URL.
        headers: of the answer, names in lower case.
        wishes: what meta robots and X-Robots-Tag say to us.
        tags: the page's own meta tags about text and data mining.
    """
    told = [pair for pair in headers if pair[0] in _HEADERS]
    words = wishes & RESERVATIONS
    if not (site or told or words or tags):
        return NO_SIGNALS
    usage = [pair for name, text in told if name in _USAGE_HEADERS for pair in read_usage(text)[1]]
    usage += [pair for pair in site if pair[0] != LICENSE]
    found: dict[str, Signal] = dict(combined(usage))
    found |= _mining([*told, *tags])
    found |= dict.fromkeys(sorted(words), True)
    found |= {name: terms for name, terms in site if name == LICENSE}
    return Signals(tuple(found.items()))


def still_said(before: Mapping[str, Signal], now: Signals) -> Signals:
    """Add what a visit without content heard to what the page said when it was last read.

    Such an answer repeats few headers and no tags. A reservation that was lifted is seen when the
    page is next read; one that is new counts at once.
    """
    usage = [(name, answer) for name, answer in now.pairs if isinstance(answer, str)]
    usage += [(name, answer) for name, answer in before.items() if isinstance(answer, str)]
    found: dict[str, Signal] = dict(combined(pair for pair in usage if pair[0] in NAMES))
    rest = {**before, **dict(now.pairs)}
    if before.get(RESERVATION) == 1:
        rest[RESERVATION] = 1
    return Signals(tuple((found | {k: v for k, v in rest.items() if k not in found}).items()))


def _mining(pairs: _Pairs) -> dict[str, Signal]:
    found: dict[str, Signal] = {}
    for name, value in pairs:
        text = value.strip()
        if name == RESERVATION and text in ("0", "1"):
            found[name] = int(text)
        elif name == POLICY and 0 < len(text) <= MAX_POLICY_CHARS:
            found[name] = text
    return found
