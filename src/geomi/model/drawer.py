"""Small things that are kept by name: keys, collections, schedules, what is to be delivered.

They are few, small and of many kinds, so that they share one table: a drawer for each kind, and in
it slips whose body only its owner can read.
"""

from __future__ import annotations

from dataclasses import dataclass

MAX_SLIP_BYTES = 1_048_576
MAX_SLIPS = 1000  # in one answer

# Whoever has no tenant: what concerns the whole system lies in drawers of this name.
SYSTEM = ""


@dataclass(frozen=True, slots=True)
class Slip:
    """One thing in a drawer.

    Args:
        name: names it in its drawer; drawers are listed in the order of names.
        body: JSON, for whoever put it there.
        revision: counts its changes, so that of two who change it at once one is told.
        due_at_s: when somebody has to look at it (wall clock); None where nobody has to.
    """

    tenant: str
    drawer: str
    name: str
    body: bytes
    revision: int = 1
    due_at_s: float | None = None
