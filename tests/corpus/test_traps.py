"""No page of a real site is taken for part of a trap: link graphs, pages of documentation."""

from __future__ import annotations

import gzip
import json
import lzma
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from urllib.parse import unquote

import pytest

from geomi.admit.trap import detect
from geomi.admit.url_pattern import loose_key
from geomi.url.parse import parse
from tests.conftest import corpus_file
from tests.support.crawl import crawl_site
from tests.support.server import Answer, Reply, Seen, Site
from tests.support.spaces import prose

GRAPHS = ("sqlite", "python311", "postgresql15")
THIS_YEAR = 2026
_HREF = re.compile(r'<a [^>]*href="([^"#]+)')


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


def served(pages: Mapping[str, Sequence[str]]) -> Site:
    """Serve pages that say something new each."""

    def otherwise(seen: Seen) -> Answer:
        if seen.target not in pages:
            return Reply(status=404)
        text = prose(seen.target)
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
    with served(pages) as site:
        crawled = crawl_site(tmp_path, site.url(start))
    assert {url.removeprefix(site.url("")) for url in crawled.urls} == reachable(pages, start)
    assert not [rule for rule in crawled.exclusions if rule.startswith("trap")]


@pytest.mark.corpus
@pytest.mark.slow
def test_real_documentation_is_collected(corpus: Path, tmp_path: Path) -> None:
    """Its pages as they are, of which most links lead to pages that are not in the corpus."""
    with lzma.open(corpus_file(corpus, "content/docs.jsonl.xz"), "rt") as lines:
        records = [json.loads(line) for line in lines]
    bodies = {f"/{record['id']}": record["html"].encode() for record in records}
    door = "".join(f'<a href="{escape(path)}">x</a> ' for path in list(bodies)[::10]).encode()
    links = {path: page_links(body, path) & bodies.keys() for path, body in bodies.items()}
    expected = reachable({"/": list(bodies)[::10], **{p: list(ls) for p, ls in links.items()}}, "/")

    def otherwise(seen: Seen) -> Answer:
        body = door if seen.target == "/" else bodies.get(unquote(seen.path))
        return Reply(status=404) if body is None else Reply(body)

    with Site({}, otherwise) as site:
        crawled = crawl_site(tmp_path, site.url("/"))
    found = {unquote(url.removeprefix(site.url(""))) for url in crawled.urls}
    assert found >= expected - {"/"}
    assert not [rule for rule in crawled.exclusions if rule.startswith("trap")]


@pytest.mark.corpus
def test_no_url_of_documentation_is_a_trap_by_itself(corpus: Path) -> None:
    for name in GRAPHS:
        for path in graph_site(corpus, name):
            url = parse(f"https://docs.test{path}")
            assert url is not None
            assert detect(url, now_year=THIS_YEAR) is None


@pytest.mark.corpus
@pytest.mark.parametrize("name", GRAPHS)
def test_few_pages_of_documentation_share_a_spelling(corpus: Path, name: str) -> None:
    """What differs in spelling alone may be taken for one page where there is much of it."""
    urls = [parse(f"https://docs.test{path}") for path in graph_site(corpus, name)]
    keys = Counter(loose_key(url) for url in urls if url is not None)
    assert len(urls) - len(keys) <= len(urls) / 100


def page_links(body: bytes, path: str) -> set[str]:
    """Return the paths that a page leads to."""
    found = (parse(href, f"http://docs.test{path}") for href in _HREF.findall(body.decode()))
    return {unquote(url.path) for url in found if url is not None and url.host == "docs.test"}
