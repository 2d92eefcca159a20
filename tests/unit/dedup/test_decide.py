"""How a page is recognised again."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geomi.dedup.decide import (
    EXACT_KEY_BYTES,
    MIN_EXACT_CHARS,
    DuplicateEvidence,
    decide,
    exact_keys,
    fingerprint,
)
from geomi.dedup.sketch import sketch
from geomi.model.page import DuplicateReason as Reason
from geomi.model.page import KnownPage

TEXT = (
    "Some text that is long enough to be told apart from every other text by its hash alone. " * 2
)

WORDS = [f"word{number}" for number in range(400)]
PAGE = sketch(" ".join(WORDS))
COPY = sketch(" ".join([*WORDS[:100], "new", *WORDS[101:]]))
REVISION = sketch(" ".join([*WORDS[:200], *(f"other{number}" for number in range(200))]))
OTHER = sketch(" ".join(f"other{number}" for number in range(400)))
HERE, THERE, FIRST = "http://a.test/here", "http://a.test/there", "http://a.test/first"


@pytest.mark.req("DUP-02")
def test_exact_means_the_same_text_and_the_same_outlinks() -> None:
    first = fingerprint(TEXT, b"<p>", ["http://a.test/1", "http://a.test/2"])
    again = fingerprint(TEXT, b"<div>", ["http://a.test/2", "http://a.test/1", "http://a.test/1"])
    assert again.exact_key == first.exact_key
    assert len(first.exact_key) == EXACT_KEY_BYTES
    assert fingerprint(TEXT, b"<p>", ["http://a.test/1"]).exact_key != first.exact_key
    assert fingerprint(TEXT + "x", b"<p>", ["http://a.test/1"]).exact_key != first.exact_key


def test_a_short_text_is_never_a_duplicate() -> None:
    assert fingerprint("x" * (MIN_EXACT_CHARS - 1), b"", []).exact_key == b""
    assert fingerprint("x" * MIN_EXACT_CHARS, b"", []).exact_key != b""


def test_the_text_decides_change_and_the_body_is_kept_beside_it() -> None:
    first, again = fingerprint(TEXT, b"<p>", []), fingerprint(TEXT, b"<p >", [])
    assert again.content_hash == first.content_hash
    assert again.html_hash != first.html_hash
    assert first.html_hash == hashlib.sha256(b"<p>").hexdigest()


@pytest.mark.parametrize(
    ("text", "words"),
    [("", 0), ("…", 0), ("One two,\nthree", 3), ("국회는 법을 만든다.", 3), ("日本語", 3)],
    ids=["nothing", "signs", "english", "korean", "without-gaps"],
)
def test_words_are_counted_on_the_way(text: str, words: int) -> None:
    assert fingerprint(text, b"", []).words == words


def test_white_space_does_not_count() -> None:
    first = fingerprint("one two\nthree", b"", [])
    assert fingerprint(" one  two\t three\n", b"", []).content_hash == first.content_hash
    assert fingerprint("one two four", b"", []).content_hash != first.content_hash


@given(st.text(), st.binary(), st.lists(st.text()))
def test_anything_has_a_fingerprint(text: str, body: bytes, outlinks: list[str]) -> None:
    assert len(fingerprint(text, body, outlinks).content_hash) == 64


def test_a_page_that_keeps_its_links_does_not_hide_those_of_its_copy() -> None:
    links = ["http://a.test/1"]
    open_page = fingerprint(TEXT, b"", links).exact_key
    muted = fingerprint(TEXT, b"", links, nofollow=True).exact_key
    assert len({open_page, muted}) == 2
    assert exact_keys(open_page) == (open_page,)
    assert exact_keys(muted) == (open_page, muted)
    assert exact_keys(b"") == ()


@pytest.mark.req("DUP-05", "G-23")
@pytest.mark.parametrize(
    ("evidence", "of", "reason"),
    [
        (DuplicateEvidence(HERE, PAGE), None, None),
        (DuplicateEvidence(HERE, PAGE, exact=KnownPage(THERE)), THERE, Reason.EXACT),
        (
            DuplicateEvidence(HERE, PAGE, exact=KnownPage(THERE), canonical=FIRST),
            THERE,
            Reason.EXACT,
        ),
        (DuplicateEvidence(HERE, PAGE, exact=KnownPage(HERE)), None, None),
        (DuplicateEvidence(HERE, PAGE, exact=KnownPage(THERE, b"", HERE)), None, None),
        (DuplicateEvidence(HERE, PAGE, exact=KnownPage(THERE, b"", FIRST)), FIRST, Reason.EXACT),
        (DuplicateEvidence(HERE, PAGE, candidates=[KnownPage(THERE, COPY)]), THERE, Reason.NEAR),
        (DuplicateEvidence(HERE, PAGE, candidates=[KnownPage(THERE, REVISION)]), None, None),
        (DuplicateEvidence(HERE, PAGE, candidates=[KnownPage(THERE, OTHER)]), None, None),
        (DuplicateEvidence(HERE, b"", candidates=[KnownPage(THERE, b"")]), None, None),
        (DuplicateEvidence(HERE, PAGE, candidates=[KnownPage(HERE, PAGE)]), None, None),
        (DuplicateEvidence(HERE, PAGE, candidates=[KnownPage(THERE, PAGE, HERE)]), None, None),
        (
            DuplicateEvidence(HERE, PAGE, candidates=[KnownPage(THERE, COPY, FIRST)]),
            FIRST,
            Reason.NEAR,
        ),
        (
            DuplicateEvidence(
                HERE, PAGE, candidates=[KnownPage(FIRST, COPY), KnownPage(THERE, PAGE)]
            ),
            THERE,
            Reason.NEAR,
        ),
        (
            DuplicateEvidence(
                HERE, PAGE, candidates=[KnownPage(FIRST, PAGE), KnownPage(THERE, PAGE)]
            ),
            FIRST,
            Reason.NEAR,
        ),
    ],
)
def test_what_a_page_repeats_and_why(
    evidence: DuplicateEvidence, of: str | None, reason: Reason | None
) -> None:
    found = decide(evidence)
    assert (found and found.of, found and found.reason) == (of, reason)


@pytest.mark.parametrize(
    ("named", "of"),
    [
        (None, THERE),
        (KnownPage(THERE, COPY), THERE),
        (KnownPage(THERE, REVISION), THERE),
        (KnownPage(THERE, COPY, FIRST), FIRST),
        (KnownPage(THERE, b""), THERE),
        (KnownPage(THERE, OTHER), None),
        (KnownPage(THERE, COPY, HERE), None),
    ],
)
def test_a_page_may_name_the_one_it_repeats(named: KnownPage | None, of: str | None) -> None:
    found = decide(DuplicateEvidence(HERE, PAGE, canonical=THERE, named=named))
    assert (found and found.of, found and found.reason) == (of, of and Reason.CANONICAL)


def test_a_page_that_names_itself_is_its_own() -> None:
    assert decide(DuplicateEvidence(HERE, PAGE, canonical=HERE)) is None


def test_a_word_that_is_contradicted_leaves_the_text_to_decide() -> None:
    evidence = DuplicateEvidence(
        HERE,
        PAGE,
        canonical=THERE,
        named=KnownPage(THERE, OTHER),
        candidates=[KnownPage(FIRST, COPY)],
    )
    found = decide(evidence)
    assert found
    assert (found.of, found.reason) == (FIRST, Reason.NEAR)


@pytest.mark.req("DUP-02")
def test_the_same_page_of_another_job_is_an_exact_copy_whose_links_count() -> None:
    same = KnownPage(THERE, PAGE, exact_key=b"open")
    evidence = DuplicateEvidence(HERE, PAGE, exact_keys=(b"open", b"muted"), candidates=[same])
    found = decide(replace(evidence, canonical=FIRST))
    assert found is not None
    assert (found.of, found.reason, found.twin) == (THERE, Reason.EXACT, None)
    found = decide(replace(evidence, exact_keys=(b"other",)))
    assert found is not None
    assert (found.reason, found.similarity) == (Reason.NEAR, 1.0)
    found = decide(replace(evidence, exact=KnownPage(FIRST)))
    assert found is not None
    assert (found.of, found.twin) == (FIRST, KnownPage(FIRST))


def test_a_short_text_has_neither_exact_key_nor_sketch() -> None:
    short, long = (fingerprint("w " * (n // 2), b"", []) for n in (MIN_EXACT_CHARS - 2, 200))
    assert (short.exact_key, short.sketch) == (b"", b"")
    assert len(long.exact_key) == EXACT_KEY_BYTES and long.sketch == sketch("w " * 100)
