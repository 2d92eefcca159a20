"""Names of content."""

from __future__ import annotations

from geomi.text.identifiers import sha256_hex

ABC = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


def test_digest() -> None:
    """Text and its UTF-8 have one name."""
    assert sha256_hex("abc") == sha256_hex(b"abc") == ABC


def test_lone_surrogate() -> None:
    """A broken page still has a name."""
    assert sha256_hex("\ud800") != sha256_hex("")
