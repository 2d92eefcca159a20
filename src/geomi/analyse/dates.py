"""Dates in a text, as they are written and as ISO 8601, in English and Korean."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from itertools import chain, islice
from typing import NamedTuple

MAX_DATES = 50
_MONTHS = {
    name: number
    for number, name in enumerate("jan feb mar apr may jun jul aug sep oct nov dec".split(), 1)
}
_MONTH = (
    r"(?P<{0}>Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?"
    r"|Sept?(?:ember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)\.?"
)
_YEAR = r"(?P<{0}>(?:19|20)\d\d)"
_DATE = re.compile(
    rf"\b{_MONTH.format('m1')} (?P<d1>\d{{1,2}})(?:st|nd|rd|th)?,? {_YEAR.format('y1')}\b"
    rf"|\b(?P<d2>\d{{1,2}})(?:st|nd|rd|th)? {_MONTH.format('m2')},? {_YEAR.format('y2')}\b"
    rf"|(?<!\d){_YEAR.format('y3')}-(?P<m3>\d\d)-(?P<d3>\d\d)(?!\d)"
    rf"|(?<!\d){_YEAR.format('y4')} ?(?:년|\.) ?(?P<m4>\d{{1,2}}) ?(?:월|\.) ?(?P<d4>\d{{1,2}})"
    r"(?: ?일|\.|(?!\d))"
)
_ANY_YEAR = re.compile(r"(?:19|20)\d\d")


class Dated(NamedTuple):
    """A date as it stands in a text, and as it is meant."""

    text: str
    iso: str


def find_dates(text: str) -> Iterator[Dated]:
    """Yield the whole dates of a text; `03/04/2024` may be two, so it is none."""
    # Few lines name a year, and to look for one costs a tenth of looking for a date.
    lines = (line for line in text.split("\n") if _ANY_YEAR.search(line))
    found_in = chain.from_iterable(map(_DATE.finditer, lines))
    for match in islice(found_in, MAX_DATES):
        form = next(n for n in "1234" if match[f"y{n}"])
        month = match[f"m{form}"]
        number = _MONTHS[month[:3].lower()] if month[0].isalpha() else int(month)
        try:
            found = date(int(match[f"y{form}"]), number, int(match[f"d{form}"]))
        except ValueError:
            continue
        yield Dated(match[0].strip(), found.isoformat())
