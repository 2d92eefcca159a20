"""Small values that are stored by name: keys, collections, schedules, deliveries.

They are few, small and of many kinds, so they share one table. Each kind has its own namespace,
and only the code that owns a namespace reads the bodies in it.
"""

from __future__ import annotations

from dataclasses import dataclass

MAX_NAMED_VALUE_BYTES = 1_048_576
MAX_LISTED_VALUES = 1000  # in one answer

# The tenant of what concerns the whole system.
SYSTEM = ""


@dataclass(frozen=True, slots=True)
class NamedValue:
    """One thing in a namespace.

    Args:
        name: names it in its namespace; namespaces are listed in the order of names.
        body: JSON, for whoever put it there.
        revision: counts its changes, so that of two who change it at once one is told.
        due_at_s: when somebody has to look at it (wall clock); None where nobody has to.
    """

    tenant: str
    namespace: str
    name: str
    body: bytes
    revision: int = 1
    due_at_s: float | None = None
