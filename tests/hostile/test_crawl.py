"""Whole crawls of hostile hosts: no crash, no hang, little memory, every good page collected."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from geomi.engine.visit.sitemaps import SITEMAPS_PER_HOST
from tests.hostile import documents, farm
from tests.hostile.crawler import Report

MAX_GROWTH_KIB = 64 * 1024
MAX_LATE_S = 1.0

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="memory is measured in /proc")


@cache
def idle_kib() -> int:
    """Return the memory of a crawl of one small page."""
    with TemporaryDirectory() as root:
        return farm.crawl(Path(root), farm.idle())[0].peak_kib


def check(report: Report, hosts: list[farm.Host], longest_fetch_s: float = farm.TIMEOUT_S) -> None:
    """Compare a crawl with what must come of it."""
    expected = {host.url(path): ending for host in hosts for path, ending in host.endings.items()}
    assert {url: report.outcomes.get(url) for url in expected} == expected
    assert "None" not in report.outcomes.values()  # every entry has an ending with a name
    good = {host.title(path) for host in hosts for path in host.good}
    assert good <= set(report.titles)
    assert max(report.fetch_s.values()) <= longest_fetch_s + MAX_LATE_S
    assert report.stall_s <= MAX_LATE_S
    assert report.peak_kib - idle_kib() < MAX_GROWTH_KIB


def test_every_evil_answer_has_its_ending_and_the_crawl_goes_on(tmp_path: Path) -> None:
    hosts = farm.answers()
    report, asked = farm.crawl(tmp_path, hosts)
    check(report, hosts)
    # Neither of these is asked for more often than its limit says.
    assert sum(target.startswith("nested-for-ever.sitemap.test/n") for target in asked) <= (
        SITEMAPS_PER_HOST
    )
    assert asked.count("lists-itself.sitemap.test/lists-itself.xml") == 1
    assert asked.count("redirects.test/self") == 1
    # Each charset's page is read as what it is, whatever it is called.
    names = [name for name, *_ in documents.charsets()]
    assert set(names) <= set(report.titles)


@pytest.mark.slow
def test_small_pages_that_are_dear_to_read_cost_themselves_alone(tmp_path: Path) -> None:
    hosts = farm.small_documents()
    check(farm.crawl(tmp_path, hosts)[0], hosts)


@pytest.mark.slow
@pytest.mark.req("CTY-11")
def test_large_pages_that_are_dear_to_read_cost_themselves_alone(tmp_path: Path) -> None:
    hosts = farm.large_documents()
    report, _ = farm.crawl(tmp_path, hosts)
    check(report, hosts)
    assert "siblings" not in report.titles  # what cannot be read is not kept


@pytest.mark.slow
def test_the_largest_pages_of_many_hosts_at_once_wait_for_one_another(tmp_path: Path) -> None:
    hosts = farm.crowd()
    report, _ = farm.crawl(tmp_path, hosts, farm.PATIENT)
    check(report, hosts, farm.PATIENCE_S)


@pytest.mark.slow
def test_a_million_urls_of_a_sitemap_are_read_as_far_as_the_limit(tmp_path: Path) -> None:
    hosts = farm.large_sitemap()
    check(farm.crawl(tmp_path, hosts)[0], hosts)
