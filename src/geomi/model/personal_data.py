"""Personal data on a page: the kinds to look for, the action, and the places in a text."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class PiiKind(StrEnum):
    """What can be found (SAF-02)."""

    EMAIL = "email"
    PHONE = "phone"
    SSN = "ssn"  # of the United States
    CREDIT_CARD = "credit_card"
    RRN = "rrn"  # Korean resident registration number
    ADDRESS = "address"  # postal, by its form
    NAME = "name"  # of a person, where something says that it is one


# The kinds that a form or a sum tells from everything else. The others are looked for only where
# somebody asks: they are found less surely, and documentation is full of what resembles them.
SURE_KINDS = tuple(kind for kind in PiiKind if kind not in (PiiKind.ADDRESS, PiiKind.NAME))


class PiiAction(StrEnum):
    """What is done about it (SAF-01, C-47)."""

    OFF = "off"  # nobody looks
    FLAG = "flag"  # counted; what is stored stays as it is
    REDACT = "redact"  # taken out before anything is stored or told
    SKIP = "skip"  # a page that holds any is not kept


class Sighting(NamedTuple):
    """A place in a text where something was found; `end` is the first character after it."""

    start: int
    end: int
    kind: PiiKind


# How many different values of each kind; never the values.
PiiCounts = tuple[tuple[PiiKind, int], ...]
