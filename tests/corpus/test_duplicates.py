"""Revisions of pages that others collected: floors that may rise, not fall."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from geomi.dedup.decide import NEAR_SIMILARITY
from geomi.dedup.sketch import bands, similarity, sketch
from tests.conftest import corpus_file

pytestmark = pytest.mark.corpus

LEAST_F1 = 0.97


@pytest.mark.req("DUP-05", "G-23")
def test_near_duplicates_are_told_from_other_revisions(corpus: Path) -> None:
    """The label of a pair is whether its true similarity reaches the threshold."""
    file = corpus_file(corpus, "neardup/revisions.dev.jsonl.gz")
    hits = found = meant = 0
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        for pair in map(json.loads, lines):
            left, right = sketch(pair["a"]), sketch(pair["b"])
            is_met = bool(set(bands(left)) & set(bands(right)))
            is_found = is_met and similarity(left, right) >= NEAR_SIMILARITY
            is_meant = pair["jaccard3"] >= NEAR_SIMILARITY
            hits, found, meant = hits + (is_found and is_meant), found + is_found, meant + is_meant
    assert 2 * hits / (found + meant) >= LEAST_F1
