"""What is found on labelled questions, by words alone: the floors that may rise and not fall."""

from __future__ import annotations

import json
from math import log2
from pathlib import Path

import pytest

from bench.adapters import retrieve
from tests.conftest import corpus_file

pytestmark = [pytest.mark.corpus, pytest.mark.slow]

# Of KorQuAD every so many questions; all 5,774 give 0.959.
STEP = 5
KOREAN_FLOOR = 0.955
CODE_FLOOR = 0.68

Asked = list[tuple[str, str, set[str]]]


def ndcg(run: dict[str, list[str]], asked: Asked) -> float:
    """Return the nDCG@10 with answers that are right or wrong."""
    scores = []
    for name, _, right in asked:
        gain = sum(1 / log2(at + 2) for at, found in enumerate(run[name]) if found in right)
        scores.append(gain / sum(1 / log2(at + 2) for at in range(min(10, len(right)))))
    return sum(scores) / len(scores)


def test_korean_questions(corpus: Path) -> None:
    """Pairs of Hangul find what words do not."""
    file = corpus_file(corpus, "retrieval/ko_korquad/KorQuAD_v1.0_dev.json")
    texts: dict[str, str] = {}
    asked: Asked = []
    for article in json.loads(file.read_text("utf-8"))["data"]:
        for number, paragraph in enumerate(article["paragraphs"]):
            name = f"{article['title']}#{number}"
            texts[name] = f"{article['title']}\n{paragraph['context']}"
            asked += [(each["id"], each["question"], {name}) for each in paragraph["qas"]]
    some = asked[::STEP]
    run = retrieve(texts, [(name, question) for name, question, _ in some])
    assert ndcg(run, some) >= KOREAN_FLOOR


def test_questions_about_code(corpus: Path) -> None:
    """Identifiers are found by their parts."""
    folder = corpus_file(corpus, "retrieval/en_code_chunks")
    texts = {
        f"{file['original_uuid']}#{chunk['original_index']}": chunk["content"]
        for file in json.loads((folder / "codebase_chunks.json").read_text("utf-8"))
        for chunk in file["chunks"]
    }
    lines = (folder / "evaluation_set.jsonl").read_text("utf-8").splitlines()
    asked = [
        (str(number), row["query"], {f"{file}#{at}" for file, at in row["golden_chunk_uuids"]})
        for number, row in enumerate(map(json.loads, lines))
    ]
    run = retrieve(texts, [(name, question) for name, question, _ in asked])
    assert ndcg(run, asked) >= CODE_FLOOR
