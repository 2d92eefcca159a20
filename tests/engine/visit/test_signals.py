"""What sites say about the use of their pages, from their answers to the records."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.support.crawl import Crawled, crawl_site, page, robots
from tests.support.server import Answer, Reply, Route, Seen, Site

NOT_MODIFIED = Reply(status=304, content_type="")
# Past the size that is read in the worker itself: the signals come back from another process.
LARGE = "word " * 60_000


def signals(crawled: Crawled, site: Site, path: str) -> Any:
    """Return the signals of a page; None where its record has none."""
    return crawled.record(site.url(path))["metadata"].get("signals")


@pytest.mark.parametrize("text", ["", LARGE], ids=["here", "elsewhere"])
def test_everything_that_is_said_is_recorded(tmp_path: Path, text: str) -> None:
    tags = (
        '<meta name="robots" content="noai, noimageai"><meta name="TDM-Reservation" content="1">'
        '<meta name="tdm-policy" content="https://a.test/policy.json">'
    )
    answered = (("TDM-Reservation", "0"), ("X-Robots-Tag", "noml, other: nosnippet"))
    routes: dict[str, Route] = {
        "/robots.txt": robots(
            "User-agent: *",
            "Content-Signal: search=yes, ai-train=no",
            "Content-Usage: /open/ train-ai=y",
            "License: https://a.test/license.xml",
        ),
        "/": page("home", "/open/a", head=tags, text=text),
        "/open/a": replace(page("a"), headers=answered),
    }
    with Site(routes) as site:
        crawled = crawl_site(tmp_path, site.url())
        assert signals(crawled, site, "/") == {
            "search": "yes",
            "ai-train": "no",
            "tdm-reservation": 1,
            "tdm-policy": "https://a.test/policy.json",
            "noai": True,
            "noimageai": True,
            "license": "https://a.test/license.xml",
        }
        assert signals(crawled, site, "/open/a") == {
            "train-ai": "yes",
            "tdm-reservation": 0,
            "noml": True,
            "license": "https://a.test/license.xml",
        }


def test_a_site_that_says_nothing_has_no_signals(tmp_path: Path) -> None:
    said = replace(page("home"), headers=(("X-Robots-Tag", "all"),))
    routes: dict[str, Route] = {"/robots.txt": robots("User-agent: *", "Allow: /"), "/": said}
    with Site(routes) as site:
        assert signals(crawl_site(tmp_path, site.url()), site, "/") is None


def test_signals_outlive_a_visit_that_brings_no_page(tmp_path: Path) -> None:
    tagged = replace(page("home", head="<meta name=robots content=noai>"), headers=(("ETag", "1"),))

    def answer(seen: Seen) -> Answer:
        return NOT_MODIFIED if "if-none-match" in seen.headers else tagged

    routes: dict[str, Route] = {"/robots.txt": robots(), "/": answer}
    with Site(routes) as site:
        first = crawl_site(tmp_path, site.url())
        routes["/robots.txt"] = robots("Content-Signal: ai-train=no")
        second = crawl_site(tmp_path, site.url(), assignments=["robots.persist=false"])
        assert signals(first, site, "/") == {"noai": True}
        assert second.record(site.url())["metadata"]["not_modified"] is True
        assert signals(second, site, "/") == {"ai-train": "no", "noai": True}
