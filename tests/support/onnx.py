"""A sentence-transformer small enough to be written by hand: each word is one vector of a table.

The file is a protobuf of ONNX with a single `Gather`, so that nothing has to be fetched or
installed to try an embedder, and every number that comes out can be told in advance.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

_FLOAT, _INT64 = 1, 7  # TensorProto.DataType
_VERSION, _OPSET = 8, 13


def write_model(folder: Path, words: Mapping[str, Sequence[float]]) -> None:
    """Write a model that knows some words; any other is nothing, and so is padding."""
    folder.mkdir(parents=True, exist_ok=True)
    size = len(next(iter(words.values())))
    table = np.array([[0.0] * size, [0.0] * size, *words.values()], "<f4")
    (folder / "model.onnx").write_bytes(_model(table))
    vocabulary = {word: number for number, word in enumerate(("[PAD]", "[UNK]", *words))}
    tokenizer: dict[str, object] = {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": [],
        "normalizer": {"type": "Lowercase"}, "pre_tokenizer": {"type": "Whitespace"},
        "post_processor": None, "decoder": None,
        "model": {"type": "WordLevel", "vocab": vocabulary, "unk_token": "[UNK]"},
    }  # fmt: skip
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer), "utf-8")


def _model(table: np.ndarray[tuple[int, int], np.dtype[np.float32]]) -> bytes:
    rows, size = table.shape
    tensor = b"".join((_number(1, rows), _number(1, size), _number(2, _FLOAT), _text(8, "table")))
    gather = _text(1, "table") + _text(1, "input_ids") + _text(2, "states") + _text(4, "Gather")
    graph = b"".join(
        (
            _part(1, gather),
            _text(2, "words"),
            _part(5, tensor + _part(9, table.tobytes())),
            _part(11, _value("input_ids", _INT64, ("batch", "sequence"))),
            _part(11, _value("attention_mask", _INT64, ("batch", "sequence"))),
            _part(12, _value("states", _FLOAT, ("batch", "sequence", "size"))),
        )
    )
    return _number(1, _VERSION) + _part(8, _number(2, _OPSET)) + _part(7, graph)


def _value(name: str, kind: int, shape: Sequence[str]) -> bytes:
    dimensions = b"".join(_part(1, _text(2, each)) for each in shape)
    return _text(1, name) + _part(2, _part(1, _number(1, kind) + _part(2, dimensions)))


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _text(field: int, value: str) -> bytes:
    return _part(field, value.encode())


def _part(field: int, value: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(value)) + value


def _varint(value: int) -> bytes:
    octets = bytearray()
    while value > 0x7F:
        octets.append(value & 0x7F | 0x80)
        value >>= 7
    octets.append(value)
    return bytes(octets)
