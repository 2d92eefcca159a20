"""What a site says about the use of a page by others; facts to be carried on, never a decision."""

from __future__ import annotations

from dataclasses import dataclass

Signal = str | int  # `True` for a word that stands alone


@dataclass(frozen=True, slots=True)
class Signals:
    """Reservations and permissions of one page; docs/reference/output.md has the list of names."""

    pairs: tuple[tuple[str, Signal], ...] = ()


SILENCE = Signals()  # most pages say nothing
