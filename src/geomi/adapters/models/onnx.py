"""A sentence-transformer as an embedder, from a folder with `model.onnx` and `tokenizer.json`.

What the folder says about pooling (`1_Pooling/config.json`) and about how much the model can read
(`sentence_bert_config.json`) is followed; without that, tokens are averaged. The languages are the
caller's to say: no file of a model tells them reliably. It needs the extra `onnx`, and
neither torch nor a network.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from geomi.adapters.models.embedding import NO_PREFIXES, Prefixes, in_batches, unit
from geomi.errors import ConfigError, ExtraMissing
from geomi.ports.models import OnAnswer, Vectors, unheard

MAX_TOKENS = 512
NAME_DIGITS = 8


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
        self._session, self._tokenizer = _opened(model, _file(folder, "tokenizer.json"), threads)
        window = _setting(folder, "sentence_bert_config.json", "max_seq_length")
        self._tokenizer.enable_truncation(window if isinstance(window, int) else MAX_TOKENS)
        self._inputs = {each.name for each in self._session.get_inputs()}
        self._first_only = _setting(folder, "1_Pooling/config.json", "pooling_mode_cls_token")
        self._prefixes = prefixes
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="geomi-onnx")
        with model.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        self.name = f"{folder.resolve().name}@{digest[:NAME_DIGITS]}"
        self.languages = frozenset(languages)
        self.dimensions = self._embed(["dimensions"])[0].shape[1]

    async def embed(
        self, texts: Sequence[str], *, is_query: bool = False, on_answer: OnAnswer = unheard
    ) -> Vectors:
        """Return one vector of length 1 for each text; what is beyond the model's window is cut."""
        prefixed = self._prefixes.before(texts, is_query=is_query)
        loop = asyncio.get_running_loop()
        vectors, tokens = await loop.run_in_executor(self._thread, self._embed_all, prefixed)
        for many in tokens:
            on_answer(many)
        return vectors

    def close(self) -> None:
        """Finish what is under way."""
        self._thread.shutdown()

    def _embed_all(self, texts: Sequence[str]) -> tuple[Vectors, list[int]]:
        """Embed texts of like length together: a batch is as wide as its longest text.

        Return how many tokens each batch had, too.
        """
        vectors, tokens = np.empty((len(texts), self.dimensions), np.float32), []
        order = sorted(range(len(texts)), key=lambda at: len(texts[at]))
        for batch in in_batches(order):
            vectors[batch], many = self._embed([texts[at] for at in batch])
            tokens.append(many)
        return vectors, tokens

    def _embed(self, texts: Sequence[str]) -> tuple[Vectors, int]:
        encoded = self._tokenizer.encode_batch(list(texts))
        mask = np.array([each.attention_mask for each in encoded], np.int64)
        known = {
            "input_ids": np.array([each.ids for each in encoded], np.int64),
            "attention_mask": mask,
            "token_type_ids": np.array([each.type_ids for each in encoded], np.int64),
        }
        given = {name: known[name] for name in self._inputs & known.keys()}
        (states, *_) = self._session.run(None, given)
        vectors = unit(states if states.ndim == 2 else self._pooled(states, mask))
        return vectors, int(mask.sum())

    def _pooled(self, states: NDArray[Any], mask: NDArray[np.int64]) -> NDArray[Any]:
        if self._first_only:
            first: NDArray[Any] = states[:, 0]
            return first
        weights = mask[:, :, None].astype(states.dtype)
        mean: NDArray[Any] = (states * weights).sum(axis=1) / np.maximum(weights.sum(axis=1), 1)
        return mean


def _opened(model: Path, tokens: Path, threads: int) -> tuple[Any, Any]:
    """Open the model and its tokenizer."""
    try:
        from onnxruntime import InferenceSession, SessionOptions
        from tokenizers import Tokenizer
    except ImportError as error:
        needs = f"the model `{model}` needs onnxruntime with tokenizers"
        raise ExtraMissing(needs, extra="onnx") from error
    options = SessionOptions()
    options.intra_op_num_threads = threads
    try:
        session = InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
        tokenizer = Tokenizer.from_file(str(tokens))
    except Exception as error:  # both raise types of their own, of no common kind
        raise ConfigError(
            f"the model `{model}` cannot be read: {error}",
            hint="name a folder with a sentence-transformer in ONNX and its tokenizer.json",
        ) from error
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
