"""Read the lines of a published rank list (PRI-06).

Lists of Tranco and Umbrella have lines of `rank,domain`. Majestic's has a heading and many columns.
That of the Chrome UX Report has `origin,rank`; its ranks are buckets, such as the first 1,000. The
heading tells the kinds apart; Tranco's and Umbrella's lines are alike, so the place of the list
tells which it is.
"""

from __future__ import annotations

from dataclasses import dataclass

from geomi.frontier.priority import LAST_RANK
from geomi.model.site import RankKind
from geomi.url.parse import parse as parse_url

# The columns of rank and name in the heading of a list that must have one.
HEADINGS = {RankKind.MAJESTIC: ("globalrank", "domain"), RankKind.CRUX: ("rank", "origin")}
MAX_RANK_CHARS = 9


@dataclass(frozen=True, slots=True)
class RankColumns:
    """Where the lines of one list have the rank and the name."""

    kind: RankKind
    rank: int = 0
    name: int = 1
    has_heading: bool = False

    def read(self, line: str) -> tuple[str, int] | None:
        """Read (name, rank) of a line; None for what is no such line."""
        cells = _cells(line)
        if len(cells) <= max(self.rank, self.name):
            return None
        rank, name = cells[self.rank], cells[self.name]
        if self.kind is not RankKind.CRUX:
            return read_rank(rank, "" if ":" in name else f"http://{name.rstrip('.')}/")
        found = read_rank(rank, name, last=10**MAX_RANK_CHARS)
        # Its last buckets are beyond every other list: what is there has no traffic to speak of.
        return found and (found[0], min(found[1], LAST_RANK))


def rank_columns(first: str, origin: str) -> RankColumns:
    """Recognise a list by its first line, and by where it came from."""
    cells = [cell.lower() for cell in _cells(first)]
    for kind, (rank, name) in HEADINGS.items():
        if rank in cells and name in cells:
            return RankColumns(kind, cells.index(rank), cells.index(name), has_heading=True)
    kind = RankKind.UMBRELLA if "umbrella" in origin.lower() else RankKind.TRANCO
    return RankColumns(kind, has_heading=bool(cells[0]) and not cells[0][0].isdigit())


def is_same_form(one: RankKind, other: RankKind) -> bool:
    """Return whether the lines of two kinds are alike."""
    return HEADINGS.get(one) == HEADINGS.get(other)


def read_rank(rank: str, origin: str, *, last: int = LAST_RANK) -> tuple[str, int] | None:
    """Read a rank and the origin of a site; None where either is something else."""
    if not (rank.isascii() and rank.isdigit() and len(rank) <= MAX_RANK_CHARS):
        return None
    url = None if "@" in origin or "#" in origin else parse_url(origin)
    if url is None or url.target != "/" or not 1 <= int(rank) <= last:
        return None
    return url.host, int(rank)


def _cells(line: str) -> list[str]:
    return [cell.strip().strip('"') for cell in line.strip().split(",")]
