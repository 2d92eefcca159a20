"""How early the important pages are taken, and what each order costs.

    python -m bench.order                # about a minute

prints, for every graph of real sites in `$GEOMI_CORPUS/graph` (or `../shared/corpus/graph`), which
share of the PageRank of all reachable pages has been collected after 10 % of them: by OPIC as the
scorer of `../shared/harness/score_ordering.py` computes it one page at a time, and through geomi's
own gate and SQLite store with leases as long as in production, in each order. Then, for a generated
web, the CPU time of links, claims and settlements together, without a network and without pages.

The last line is for other programs.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib.util
import os
import random
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType

from bench.adapters import crawl_order
from bench.frontier_walk import Page, Taken, walk
from geomi.adapters.store.store import open_sqlite
from geomi.model.config import UrlOrder

CUT = 0.1
HOSTS, URLS_PER_HOST, LINKS = 50, 400, 100


def main() -> None:
    """Score the orders, then time them."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--pages", type=int, default=2000, help="of the generated web")
    options.add_argument("--rounds", type=int, default=3)
    args = options.parse_args()
    ratios = _score()
    costs = _time(args.pages, args.rounds)
    worst = f"{min(ratios):.3f}" if ratios else "none"
    numbers = " ".join(f"{order}_cpu_ms_page={ms:.3f}" for order, ms in costs.items())
    print(f"pagerank_ratio_vs_opic={worst} {numbers}")


def _score() -> list[float]:
    """Print each graph's line; return what the order `weighted` reaches of OPIC's own."""
    corpus = Path(os.environ.get("GEOMI_CORPUS", Path(__file__).parents[2] / "shared" / "corpus"))
    program = corpus.parent / "harness" / "score_ordering.py"
    if not program.exists():
        print(f"no scorer at {program}: the graphs are left out")
        return []
    scorer = _load(program)
    ratios = []
    print(f"PageRank after {CUT:.0%} of the pages")
    for path in sorted((corpus / "graph").glob("*.tsv.gz")):
        name = path.name.removesuffix(".tsv.gz")
        graph, seed, ranks = site(scorer, path)
        reached = {"opic": mass(scorer, scorer.simulate(graph, seed, "opic", ranks), ranks)}
        for order in UrlOrder:
            reached[order] = mass(scorer, crawl_order(graph, seed, order), ranks)
        ratios.append(reached[UrlOrder.WEIGHTED] / reached["opic"])
        told = "  ".join(f"{order} {mass:.3f}" for order, mass in reached.items())
        print(f"  {name:<14} {len(ranks):>5} pages  {told}  ratio {ratios[-1]:.3f}")
    return ratios


def site(scorer: ModuleType, path: Path) -> tuple[dict[int, list[int]], int, dict[int, float]]:
    """Return a graph as far as it can be reached, its seed as the scorer picks it, and ranks."""
    graph, _ = scorer.load(str(path))
    seed = max(graph, key=lambda node: len(graph[node]))
    reached = scorer.reach(graph, seed)
    graph = {node: [to for to in graph[node] if to in reached] for node in graph if node in reached}
    return graph, seed, scorer.pagerank(graph, reached)


def mass(scorer: ModuleType, order: list[int], ranks: dict[int, float]) -> float:
    assert len(order) == len(ranks), f"{len(order)} of {len(ranks)} pages were taken"
    return float(scorer.curve(order, ranks, (CUT,))[0][CUT])


def _time(pages: int, rounds: int) -> dict[str, float]:
    """Print what each order costs; of several rounds, in turns, the quickest counts."""
    web = _web(random.Random(1))
    best: dict[UrlOrder, Taken] = {}
    for _ in range(rounds):
        for order in UrlOrder:
            taken = _crawl(web, order, pages)
            if order not in best or taken.cpu_s < best[order].cpu_s:
                best[order] = taken
    print(f"links, claims and settlements of {pages} pages, {LINKS} links each, {HOSTS} hosts")
    for order, taken in best.items():
        ms = taken.cpu_s / len(taken.urls) * 1000
        print(f"  {order:<9} {ms:.3f} CPU ms/page  {taken.links / taken.cpu_s:>9,.0f} links/s")
    return {order: taken.cpu_s / len(taken.urls) * 1000 for order, taken in best.items()}


def _crawl(web: dict[str, Page], order: UrlOrder, pages: int) -> Taken:
    seeds = [f"http://h{host}.test/0" for host in range(HOSTS)]
    with (
        TemporaryDirectory() as folder,
        closing(open_sqlite(Path(folder) / "store.db", tenant="local")) as store,
    ):
        return asyncio.run(walk(store, web, seeds, order, hosts=HOSTS // 10, most=pages))


def _web(rng: random.Random) -> dict[str, Page]:
    """Make a web: most links of a page stay on its host, and few pages get most of them."""
    names = [
        [f"http://h{host}.test/{number}" for number in range(URLS_PER_HOST)]
        for host in range(HOSTS)
    ]
    web = {}
    for host in range(HOSTS):
        for url in names[host]:
            links = []
            for _ in range(LINKS):
                there = host if rng.random() < 0.9 else rng.randrange(HOSTS)
                links.append(names[there][int(URLS_PER_HOST * rng.random() ** 3)])
            web[url] = Page(url, links)
    return web


def _load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    main()
