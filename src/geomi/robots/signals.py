"""What a page's answer and its own tags say about its use, put together with its robots.txt.

Rules kept:
- Nothing here forbids anything: signals are recorded and carried on.
- Preferences about use add up, the stricter answer winning (draft-ietf-aipref-attach §4).
- The page's own TDM tags win over the headers of its answer (TDMRep §6), value by value.
- A word of meta robots or X-Robots-Tag is reported as it was meant for us: `directives` has chosen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from geomi.model.signals import SILENCE, Signal, Signals
from geomi.robots.meta import RESERVATIONS
from geomi.robots.usage import NAMES, Said, combined, read_usage

MAX_POLICY_CHARS = 2048
RESERVATION, POLICY, LICENSE = "tdm-reservation", "tdm-policy", "license"

_USAGE_HEADERS = ("content-usage", "content-signal")
_HEADERS = frozenset({*_USAGE_HEADERS, RESERVATION, POLICY})

_Pairs = Sequence[tuple[str, str]]


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
        return SILENCE
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
