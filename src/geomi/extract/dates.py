"""Turn dates as pages write them into ISO 8601.

Nothing is invented: a day without a time stays a day, a time without a zone has no zone, a year
alone is a year. An ambiguous date (`03/04/2024`) gives nothing.
"""

from __future__ import annotations

import re
from datetime import date, datetime
from functools import lru_cache

MAX_DATE_CHARS = 80
MIN_YEAR = 1800
MAX_YEAR = 2199

_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "jan january", "feb february", "mar march", "apr april", "may", "jun june",
            "jul july", "aug august", "sep sept september", "oct october", "nov november",
            "dec december",
        ),
        start=1,
    )
    for name in names.split()
}  # fmt: skip
_YEAR = re.compile(r"([0-9]{4})(?:-([0-9]{2}))?")
_NUMBERS = re.compile(
    r"([0-9]{4})[-/.년 ]{1,2}([0-9]{1,2})[-/.월 ]{1,2}([0-9]{1,2})(?![0-9])일?[T ,.]{0,2}(.*)"
)
_COMPACT = re.compile(r"([0-9]{4})([0-9]{2})([0-9]{2})(?:T([0-9]{2})([0-9]{2})([0-9]{2})?(.*))?")
_DAY_FIRST = re.compile(r"(?:[a-z]{3,9},? +)?([0-9]{1,2})(?:st|nd|rd|th)?\.? +([a-z]{3,9})\.?,? +"
                        r"([0-9]{4})(?:,? +(.*))?")  # fmt: skip
_MONTH_FIRST = re.compile(r"(?:[a-z]{3,9},? +)?([a-z]{3,9})\.? +([0-9]{1,2})(?:st|nd|rd|th)?,? +"
                          r"([0-9]{4})(?:,? +(.*))?")  # fmt: skip
_TIME = re.compile(
    r"([0-9]{1,2}):([0-9]{2})(?::([0-9]{2}))?(?:[.,][0-9]{1,9})? ?(am|pm)? ?"
    r"(z|utc|gmt|[+-][0-9]{2}:?[0-9]{2}|[+-][0-9]{2})?"
)


@lru_cache(maxsize=1024)
def iso_date(text: str) -> str:
    """Return a date in ISO 8601, as exact as it was written, or nothing."""
    text = " ".join(text[:MAX_DATE_CHARS].split())
    if match := _YEAR.fullmatch(text):
        return text if _is_month(match[1], match[2] or "01") else ""
    if match := _NUMBERS.fullmatch(text):
        return _joined(match[1], match[2], match[3], match[4])
    if match := _COMPACT.fullmatch(text):
        clock = f"{match[4]}:{match[5]}:{match[6] or '00'}{match[7]}" if match[4] else ""
        return _joined(match[1], match[2], match[3], clock)
    return _named(text.lower())


def _named(text: str) -> str:
    if match := _DAY_FIRST.fullmatch(text):
        day, month, year, clock = match.groups()
    elif match := _MONTH_FIRST.fullmatch(text):
        month, day, year, clock = match.groups()
    else:
        return ""
    return _joined(year, str(_MONTHS.get(month, 0)), day, clock or "")


def _joined(year: str, month: str, day: str, clock: str) -> str:
    try:
        whole = date(int(year), int(month), int(day))
    except ValueError:
        return ""
    if not MIN_YEAR <= whole.year <= MAX_YEAR:
        return ""
    return whole.isoformat() + _time(clock.lower().strip())


def _time(clock: str) -> str:
    """Return the time of day with its zone, both only as far as they are told."""
    match = _TIME.fullmatch(clock)
    if match is None:
        return ""
    hour, zone = int(match[1]), (match[5] or "").upper()
    if match[4]:
        hour = hour % 12 + (12 if match[4] == "pm" else 0)
    seconds = match[3] or "00"
    zone = "Z" if zone in ("Z", "UTC", "GMT") else _offset(zone)
    written = f"T{hour:02}:{match[2]}:{seconds}{zone}"
    try:
        datetime.fromisoformat(f"2000-01-01{written}")
    except ValueError:
        return ""
    return written


def _offset(zone: str) -> str:
    digits = zone[1:].replace(":", "").ljust(4, "0")
    return f"{zone[0]}{digits[:2]}:{digits[2:]}" if zone else ""


def _is_month(year: str, month: str) -> bool:
    return MIN_YEAR <= int(year) <= MAX_YEAR and 1 <= int(month) <= 12
