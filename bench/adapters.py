"""Expose the product to the scorers in `../shared/harness`, one short function each."""

from __future__ import annotations

import asyncio
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.frontier_walk import Page, walk
from geomi.adapters.index.sqlite import SqliteIndex, open_sqlite_index
from geomi.adapters.store.store import open_sqlite
from geomi.admit.normalize import identity
from geomi.analyse.kinds import tell_kinds
from geomi.analyse.page_text import read_text
from geomi.dedup.decide import DuplicateEvidence, decide
from geomi.dedup.sketch import PAGES_PER_BAND, bands, sketch
from geomi.engine.enrich.search import search
from geomi.engine.enrich.vectors import embed_documents
from geomi.extract.page import extract as extract_page
from geomi.model.config import Extraction, LinkStyle, UrlOrder, UrlRules
from geomi.model.index.analysis import AnalysisRules
from geomi.model.index.chunk import Chunk
from geomi.model.index.search import IndexDocument
from geomi.model.page import Article, KnownPage
from geomi.ports.models import Embedder
from geomi.robots.match import judge
from geomi.robots.parse import parse as parse_robots
from geomi.text.identifiers import sha256_hex
from geomi.url.parse import href, parse


def parse_url(text: str, base: str | None = None) -> str | None:
    """Return the WHATWG href of a URL of any scheme, or None."""
    return href(text, base)


def url_key(text: str, base: str | None = None) -> str | None:
    """Return the identity of an http(s) URL under the default rules, or None."""
    url = parse(text, base)
    return None if url is None else identity(url, UrlRules())


def robots(text: str, agent: str, url: str) -> bool:
    """Say whether a robots.txt lets an agent fetch a URL whose path stays as it is written."""
    target = re.sub(r"^\w+://[^/?#]*", "", url).partition("#")[0]
    file = parse_robots(text.encode("utf-8", "surrogatepass"))
    return judge(file, agent, "/" + target.removeprefix("/")).allowed


# An image as markdown: the texts that are compared have none, and neither do other extractors.
_IMAGE = re.compile(r"!\[[^\]]*\]\((?:<[^>]*>|[^)]*)\)")


def extract(html: str, url: str) -> str:
    """Return a page's main content as markdown with the text of links only, without images."""
    return _IMAGE.sub("", extract_article(html, url).markdown)


def extract_article(html: str, url: str) -> Article:
    """Return what is read of a page alone: its content, as other extractors give it, no links."""
    body = html.encode("utf-8", "replace")
    rules = Extraction(links=LinkStyle.TEXT, template=False)
    return extract_page(body, url, "text/html; charset=utf-8", rules, max_links=0)


def page_type(html: str, url: str) -> str:
    """Return which of the seven kinds of WCXB a page is, as the analysis of a crawl tells it."""
    body = html.encode("utf-8", "replace")
    article = extract_page(body, url, "text/html; charset=utf-8", Extraction(template=False))
    kinds = tell_kinds(url, article, read_text(article.markdown, AnalysisRules().max_chars))
    return max(kinds, key=kinds.__getitem__)


def near_duplicates(texts: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return each page of a set that repeats one before it, and that one, as a crawl finds them."""
    index: defaultdict[int, list[KnownPage]] = defaultdict(list)
    found = []
    for name, text in texts.items():
        page = KnownPage(name, sketch(text))
        keys = bands(page.sketch)
        candidates = [other for key in keys for other in index[key][-PAGES_PER_BAND:]]
        if duplicate := decide(DuplicateEvidence(name, page.sketch, candidates=candidates)):
            found.append((duplicate.of, name))
            continue
        for key in keys:
            index[key].append(page)
    return found


def crawl_order(
    graph: Mapping[int, Sequence[int]], seed: int, order: UrlOrder = UrlOrder.WEIGHTED
) -> list[int]:
    """Return the pages of one site in the order that a crawl takes them: the store's own claims
    and settlements, with leases as long as in production."""
    pages = {
        node: Page(
            f"http://site.test/{node}", [f"http://site.test/{to}" for to in graph.get(node, ())]
        )
        for node in {seed, *graph, *(to for links in graph.values() for to in links)}
    }
    by_url = {page.url: page for page in pages.values()}
    with (
        TemporaryDirectory() as folder,
        closing(open_sqlite(Path(folder) / "store.db", tenant="local")) as store,
    ):
        taken = asyncio.run(walk(store, by_url, [pages[seed].url], order))
    return [int(url.rpartition("/")[2]) for url in taken.urls]


def retrieve(
    texts: Mapping[str, str], queries: Iterable[tuple[str, str]], embedder: Embedder | None = None
) -> dict[str, list[str]]:
    """Return the names of the ten best texts for each query (name and words), as search answers it.

    Each text is one chunk as it stands; an embedder is asked only in its own languages.
    """
    with (
        TemporaryDirectory() as folder,
        closing(open_sqlite_index(Path(folder), tenant="bench")) as index,
    ):
        return asyncio.run(_retrieve(index, texts, queries, embedder))


async def _retrieve(
    index: SqliteIndex,
    texts: Mapping[str, str],
    queries: Iterable[tuple[str, str]],
    embedder: Embedder | None,
) -> dict[str, list[str]]:
    documents = [_whole(name, text) for name, text in texts.items()]
    await index.put(documents)
    if embedder is not None:
        await embed_documents(index, embedder, documents)
    run = {}
    for name, words in queries:
        found = await search(index, words, embedder=embedder)
        run[name] = [hit.passage.key.document for hit in found.hits]
    return run


def _whole(name: str, text: str) -> IndexDocument:
    chunk = Chunk(sha256_hex(name), text, (), position=0, tokens=0, tokenizer="none")
    return IndexDocument(name, name, "", "bench", "bench", "bench", (chunk,))
