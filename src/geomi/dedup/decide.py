"""Decide which known page a page repeats, and why (C-41, C-95, G-23).

The hash of the main text decides whether a page changed. White space does not count, because
templates are often reindented. A text under `MIN_EXACT_CHARS` proves nothing: otherwise all error
pages and stubs would be duplicates of one another. A page repeats another by the first of these
rules that holds:

1. `exact`: text and outlinks are the same. If the other page belongs to the same job, and only
   then, the links of this page add nothing (C-41).
2. `canonical`: the page names the other as its canonical URL. The other page, if geomi has it, must
   not have another text or name this page in turn.
3. `near`: the sketches agree to `NEAR_SIMILARITY`.

A page always repeats the representative of its cluster: the page that was kept first, or that the
others name. No page repeats itself.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from geomi.dedup.shingles import join, words
from geomi.dedup.sketch import draw, simhash, similarity
from geomi.model.page import Duplicate, DuplicateReason, Fingerprint, KnownPage

MIN_EXACT_CHARS = 100
EXACT_KEY_BYTES = 16
# Chosen on the revisions set (G-23): F1 .992 against the pairs whose true similarity is at least as
# high, and every pair of different pages but one, whose texts are the same, stays below 0.2.
NEAR_SIMILARITY = 0.8
# Templates name the front page as canonical of every page; a page that has less than this in common
# with the one it names is no copy of it. The estimate's error is 0.04 here.
MIN_CANONICAL_SIMILARITY = 0.3

_BLANKS = b" \t\n\r\f\v"
_MUTED = 1  # the last bit of an exact key


@dataclass(frozen=True, slots=True)
class DuplicateEvidence:
    """Everything that speaks for a page being a duplicate.

    Args:
        sketch: of its main text; empty for short texts.
        exact: the first page of the same job that was kept under one of `exact_keys`.
        canonical: the normalised URL that the page names as canonical, empty if out of scope.
        named: the page kept under that URL.
        candidates: pages that share a band, in the order they were first kept.
    """

    url: str
    sketch: bytes
    exact: KnownPage | None = None
    exact_keys: tuple[bytes, ...] = ()
    canonical: str = ""
    named: KnownPage | None = None
    candidates: Sequence[KnownPage] = ()


def fingerprint(
    text: str, body: bytes, outlinks: Sequence[str], *, nofollow: bool = False
) -> Fingerprint:
    """Compute all hashes of a page.

    Args:
        outlinks: the resolved URLs that the page offers to follow, in any order.
        nofollow: whether the page as a whole keeps its links to itself.
    """
    content = hashlib.sha256(text.encode("utf-8", "replace").translate(None, _BLANKS))
    is_short, numbers = len(text) < MIN_EXACT_CHARS, words(text)
    return Fingerprint(
        content_hash=content.hexdigest(),
        html_hash=hashlib.sha256(body).hexdigest(),
        exact_key=b"" if is_short else _exact_key(content.digest(), outlinks, nofollow=nofollow),
        simhash=simhash(numbers),
        sketch=b"" if is_short else draw(join(numbers)),
        words=numbers.size,
    )


def exact_keys(key: bytes) -> tuple[bytes, ...]:
    """Return the exact keys under which a page's exact twin may be kept, the better one first.

    A page whose links may be followed repeats only such pages: a twin that forbids it has brought
    no links, and would hide them for good. A page that forbids it repeats both kinds.
    """
    if not key or not key[-1] & _MUTED:
        return (key,) if key else ()
    return (_marked(key, 0), key)


def decide(evidence: DuplicateEvidence) -> Duplicate | None:
    """Say which page a page repeats and why, or None for a page of its own."""
    return _the_same(evidence) or _by_its_own_word(evidence) or _nearest(evidence)


def _exact_key(content: bytes, outlinks: Sequence[str], *, nofollow: bool) -> bytes:
    links = "\n".join(sorted(set(outlinks))).encode("utf-8", "replace")
    digest = hashlib.sha256(content + links).digest()[:EXACT_KEY_BYTES]
    return _marked(digest, _MUTED if nofollow else 0)


def _marked(key: bytes, mark: int) -> bytes:
    return key[:-1] + bytes((key[-1] & ~_MUTED | mark,))


def _the_same(evidence: DuplicateEvidence) -> Duplicate | None:
    here, why = evidence.exact, DuplicateReason.EXACT
    if here is not None and evidence.url not in (here.url, here.representative):
        return Duplicate(here.representative, why, 1.0, twin=here)
    for known in _others(evidence):
        if known.exact_key and known.exact_key in evidence.exact_keys:
            return Duplicate(known.representative, why, 1.0)
    return None


def _by_its_own_word(evidence: DuplicateEvidence) -> Duplicate | None:
    if evidence.canonical in ("", evidence.url):
        return None
    named = evidence.named
    if named is None:
        return Duplicate(evidence.canonical, DuplicateReason.CANONICAL, 0.0)
    shared = similarity(evidence.sketch, named.sketch)
    can_compare = bool(evidence.sketch and named.sketch)
    if named.representative == evidence.url or (can_compare and shared < MIN_CANONICAL_SIMILARITY):
        return None
    return Duplicate(named.representative, DuplicateReason.CANONICAL, shared)


def _nearest(evidence: DuplicateEvidence) -> Duplicate | None:
    """Find the candidate most alike; of equals, the first."""
    found, best = None, NEAR_SIMILARITY
    for known in _others(evidence):
        shared = similarity(evidence.sketch, known.sketch)
        if shared > best or (found is None and shared == best):
            found, best = known, shared
    return Duplicate(found.representative, DuplicateReason.NEAR, best) if found else None


def _others(evidence: DuplicateEvidence) -> Iterator[KnownPage]:
    """Yield the candidates that the page does not stand for itself."""
    for known in evidence.candidates:
        if evidence.url not in (known.url, known.representative):
            yield known
