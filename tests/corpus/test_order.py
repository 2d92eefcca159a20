"""Important pages come early on real sites, through our own gate, claims and settlements."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from bench.adapters import crawl_order
from bench.order import mass, site
from geomi.model.config import UrlOrder
from tests.conftest import corpus_file

LEAST_OF_OPIC = 0.95


@pytest.fixture(scope="module")
def scorer(corpus: Path) -> ModuleType:
    """The scorer beside the corpus."""
    path = corpus_file(corpus.parent, "harness/score_ordering.py")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
@pytest.mark.req("PRI-04", "PRI-05")
@pytest.mark.parametrize("name", ["postgresql15", "python311", "sqlite"])
def test_ten_percent_of_the_pages_hold_what_opic_finds(
    corpus: Path, scorer: ModuleType, name: str
) -> None:
    graph, seed, ranks = site(scorer, corpus_file(corpus, f"graph/{name}.tsv.gz"))
    opic = mass(scorer, scorer.simulate(graph, seed, "opic", ranks), ranks)
    weighted = mass(scorer, crawl_order(graph, seed), ranks)
    breadth = mass(scorer, crawl_order(graph, seed, UrlOrder.BFS), ranks)
    assert weighted >= LEAST_OF_OPIC * opic
    assert weighted > 1.2 * breadth
