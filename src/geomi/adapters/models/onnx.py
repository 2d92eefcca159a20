"""A sentence-transformer as an embedder, from a folder with `model.onnx` and `tokenizer.json`.

What the folder says about pooling (`1_Pooling/config.json`) and about how much the model can read
(`sentence_bert_config.json`) is followed; without that, tokens are averaged. The languages are the
caller's to say: no file of a model tells them reliably. It needs `geomi[onnx]`, and neither torch
nor a network.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from geomi.errors import ConfigError

if TYPE_CHECKING:
    from geomi.ports.index import Vectors

BATCH = 25  # EMB-01
MAX_TOKENS = 512
NAME_DIGITS = 8


@dataclass(frozen=True, slots=True)
class Prefixes:
    """What a model wants to read in front of a query and of a passage, such as `query: `."""

    query: str = ""
    passage: str = ""


NO_PREFIXES = Prefixes()


class OnnxEmbedder:
    """`ports.models.Embedder` of a folder; the model runs on a thread of its own."""

    def __init__(
        self,
        folder: Path,
        *,
        languages: Collection[str],
        prefixes: Prefixes = NO_PREFIXES,
        threads: int = 0,
    ) -> None:
        model = _file(folder, "model.onnx")
        self._session, self._tokenizer = _opened(folder, model, threads)
        self._inputs = {each.name for each in self._session.get_inputs()}
        self._first_only = _setting(folder, "1_Pooling/config.json", "pooling_mode_cls_token")
        self._prefixes = prefixes
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="geomi-onnx")
        digest = hashlib.sha256(model.read_bytes()).hexdigest()[:NAME_DIGITS]
        self.name = f"{folder.resolve().name}@{digest}"
        self.languages = frozenset(languages)
        self.dimensions = self._embed(["dimensions"]).shape[1]

    async def embed(self, texts: Sequence[str], *, is_query: bool = False) -> Vectors:
        """Return one vector of length 1 for each text; what is beyond the model's window is cut."""
        prefix = self._prefixes.query if is_query else self._prefixes.passage
        loop = asyncio.get_running_loop()
        prefixed = [prefix + text for text in texts]
        return await loop.run_in_executor(self._thread, self._in_batches, prefixed)

    def close(self) -> None:
        """Finish what is under way."""
        self._thread.shutdown()

    def _in_batches(self, texts: Sequence[str]) -> Vectors:
        """Embed texts of like length together: a batch is as wide as its longest text."""
        vectors = np.empty((len(texts), self.dimensions), np.float32)
        order = sorted(range(len(texts)), key=lambda at: len(texts[at]))
        for start in range(0, len(order), BATCH):
            batch = order[start : start + BATCH]
            vectors[batch] = self._embed([texts[at] for at in batch])
        return vectors

    def _embed(self, texts: Sequence[str]) -> Vectors:
        encoded = self._tokenizer.encode_batch(list(texts))
        mask = np.array([each.attention_mask for each in encoded], np.int64)
        known = {
            "input_ids": np.array([each.ids for each in encoded], np.int64),
            "attention_mask": mask,
            "token_type_ids": np.array([each.type_ids for each in encoded], np.int64),
        }
        given = {name: known[name] for name in self._inputs & known.keys()}
        (states, *_) = self._session.run(None, given)
        vectors = states if states.ndim == 2 else self._pooled(states, mask)
        length = np.linalg.norm(vectors, axis=1, keepdims=True)
        unit: Vectors = (vectors / np.maximum(length, 1e-12)).astype(np.float32)
        return unit

    def _pooled(self, states: NDArray[Any], mask: NDArray[np.int64]) -> NDArray[Any]:
        if self._first_only:
            first: NDArray[Any] = states[:, 0]
            return first
        weights = mask[:, :, None].astype(states.dtype)
        mean: NDArray[Any] = (states * weights).sum(axis=1) / np.maximum(weights.sum(axis=1), 1)
        return mean


def _opened(folder: Path, model: Path, threads: int) -> tuple[Any, Any]:
    """Open the model and its tokenizer."""
    try:
        from onnxruntime import InferenceSession, SessionOptions
        from tokenizers import Tokenizer
    except ImportError as error:
        raise ConfigError(
            f"the model in `{folder}` needs onnxruntime and tokenizers",
            hint="pip install 'geomi[onnx]'",
        ) from error
    options = SessionOptions()
    options.intra_op_num_threads = threads
    try:
        session = InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
        tokenizer = Tokenizer.from_file(str(_file(folder, "tokenizer.json")))
    except ConfigError:
        raise
    except Exception as error:  # both raise types of their own, of no common kind
        raise ConfigError(
            f"the model in `{folder}` cannot be read: {error}",
            hint="name a folder with a sentence-transformer in ONNX and its tokenizer.json",
        ) from error
    window = _setting(folder, "sentence_bert_config.json", "max_seq_length")
    tokenizer.enable_truncation(window if isinstance(window, int) else MAX_TOKENS)
    padding = tokenizer.padding or {}
    tokenizer.enable_padding(
        pad_id=padding.get("pad_id", 0), pad_token=padding.get("pad_token", "[PAD]")
    )
    return session, tokenizer


def _file(folder: Path, name: str) -> Path:
    file = folder / name
    if not file.is_file():
        raise ConfigError(
            f"there is no `{name}` in the model's folder `{folder}`",
            hint="name a folder with a sentence-transformer in ONNX and its tokenizer.json",
        )
    return file


def _setting(folder: Path, name: str, key: str) -> object:
    """Return what one of a model's own files says, or None."""
    file = folder / name
    if not file.is_file():
        return None
    try:
        found = json.loads(file.read_text("utf-8"))
    except ValueError:
        return None
    return found.get(key) if isinstance(found, dict) else None
