"""Decide from a URL alone whether it smells of an endless space: calendars, sessions, loops.

Each detector needs nothing but the URL, so that a verdict can be repeated at any time. Thresholds
are those of G-06 and G-07. Detectors that count the URLs of one template belong elsewhere: they
need to see them all. An ordinary documentation URL must pass; the decoys in the tests are the other
half of these rules.
"""

from __future__ import annotations

import re

from geomi.model.verdict import Verdict
from geomi.url.parse import Url

MAX_PARAMETERS = 8  # G-06
MAX_REPETITIONS = 2  # G-06: the third one in a row is a loop
MAX_PATH_SEGMENTS = 25  # not tuned: well above generated API pages, of which Javadoc's lie 10 deep
FIRST_YEAR = 1800  # newspaper archives reach back to the 1850s
YEARS_AHEAD = 2  # conferences and school calendars are published that early

SESSION_NAMES = frozenset({
    "sid", "session", "sessionid", "session_id", "sessid", "phpsessid", "jsessionid",
    "aspsessionid", "cfid", "cftoken", "oscsid", "zenid",
})  # fmt: skip


def judge_length(url: Url, max_chars: int) -> Verdict | None:
    """Refuse a URL longer than the job's limit (URL-19, TRP-06)."""
    length = len(url.href)
    if length <= max_chars:
        return None
    detail = f"{length} characters; the limit is {max_chars}"
    return Verdict(False, "url_length", detail, f"--set limits.max_url_chars={length}")


def detect(url: Url, *, now_year: int) -> Verdict | None:
    """Name the first trap this URL looks like; None if it looks like none."""
    query = _query_trap(url.query) if url.query else None
    return query or _session_in_path(url.path) or _path_trap(url.path) or _date_trap(url, now_year)


_SWITCH = "--set scope.avoid_traps=false"
# `;jsessionid=…` of Java servers, and `/(S(…))/` of ASP.NET without cookies.
_PATH_SESSION = re.compile(r";(\w+)=[^/;]|/\(S\(\w", re.ASCII | re.IGNORECASE)
_DATE = re.compile(r"[/=](\d{4})([/-])(0?[1-9]|1[0-2])(?:\2(\d\d?))?(?=[/&?.]|\Z)", re.ASCII)
_CALENDAR = re.compile(r"[/?&](?:calendars?|events?|agenda|schedule|date|day|week|month)[/=]")
_PADDED = 2


def _refuse(trap: str, detail: str) -> Verdict:
    return Verdict(False, f"trap.{trap}", detail, _SWITCH)


def _query_trap(query: str) -> Verdict | None:
    parameters = query.split("&")
    for parameter in parameters:
        name, _, value = parameter.partition("=")
        if value and name.lower() in SESSION_NAMES:
            return _refuse("session", name)
    if len(parameters) > MAX_PARAMETERS:
        return _refuse("many_parameters", f"{len(parameters)}; the limit is {MAX_PARAMETERS}")
    return None


def _session_in_path(path: str) -> Verdict | None:
    if ";" not in path and "/(" not in path:
        return None
    for found in _PATH_SESSION.finditer(path):
        if found[1] is None or found[1].lower() in SESSION_NAMES:
            return _refuse("session", found[1] or "(S(…))")
    return None


def _path_trap(path: str) -> Verdict | None:
    names = path.split("/")
    # Three rounds of even one name leave two names fewer in the set.
    if len(names) - len(set(names)) < MAX_REPETITIONS and len(names) <= MAX_PATH_SEGMENTS:
        return None
    names = [name for name in names if name]
    block = _repeated_block(names[: 2 * MAX_PATH_SEGMENTS])
    if block:
        return _refuse("repeating_path", "/" + "/".join(block))
    if len(names) > MAX_PATH_SEGMENTS:
        return _refuse("deep_path", f"{len(names)} segments; the limit is {MAX_PATH_SEGMENTS}")
    return None


def _repeated_block(names: list[str]) -> list[str]:
    """Return the shortest block that follows itself more than `MAX_REPETITIONS` times."""
    for size in range(1, len(names) // (MAX_REPETITIONS + 1) + 1):
        same = 0
        for at in range(size, len(names)):
            same = same + 1 if names[at] == names[at - size] else 0
            if same == MAX_REPETITIONS * size:
                return names[at - size + 1 : at + 1]
    return []


def _date_trap(url: Url, now_year: int) -> Verdict | None:
    """Refuse a date in a year nobody writes about; `/rfc/2119/6` is no date."""
    found = _DATE.search(url.target)
    if found is None or FIRST_YEAR <= int(found[1]) <= now_year + YEARS_AHEAD:
        return None
    month, day = found[3], found[4] or ""
    is_padded_date = len(month) == len(day) == _PADDED
    if not is_padded_date and not _CALENDAR.search(url.target):
        return None
    return _refuse("calendar", f"year {found[1]}")
