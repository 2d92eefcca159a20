"""No page of a real site is taken for part of a trap: link graphs, pages of documentation."""

from __future__ import annotations

import gzip
from collections import defaultdict
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path

import pytest

from tests.conftest import corpus_file
from tests.support.crawl import crawl_site
from tests.support.server import Answer, Reply, Seen, Site
from tests.support.spaces import SAME, prose

GRAPHS = ("sqlite", "python311", "postgresql15")
THIS_YEAR = 2026


def graph_site(corpus: Path, name: str) -> dict[str, list[str]]:
    """Return the pages of a site, each with its links, the first page first."""
    with gzip.open(corpus_file(corpus, f"graph/{name}.urls.gz"), "rt") as lines:
        paths = {int(at): f"/{name}/{path}" for at, path in map(str.split, lines)}
    links = defaultdict[str, list[str]](list)
    with gzip.open(corpus_file(corpus, f"graph/{name}.tsv.gz"), "rt") as lines:
        for line in lines:
            source, target = map(int, line.split())
            links[paths[source]].append(paths[target])
    return {path: links[path] for path in paths.values()}


def reachable(pages: Mapping[str, Sequence[str]], start: str) -> set[str]:
    """Return what a crawl from a page can find."""
    found, left = {start}, [start]
    while left:
        new = set(pages[left.pop()]) - found
        found |= new
        left += new
    return found


def served(pages: Mapping[str, Sequence[str]], *, mute: bool) -> Site:
    """Serve pages that say something each, or all the same."""

    def otherwise(seen: Seen) -> Answer:
        if seen.target not in pages:
            return Reply(status=404)
        text = SAME if mute else prose(seen.target)
        links = "".join(f'<a href="{escape(link)}">x</a> ' for link in pages[seen.target])
        return Reply(f"<!doctype html><title>x</title><main><p>{text}</p>{links}".encode())

    return Site({}, otherwise)


@pytest.mark.corpus
@pytest.mark.slow
@pytest.mark.parametrize("name", GRAPHS)
def test_a_real_link_graph_is_collected(corpus: Path, tmp_path: Path, name: str) -> None:
    """Every page that can be reached, and no rule about traps keeps anything out."""
    pages = graph_site(corpus, name)
    start = next(path for path in pages if path.endswith(("/index.html", "/contents.html")))
    with served(pages, mute=False) as site:
        crawled = crawl_site(tmp_path, site.url(start))
    assert {url.removeprefix(site.url("")) for url in crawled.urls} == reachable(pages, start)
    assert not [rule for rule in crawled.exclusions if rule.startswith("trap")]
