"""Find the places where a text has personal data of the given kinds.

Rules kept:
- One pass over the text finds the signs of addresses, one finds runs of digits; everything else
  works on what these found. The time is linear in the length of any text.
- A place has one kind. The stricter test wins, so a resident number is not a telephone number.
- Names of people and postal addresses are found by what stands around them. Passports and the like
  are not found.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping

from geomi.model.personal_data import PiiCounts, PiiKind, Sighting
from geomi.private.digits import MIN_DIGITS, Run, only_digits, runs
from geomi.private.email import addresses
from geomi.private.number import cards, residents, social_security
from geomi.private.person import people
from geomi.private.phone import phones
from geomi.private.place import places


def find(
    text: str, kinds: Collection[PiiKind], known: frozenset[str] = frozenset()
) -> list[Sighting]:
    """Return the places of a text that hold such data, in order and apart from each other.

    Args:
        known: names of people that the page of the text declares.
    """
    found = list(addresses(text)) if PiiKind.EMAIL in kinds else []
    readers = [(least, read) for kind, (least, read) in _NUMBERS.items() if kind in kinds]
    if readers:
        for run in runs(text):
            for least, read in readers:
                if run.digits >= least:
                    found.extend(read(run))
    if PiiKind.ADDRESS in kinds:
        found.extend(places(text))
    if PiiKind.NAME in kinds:
        found.extend(people(text, known))
    return _apart(found) if len(found) > 1 else found


def count(text: str, kinds: Collection[PiiKind], known: frozenset[str] = frozenset()) -> PiiCounts:
    """Return how many different values of each kind a text holds."""
    values: dict[PiiKind, set[str]] = {}
    for place in find(text, kinds, known):
        values.setdefault(place.kind, set()).add(_value(text, place))
    return tuple((kind, len(values[kind])) for kind in PiiKind if kind in values)


# How few digits a number can have, and who reads it. The strictest first: where two find the same
# digits, it is the one that tests most.
_NUMBERS: Mapping[PiiKind, tuple[int, Callable[[Run], Iterator[Sighting]]]] = {
    PiiKind.RRN: (13, residents),
    PiiKind.CREDIT_CARD: (13, cards),
    PiiKind.SSN: (9, social_security),
    PiiKind.PHONE: (MIN_DIGITS, phones),
}
_RANK = {
    kind: rank
    for rank, kind in enumerate((PiiKind.EMAIL, *_NUMBERS, PiiKind.ADDRESS, PiiKind.NAME))
}
_WORDS = (PiiKind.EMAIL, PiiKind.ADDRESS, PiiKind.NAME)


def _apart(found: list[Sighting]) -> list[Sighting]:
    """Drop what overlaps a stricter find, and join what overlaps one of its own kind."""
    found.sort(key=lambda place: (place.start, _RANK[place.kind]))
    apart: list[Sighting] = [found[0]]
    for place in found[1:]:
        last = apart[-1]
        if place.start >= last.end:
            apart.append(place)
            continue
        kind = min(place.kind, last.kind, key=_RANK.__getitem__)
        apart[-1] = Sighting(last.start, max(last.end, place.end), kind)
    return apart


def _value(text: str, place: Sighting) -> str:
    """Return what two spellings of one value have in common."""
    found = text[place.start : place.end]
    return " ".join(found.lower().split()) if place.kind in _WORDS else only_digits(found)
