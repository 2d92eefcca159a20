"""The same crawl on SQLite and on PostgreSQL: the same pages, entries and counters."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from geomi.app.use import providers
from geomi.model.verdict import State
from tests.support.crawl import LOCAL, crawl_site, page, robots
from tests.support.postgres import Cluster
from tests.support.server import Site


def _site() -> Site:
    pages = {
        f"/{number}": page(f"page {number}", f"/{number * 2}", f"/{number * 2 + 1}", "/secret")
        for number in range(1, 16)
    }
    return Site({"/": page("home", "/1", "/2", "/3"), **pages, "/robots.txt": robots(*_RULES)})


_RULES = ("User-agent: *", "Disallow: /secret")


def test_the_same_crawl_leaves_the_same(tmp_path: Path, cluster: Cluster) -> None:
    left = {}
    with _site() as site:
        for name, db in (("sqlite", ""), ("postgres", cluster.new_schema())):
            root = tmp_path / name
            crawled = crawl_site(root, site.url("/"), settings=replace(LOCAL, db=db))
            assert (root / "geomi.db").exists() == (name == "sqlite")
            stats = crawled.report.job.stats
            left[name] = (sorted(crawled.urls), crawled.states(site), stats)
    assert left["sqlite"] == left["postgres"]
    assert State.BLOCKED in left["postgres"][1].values()


def test_a_provider_can_be_named_before_there_is_a_store(tmp_path: Path, cluster: Cluster) -> None:
    settings = replace(LOCAL, db=cluster.new_schema())
    assert providers.stored_providers(tmp_path, settings) == []
    assert providers.stored_providers(tmp_path, replace(settings, db="")) == []
    assert list(tmp_path.iterdir()) == []
