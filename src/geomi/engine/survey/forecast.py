"""Forecast a crawl from a survey: pages, bytes, and time at the polite rate.

The time is that of the slowest host, because hosts are asked side by side. It is never less than
the number of requests at once allows, and never less than the caps per hour and day allow (C-30).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from geomi.engine.survey.survey import ListedUrl, Survey
from geomi.model.config import CrawlConfig
from geomi.model.verdict import Outcome
from geomi.url.host import registrable_domain
from geomi.url.parse import Url
from geomi.url.parse import parse as parse_url

HOUR_S, DAY_S = 3600.0, 86_400.0
TYPICAL_PAGE_BYTES = 30_000  # compressed, where no page was sampled
TYPICAL_FETCH_S = 0.5
FOLDERS = 2  # how deep a path is looked at when URLs are counted by folder
# What robots.txt and sitemaps add to the pages, in requests for each host.
EXTRA_REQUESTS = 1
SUSPECT_URLS = 50  # G-06: so many URLs of one endless-looking pattern are worth a look


@dataclass(frozen=True, slots=True)
class Forecast:
    """A crawl before it starts.

    Args:
        limited_by: what ends it or holds it up, by the name of the setting.
    """

    pages: int
    found: int
    requests: int
    wire_bytes: int
    seconds: float
    limited_by: str
    folders: tuple[tuple[str, int], ...]
    suspects: tuple[tuple[str, int], ...]


def forecast(found: Survey, config: CrawlConfig) -> Forecast:
    """Forecast a crawl of the found URLs."""
    allowed = found.allowed
    limit = config.limits.max_pages or len(allowed)
    pages = min(len(allowed), limit)
    good = [one for one in found.samples if one.outcome is Outcome.OK]
    page_bytes = fmean([one.wire_bytes for one in good] or [TYPICAL_PAGE_BYTES])
    fetch_s = fmean([one.fetch_ms / 1000 for one in good] or [TYPICAL_FETCH_S])
    requests = pages + len(found.lists) + EXTRA_REQUESTS * len(found.hosts)
    seconds, limited_by = _seconds(found, config, pages, requests, fetch_s)
    if pages < len(allowed):
        limited_by = "limits.max_pages"
    return Forecast(
        pages=pages,
        found=len(allowed),
        requests=requests,
        wire_bytes=round(pages * page_bytes),
        seconds=seconds,
        limited_by=limited_by,
        folders=_counted([_folder(one) for one in allowed]),
        suspects=tuple(
            (pattern, many)
            for pattern, many in _counted([one.pattern for one in allowed if one.pattern])
            if many >= SUSPECT_URLS and not pattern.startswith("numbers:")
        ),
    )


def _seconds(
    found: Survey, config: CrawlConfig, pages: int, requests: int, fetch_s: float
) -> tuple[float, str]:
    """Return how long that many requests take, and which rule makes it so."""
    per_host = Counter(url.authority for url in map(_parsed, found.allowed))
    share = pages / max(1, per_host.total())
    delays = {terms.host: terms.delay_s for terms in found.hosts}
    longest_s = max(delays.values(), default=0.0)
    by_host_s = max(
        (many * share * (delays.get(host, longest_s) + fetch_s) for host, many in per_host.items()),
        default=0.0,
    )
    own = config.politeness
    per_domain = Counter(registrable_domain(url.host) for url in map(_parsed, found.allowed))
    busiest = round(requests * max(per_domain.values(), default=0) / max(1, per_domain.total()))
    candidates = {
        "politeness.delay_s": by_host_s,
        "politeness.concurrency": requests * fetch_s / own.concurrency,
        "politeness.max_per_hour": _capped_s(requests, own.max_per_hour, HOUR_S),
        "politeness.max_per_day": _capped_s(requests, own.max_per_day, DAY_S),
        "politeness.max_per_domain_hour": _capped_s(busiest, own.max_per_domain_hour, HOUR_S),
        "politeness.max_per_domain_day": _capped_s(busiest, own.max_per_domain_day, DAY_S),
    }
    limited_by = max(candidates, key=lambda name: candidates[name])
    return candidates[limited_by], limited_by


def _capped_s(requests: int, cap: int, window_s: float) -> float:
    """Return how long requests take under a cap: whole windows pass between full ones (C-30)."""
    return (requests - 1) // cap * window_s if cap and requests else 0.0


def _parsed(one: ListedUrl) -> Url:
    url = parse_url(one.url)
    assert url is not None, "only URLs that parse are listed"
    return url


def _folder(one: ListedUrl) -> str:
    url = _parsed(one)
    names = url.path.split("/")[1:-1][:FOLDERS]
    return f"{url.host}/{''.join(f'{name}/' for name in names)}*"


def _counted(names: Sequence[str]) -> tuple[tuple[str, int], ...]:
    return tuple(Counter(names).most_common())
