"""A sentence-transformer from a folder."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from geomi.adapters.models.embedding import NO_PREFIXES, Prefixes
from geomi.adapters.models.onnx import OnnxEmbedder
from geomi.errors import ConfigError
from geomi.ports.models import BATCH
from tests.conftest import missing_part
from tests.support.onnx import write_model
from tests.support.waiting import waits

if find_spec("onnxruntime") is None or find_spec("tokenizers") is None:
    missing_part("no onnxruntime or tokenizers: pip install '.[onnx]'")

WORDS = {"east": (1.0, 0.0), "north": (0.0, 1.0), "far": (0.0, 8.0), "query": (-1.0, 0.0)}


@contextmanager
def opened(folder: Path, prefixes: Prefixes = NO_PREFIXES) -> Iterator[OnnxEmbedder]:
    """Open the small model."""
    if not (folder / "model.onnx").exists():
        write_model(folder, WORDS)
    embedder = OnnxEmbedder(folder, languages=("en",), prefixes=prefixes, threads=1)
    try:
        yield embedder
    finally:
        embedder.close()


@waits
async def test_texts_become_vectors_of_length_one(tmp_path: Path) -> None:
    """Tokens are averaged; padding and unknown words weigh nothing."""
    with opened(tmp_path / "tiny") as embedder:
        vectors = await embedder.embed(["East", "far", "east north", "east far north far"])
        assert embedder.name.startswith("tiny@")
        assert (embedder.dimensions, embedder.languages) == (2, frozenset({"en"}))
    half = 0.5**0.5
    expected = [[1, 0], [0, 1], [half, half], [1 / 290**0.5, 17 / 290**0.5]]
    np.testing.assert_allclose(vectors, expected, atol=1e-6)
    assert vectors.dtype == np.float32


@pytest.mark.req("EMB-01")
@waits
async def test_many_texts_keep_their_order(tmp_path: Path) -> None:
    """Batches are made of texts of like length; nobody notices."""
    texts = [
        "east " * (1 + at % 7) if at % 3 else "north " * (1 + at % 5) for at in range(3 * BATCH)
    ]
    with opened(tmp_path) as embedder:
        vectors = await embedder.embed(texts)
        assert (await embedder.embed([])).shape == (0, 2)
    assert vectors.argmax(axis=1).tolist() == [0 if at % 3 else 1 for at in range(3 * BATCH)]


@waits
async def test_a_model_may_want_to_know_what_it_reads(tmp_path: Path) -> None:
    """Queries and passages have prefixes of their own."""
    with opened(tmp_path, Prefixes(query="query ", passage="far ")) as embedder:
        (query,) = await embedder.embed(["unknown"], is_query=True)
        (passage,) = await embedder.embed(["unknown"])
    np.testing.assert_allclose(query, [-1, 0])
    np.testing.assert_allclose(passage, [0, 1])


@waits
async def test_the_folder_says_how_tokens_are_pooled_and_how_many_are_read(tmp_path: Path) -> None:
    """The first token alone, and no more than the window."""
    write_model(tmp_path, WORDS)
    (tmp_path / "1_Pooling").mkdir()
    pooling = tmp_path / "1_Pooling" / "config.json"
    pooling.write_text(json.dumps({"pooling_mode_cls_token": True}), "utf-8")
    with opened(tmp_path) as embedder:
        (vector,) = await embedder.embed(["north east east"])
    np.testing.assert_allclose(vector, [0, 1])
    pooling.write_text("no json", "utf-8")
    (tmp_path / "sentence_bert_config.json").write_text('{"max_seq_length": 2}', "utf-8")
    with opened(tmp_path) as embedder:
        (vector,) = await embedder.embed(["north north east east east"])
    np.testing.assert_allclose(vector, [0, 1])


def test_another_model_has_another_name(tmp_path: Path) -> None:
    """Vectors of two models are never compared."""
    with opened(tmp_path / "one" / "m") as one:
        write_model(tmp_path / "two" / "m", {**WORDS, "west": (-1.0, 0.5)})
        with opened(tmp_path / "two" / "m") as other:
            assert one.name != other.name


def test_a_folder_without_a_model_is_refused(tmp_path: Path) -> None:
    """The message names the file and the folder."""
    with pytest.raises(ConfigError, match=r"no `model\.onnx`"):
        OnnxEmbedder(tmp_path, languages=("en",))
    write_model(tmp_path, WORDS)
    (tmp_path / "model.onnx").write_bytes(b"no model")
    with pytest.raises(ConfigError, match="cannot be read"):
        OnnxEmbedder(tmp_path, languages=("en",))
    (tmp_path / "tokenizer.json").unlink()
    with pytest.raises(ConfigError, match=r"no `tokenizer\.json`"):
        OnnxEmbedder(tmp_path, languages=("en",))
