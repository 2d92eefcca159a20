"""Read the directives of one page: its X-Robots-Tag headers and meta robots tags.

Rules kept:
- `noindex` and `nofollow` are reported, `none` as both.
- Words that reserve the page's content are reported unchanged: `noai`, `noimageai` (DeviantArt),
  `noml`, and those that some crawlers take for the same (`noarchive`, `nocache`, `nosnippet`).
- A value may begin with an agent (`geomi: noindex`); directives after it are for that agent alone,
  until the next agent is named. Directives for all agents and directives for us add up.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

MAX_VALUES = 100  # header lines or tags read
MAX_VALUE_CHARS = 4096  # read of each

RESERVATIONS = frozenset({"noai", "noimageai", "noml", "noarchive", "nocache", "nosnippet"})

_MEANING = {
    "noindex": frozenset({"noindex"}),
    "nofollow": frozenset({"nofollow"}),
    "none": frozenset({"noindex", "nofollow"}),
} | {word: frozenset({word}) for word in RESERVATIONS}
# Directives with a value of their own: their name before the colon is no agent.
_WITH_VALUE = frozenset(
    {"unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"}
)


def directives(header_values: Sequence[str], token: str) -> frozenset[str]:
    """Return which of the directives that are known some values say to the agent `token`."""
    found: frozenset[str] = frozenset()
    for value in header_values[:MAX_VALUES]:
        for agent, directive in _said(value[:MAX_VALUE_CHARS].lower()):
            if agent in ("", "robots", "*", token.lower()):
                found |= _MEANING.get(directive, frozenset())
    return found


def _said(value: str) -> Iterator[tuple[str, str]]:
    agent = ""
    for part in value.split(","):
        name, colon, rest = part.partition(":")
        if not colon:
            yield agent, part.strip()
        elif name.strip() not in _WITH_VALUE:
            agent = name.strip()
            yield agent, rest.strip()
