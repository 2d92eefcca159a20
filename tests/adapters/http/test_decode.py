"""Bodies decode to what was encoded, and never to more than their caps."""

from __future__ import annotations

import gzip
import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from geomi.adapters.http.coding import CODINGS, MAX_MEMBERS, PIECE_BYTES
from geomi.adapters.http.decode import (
    MARGIN_BYTES,
    MAX_CODINGS,
    MAX_RATIO,
    RATIO_FLOOR_BYTES,
    Body,
)
from geomi.adapters.http.failure import FetchFailed, FetchFailure
from geomi.model.verdict import Outcome
from tests.adapters.http.support import ENCODERS, fast_brotli, raw_deflate

MIB = 1024 * 1024
EVERY_ENCODER = pytest.mark.parametrize("encoder", ENCODERS)


def decode(
    coding: str,
    data: bytes,
    *,
    max_bytes: int = 4 * MIB,
    step: int = 1 << 30,
    truncate: bool = False,
) -> bytes:
    body = Body(coding, max_bytes, truncate=truncate)
    for start in range(0, len(data), step):
        body.feed(data[start : start + step])
    return body.finish()


def failure(
    coding: str, data: bytes, *, max_bytes: int = 4 * MIB, step: int = 1 << 30
) -> FetchFailure:
    with pytest.raises(FetchFailed) as caught:
        decode(coding, data, max_bytes=max_bytes, step=step)
    return caught.value.failure


def words(size: int) -> bytes:
    """Return text that compresses, but not like a bomb."""
    return b"".join(b"%d words " % (number * 7919) for number in range(size // 8))[:size]


@pytest.mark.req("HTTP-09")
@EVERY_ENCODER
@pytest.mark.parametrize("size", [0, 1, 5000, PIECE_BYTES, 3 * PIECE_BYTES + 1])
def test_decodes_what_was_encoded(encoder: str, size: int) -> None:
    coding, encode = ENCODERS[encoder]
    assert decode(coding, encode(words(size)), step=4096) == words(size)
    assert decode(coding, encode(words(size))) == words(size)


@EVERY_ENCODER
def test_decodes_byte_by_byte(encoder: str) -> None:
    coding, encode = ENCODERS[encoder]
    assert decode(coding, encode(b"<p>hello" * 20), step=1) == b"<p>hello" * 20


@EVERY_ENCODER
def test_decodes_two_codings_in_reverse_order(encoder: str) -> None:
    coding, encode = ENCODERS[encoder]
    twice = gzip.compress(encode(words(5000)))
    assert decode(f"{coding}, gzip", twice, step=100) == words(5000)


@pytest.mark.parametrize(
    "coding", ["", "identity", "none", "utf-8", "identity, identity, identity"]
)
def test_leaves_plain_bodies_alone(coding: str) -> None:
    assert decode(coding, b"<p>hello") == b"<p>hello"


def test_reads_gzip_members_and_ignores_what_follows_them() -> None:
    members = gzip.compress(b"one ") + gzip.compress(b"two")
    assert decode("gzip", members + b"\0\0padding", step=1) == b"one two"
    assert decode("x-gzip", members) == b"one two"


def test_reads_zstd_frames() -> None:
    _, encode = ENCODERS["zstd"]
    assert decode("zstd", encode(b"one ") + encode(b"two"), step=3) == b"one two"


@pytest.mark.parametrize(
    ("coding", "member"),
    [
        pytest.param("gzip", gzip.compress(b""), id="gzip"),
        pytest.param("zstd", ENCODERS["zstd"][1](b""), id="zstd"),
        # RFC 8878 §3.1.2: a frame that readers skip.
        pytest.param("zstd", (0x184D2A50).to_bytes(4, "little") + bytes(4), id="skipped"),
    ],
)
def test_bounds_the_number_of_members(coding: str, member: bytes) -> None:
    assert decode(coding, member * MAX_MEMBERS) == b""
    assert failure(coding, member * (MAX_MEMBERS + 1)).outcome is Outcome.BAD_ENCODING


@EVERY_ENCODER
def test_refuses_a_body_that_ends_early(encoder: str) -> None:
    coding, encode = ENCODERS[encoder]
    ended = failure(coding, encode(words(5000))[:-3])
    assert (ended.outcome, "ended" in ended.detail) == (Outcome.BAD_ENCODING, True)


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br", "zstd"])
def test_an_empty_body_is_empty_in_any_coding(coding: str) -> None:
    assert decode(coding, b"") == b""


@pytest.mark.parametrize(
    ("coding", "data"),
    [
        ("gzip", b"<p>not compressed at all"),
        ("br", b"\xff" * 40),
        ("zstd", b"<p>not compressed at all"),
        ("deflate", b"\xff\xff\xff\xff"),
        ("compress", b""),
        (", ".join(["gzip"] * (MAX_CODINGS + 1)), b""),
    ],
)
def test_refuses_what_cannot_be_decoded(coding: str, data: bytes) -> None:
    assert failure(coding, data).outcome is Outcome.BAD_ENCODING


@pytest.mark.parametrize("encoder", ["plain", *ENCODERS])
def test_caps_the_output_at_its_limit(encoder: str) -> None:
    coding, encode = ENCODERS.get(encoder, ("", bytes))
    assert decode(coding, encode(words(5000)), max_bytes=5000) == words(5000)
    over = failure(coding, encode(words(5001)), max_bytes=5000)
    assert over.outcome is Outcome.TOO_LARGE
    assert "5000 bytes" in over.detail


@pytest.mark.parametrize("encoder", ["plain", *ENCODERS])
def test_truncates_on_request(encoder: str) -> None:
    coding, encode = ENCODERS.get(encoder, ("", bytes))
    cut = decode(coding, encode(words(9000)), max_bytes=5000, truncate=True, step=100)
    assert cut == words(5000)


def test_the_ratio_counts_beyond_its_floor() -> None:
    """G-10: a hundred times is too much, but not for the first MiB."""
    assert len(decode("gzip", gzip.compress(bytes(RATIO_FLOOR_BYTES)))) == RATIO_FLOOR_BYTES
    over = failure("gzip", gzip.compress(bytes(2 * RATIO_FLOOR_BYTES)))
    assert (over.outcome, f"{MAX_RATIO} times" in over.detail) == (Outcome.TOO_LARGE, True)


@EVERY_ENCODER
@pytest.mark.parametrize("truncate", [False, True])
def test_a_bomb_costs_its_cap_and_some_pieces(encoder: str, truncate: bool) -> None:
    """G-10: 16 MiB of zeros in a few bytes of brotli never become 16 MiB."""
    coding, encode = ENCODERS[encoder]
    bomb = encode(bytes(16 * MIB))
    cap = 2 * MIB
    tracemalloc.start()
    try:
        body = Body(coding, cap, truncate=truncate)
        try:
            body.feed(bomb)
            body.finish()
        except FetchFailed as failed:
            assert failed.failure.outcome is Outcome.TOO_LARGE
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 3 * cap


def test_a_bomb_inside_a_coding_is_seen_too() -> None:
    bomb = fast_brotli(gzip.compress(bytes(16 * MIB)))
    assert failure("gzip, br", bomb).outcome is Outcome.TOO_LARGE


EMPTY_BLOCK = b"\x00\x00\x00\xff\xff"  # RFC 1951 §3.2.4: stored, of no length


def test_a_bomb_between_two_codings_is_seen_although_it_decodes_to_nothing() -> None:
    """G-10: 66 bytes of brotli were 40 MiB of deflate that never gave anything to count."""
    bomb = fast_brotli(EMPTY_BLOCK * (2 * RATIO_FLOOR_BYTES // len(EMPTY_BLOCK)))
    over = failure("deflate, br", bomb)
    assert (over.outcome, f"{MAX_RATIO} times" in over.detail) == (Outcome.TOO_LARGE, True)


def test_caps_what_lies_between_two_codings() -> None:
    blocks = EMPTY_BLOCK * ((5000 + MARGIN_BYTES) // len(EMPTY_BLOCK) - 1)
    inner = blocks + raw_deflate(b"hi")
    assert decode("deflate, gzip", gzip.compress(inner), max_bytes=5000) == b"hi"
    over = failure("deflate, gzip", gzip.compress(blocks + inner[:20]), max_bytes=4980)
    assert (over.outcome, "4980 bytes" in over.detail) == (Outcome.TOO_LARGE, True)


def test_a_body_is_in_memory_once() -> None:
    page = words(4 * MIB)
    tracemalloc.start()
    try:
        body = Body("", 4 * MIB)
        for start in range(0, len(page), 64 * 1024):
            body.feed(page[start : start + 64 * 1024])
        whole = body.finish()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert whole == page
    assert peak < 1.5 * len(page)


@settings(max_examples=100, deadline=None)
@given(coding=st.sampled_from(sorted(CODINGS)), data=st.binary(max_size=200))
def test_no_bytes_raise_anything_else(coding: str, data: bytes) -> None:
    try:
        decode(coding, data, step=7)
    except FetchFailed as failed:
        assert failed.failure.outcome is Outcome.BAD_ENCODING


@settings(max_examples=60, deadline=None)
@given(
    data=st.binary(max_size=4000), step=st.integers(1, 500), encoder=st.sampled_from([*ENCODERS])
)
def test_where_packets_end_makes_no_difference(data: bytes, step: int, encoder: str) -> None:
    coding, encode = ENCODERS[encoder]
    assert decode(coding, encode(data), step=step) == data


@pytest.mark.parametrize("encoding", ["", "gzip"])
def test_a_sink_takes_the_body_inside_the_same_caps(encoding: str) -> None:
    pieces: list[bytes] = []
    plain = b"0123456789" * 100
    body = Body(encoding, len(plain), sink=pieces.append)
    body.feed(gzip.compress(plain) if encoding else plain)
    assert body.finish() == b""
    assert b"".join(pieces) == plain
    small = Body(encoding, len(plain) - 1, sink=pieces.append)
    with pytest.raises(FetchFailed, match="larger"):
        small.feed(gzip.compress(plain) if encoding else plain)
