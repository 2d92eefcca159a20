"""When a schedule is due: five fields as cron has them, in UTC.

A day counts where both of its fields allow it; where both are narrowed, where one of them does, as
in every cron since the first.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from geomi.errors import ConfigError

MAX_CHARS = 100
# February 29 comes again after eight years at most; what has not come by then never does.
LOOKED_AHEAD_DAYS = 8 * 366

_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
_DAYS = "sun mon tue wed thu fri sat".split()
_NICKNAMES = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
}


@dataclass(frozen=True, slots=True)
class Cron:
    """A schedule that was read."""

    text: str
    minutes: frozenset[int]
    hours: frozenset[int]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]
    is_either_day: bool

    @property
    def shortest_s(self) -> int:
        """How soon one run may follow another, at least."""
        minutes = sorted(self.minutes)
        following = [*minutes[1:], minutes[0] + 60]
        return 60 * min(later - now for now, later in zip(minutes, following, strict=True))

    def next_s(self, after_s: float) -> float | None:
        """Return the first time after another at which it is due; None where there is none."""
        at = datetime.fromtimestamp(after_s, UTC).replace(second=0, microsecond=0)
        at += timedelta(minutes=1)
        last = at + timedelta(days=LOOKED_AHEAD_DAYS)
        while at < last:
            if not self._is_day(at):
                at = (at + timedelta(days=1)).replace(hour=0, minute=0)
            elif at.hour not in self.hours:
                at = (at + timedelta(hours=1)).replace(minute=0)
            elif at.minute not in self.minutes:
                at += timedelta(minutes=1)
            else:
                return at.timestamp()
        return None

    def _is_day(self, at: datetime) -> bool:
        if at.month not in self.months:
            return False
        is_day, is_weekday = at.day in self.days, at.isoweekday() % 7 in self.weekdays
        return is_day or is_weekday if self.is_either_day else is_day and is_weekday


def read_cron(text: str) -> Cron:
    """Read `minute hour day month weekday`; `ConfigError` names the field that makes no sense."""
    fields = _NICKNAMES.get(text.strip().lower(), text).lower().split()
    if len(text) > MAX_CHARS or len(fields) != 5:
        raise ConfigError(
            f"`{text[:MAX_CHARS]}` has not five fields",
            hint="minute hour day month weekday, such as `0 3 * * 1`",
        )
    minute, hour, day, month, weekday = fields
    cron = Cron(
        text,
        _read(minute, "minute", 0, 59),
        _read(hour, "hour", 0, 23),
        _read(day, "day", 1, 31),
        _read(month, "month", 1, 12, ["", *_MONTHS]),
        frozenset(number % 7 for number in _read(weekday, "weekday", 0, 7, _DAYS)),
        is_either_day=not day.startswith("*") and not weekday.startswith("*"),
    )
    if cron.next_s(0.0) is None:
        raise ConfigError(f"`{text}` never comes", hint="a month may not have that day")
    return cron


def _read(
    text: str, field: str, low: int, high: int, names: list[str] | None = None
) -> frozenset[int]:
    found: set[int] = set()
    for part in text.split(","):
        span, slash, step = part.partition("/")
        first, dash, last = span.partition("-")
        if span == "*":
            start, end = low, high
        else:
            start = _number(first, field, text, names)
            end = _number(last, field, text, names) if dash else (high if slash else start)
        many = _number(step, field, text) if slash else 1
        if not (low <= start <= end <= high and many > 0):
            raise _nonsense(field, text)
        found.update(range(start, end + 1, many))
    return frozenset(found)


def _number(text: str, field: str, whole: str, names: list[str] | None = None) -> int:
    if text.isascii() and text.isdigit() and len(text) <= 4:
        return int(text)
    if names and text and text in names:
        return names.index(text)
    raise _nonsense(field, whole)


def _nonsense(field: str, text: str) -> ConfigError:
    return ConfigError(f"the {field} `{text}` makes no sense", hint="such as `0 3 * * 1`")
