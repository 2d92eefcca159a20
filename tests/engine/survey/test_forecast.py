"""What a crawl would take, from what a look at its sites found."""

from __future__ import annotations

import pytest

from geomi.engine.survey.forecast import TYPICAL_FETCH_S, TYPICAL_PAGE_BYTES, forecast
from geomi.engine.survey.survey import HostTerms, ListedUrl, SampledPage, Survey
from geomi.model.config import CrawlConfig, Limits, Politeness
from geomi.model.entry import Source
from geomi.model.verdict import Outcome


def surveyed(*urls: str, delay_s: float = 10.0) -> Survey:
    found = Survey(listed={url.encode(): ListedUrl(url, Source.SITEMAP) for url in urls})
    hosts = sorted({f"{url.split('/')[2]}:443" for url in urls})
    found.hosts = [HostTerms(host, delay_s, "") for host in hosts]
    return found


FIVE = [f"https://a.test/docs/{number}" for number in range(5)]


def test_the_slowest_host_decides_how_long_it_takes() -> None:
    expected = forecast(surveyed(*FIVE, "https://b.test/"), CrawlConfig())
    assert expected.pages == 6
    assert expected.seconds == pytest.approx(5 * (10 + TYPICAL_FETCH_S))
    assert expected.limited_by == "politeness.delay_s"


def test_samples_tell_size_and_speed() -> None:
    found = surveyed(*FIVE, delay_s=0.0)
    assert forecast(found, CrawlConfig()).wire_bytes == 5 * TYPICAL_PAGE_BYTES
    found.samples = [
        SampledPage(FIVE[0], 1000, 4000, Outcome.OK),
        SampledPage(FIVE[1], 3000, 2000, Outcome.OK),
        SampledPage(FIVE[2], 9, 9, Outcome.GONE),
    ]
    expected = forecast(found, CrawlConfig())
    assert expected.wire_bytes == 5 * 2000
    assert expected.seconds == pytest.approx(5 * 3)


def test_caps_win_over_the_delay_c30() -> None:
    """3,000 pages at 1.5 s are 75 minutes; under 1,000 requests an hour they are two hours."""
    urls = [f"https://a.test/{number}" for number in range(3000)]
    config = CrawlConfig(limits=Limits(max_pages=0))
    freely = forecast(surveyed(*urls, delay_s=1.0), config)
    assert freely.seconds == pytest.approx(75 * 60)
    capped = CrawlConfig(limits=Limits(max_pages=0), politeness=Politeness(max_per_hour=1000))
    held = forecast(surveyed(*urls, delay_s=1.0), capped)
    assert held.seconds == 3 * 3600  # robots.txt is the request too many
    assert held.limited_by == "politeness.max_per_hour"


def test_many_hosts_share_the_requests_at_once() -> None:
    urls = [f"https://h{number}.test/" for number in range(1000)]
    config = CrawlConfig(limits=Limits(max_pages=0), politeness=Politeness(concurrency=2))
    expected = forecast(surveyed(*urls, delay_s=1.0), config)
    assert expected.limited_by == "politeness.concurrency"
    assert expected.seconds == pytest.approx(2000 * TYPICAL_FETCH_S / 2)


def test_the_page_limit_is_named() -> None:
    expected = forecast(surveyed(*FIVE), CrawlConfig(limits=Limits(max_pages=2)))
    assert (expected.pages, expected.found) == (2, 5)
    assert expected.limited_by == "limits.max_pages"
    assert expected.seconds == pytest.approx(2 * (10 + TYPICAL_FETCH_S))


def test_urls_are_counted_by_folder_and_suspects_named() -> None:
    found = surveyed(*FIVE, "https://a.test/x")
    found.listed |= {
        bytes([number]): ListedUrl(
            f"https://a.test/cal/{number}", Source.LINK, "calendar:/cal/{date}"
        )
        for number in range(60)
    }
    found.listed[b"no"] = ListedUrl(
        "https://a.test/no", Source.LINK, robots="line 2: Disallow: /no"
    )
    expected = forecast(found, CrawlConfig())
    assert dict(expected.folders) == {"a.test/cal/*": 60, "a.test/docs/*": 5, "a.test/*": 1}
    assert expected.suspects == (("calendar:/cal/{date}", 60),)


def test_nothing_found() -> None:
    expected = forecast(Survey(), CrawlConfig())
    assert (expected.pages, expected.requests, expected.seconds) == (0, 0, 0.0)
