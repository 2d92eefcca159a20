"""What is found in a text, how well, and how long a hostile one takes."""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geomi.model.config import Safety
from geomi.model.personal_data import SURE_KINDS, PiiKind
from geomi.private import digits
from geomi.private.detect import count, find
from geomi.private.email import MAX_LOCAL_CHARS
from tests.unit.private.labelled import (
    BLIND_PEOPLE_AND_PLACES,
    HELD_OUT,
    LABELLED,
    PEOPLE_AND_PLACES,
    examples,
    score,
)

ALL = SURE_KINDS
NAMED = (PiiKind.ADDRESS, PiiKind.NAME)
LEAST = 0.97
# Of names and addresses: of those with which the rules were made, and of those that were blind.
# A tenth of the names in the second are declared by nothing, so that nobody finds them.
LEAST_NAMED = {PEOPLE_AND_PLACES: (0.97, 0.83), BLIND_PEOPLE_AND_PLACES: (0.9, 0.84)}
# Made of what every pattern is made of, so that chance meets them.
PIECES = st.lists(
    st.sampled_from(
        [
            *"0123456789+-.()/ @#％＠－４\\\n",
            "010-",
            "at",
            "[at]",
            " dot ",
            "%40",
            "82",
            "tel:",
            "com",
            "전화",
            "_",
            "~",
            " ext. ",
            "(내선 ",
            "호",
            "SS# ",
        ]
    ),
    max_size=60,
).map("".join)
NAMED_PIECES = st.lists(
    st.sampled_from(
        [
            *"0123 ,.-\n[]()가",
            *"Mr. |Dr. |Jane Doe|O'Neil| Street|Elm | Ave, |, London |SW1A 2AA|IL 62704".split("|"),
            *"](mailto:|jane@|님| 씨|김민수|강남구 |서울 |테헤란로 |역삼동 |번길|주소 ".split("|"),
        ]
    ),
    max_size=60,
).map("".join)
SIZE = 5_000


@pytest.mark.parametrize("files", [LABELLED, HELD_OUT])
def test_there_are_enough_examples(files: Sequence[str]) -> None:
    read = list(examples(files))
    assert len(read) >= 300
    assert sum(not example.gold for example in read) >= 150
    kinds = [place.kind for example in read for place in example.gold]
    assert all(kinds.count(kind) >= 15 for kind in ALL)


@pytest.mark.req("SAF-01", "SAF-02")
@pytest.mark.parametrize("files", [LABELLED, HELD_OUT])
@pytest.mark.parametrize("kind", ALL)
def test_each_kind_is_found_well(kind: PiiKind, files: Sequence[str]) -> None:
    told: list[str] = []
    of_kind = score(lambda text: find(text, ALL), files, told)[kind]
    assert of_kind.precision >= LEAST, told
    assert of_kind.recall >= LEAST, told


def test_there_are_enough_names_and_addresses() -> None:
    read = list(examples((*PEOPLE_AND_PLACES, *BLIND_PEOPLE_AND_PLACES)))
    assert len(read) >= 300
    assert sum(not example.gold for example in read) >= 300
    kinds = [place.kind for example in read for place in example.gold]
    assert all(kinds.count(kind) >= 100 for kind in NAMED)


@pytest.mark.req("SAF-02")
@pytest.mark.parametrize("files", LEAST_NAMED)
@pytest.mark.parametrize("kind", NAMED)
def test_names_and_addresses_are_found_well(kind: PiiKind, files: Sequence[str]) -> None:
    told: list[str] = []
    of_kind = score(lambda text: find(text, NAMED), files, told)[kind]
    least_precision, least_recall = LEAST_NAMED[tuple(files)]
    assert of_kind.precision >= least_precision, told
    assert of_kind.recall >= least_recall, told
    print(f"{kind}: precision {of_kind.precision:.3f}, recall {of_kind.recall:.3f}")


def test_names_and_addresses_are_not_looked_for_by_default() -> None:
    text = "Mr. John Whitfield, 482 Maple Street, Springfield, IL 62704"
    assert find(text, Safety().pii_types) == []
    assert [place.kind for place in find(text, NAMED)] == [PiiKind.NAME, PiiKind.ADDRESS]


@pytest.mark.parametrize(
    ("box", "is_found"),
    [
        ("whitlock", True), ("p.whitlock7", True), ("peter.w", True), ("peterw2", True),
        ("peter", False), ("peter.x", False), ("office", False),
    ],
)  # fmt: skip
def test_the_address_tells_whether_the_text_of_its_link_is_a_name(box: str, is_found: bool) -> None:
    """A first name alone tells nothing: `Blue Ocean Yachts` write at `blue@`."""
    assert bool(find(f"[Peter Whitlock](mailto:{box}@lab.test)", NAMED)) is is_found


@pytest.mark.req("SAF-01")
@pytest.mark.parametrize("kind", ALL)
def test_only_what_is_asked_for_is_found(kind: PiiKind) -> None:
    found = {place.kind for example in examples() for place in find(example.text, [kind])}
    assert found == {kind}


def test_nothing_is_looked_for_without_a_kind() -> None:
    assert find("jane@example.com, 010-1234-5678", ()) == []


def test_a_place_has_one_kind() -> None:
    """The strictest test wins."""
    text = "Tel 900101-1521745"
    assert [(place.kind, text[place.start : place.end]) for place in find(text, ALL)] == [
        (PiiKind.RRN, "900101-1521745")
    ]


def test_spellings_of_one_value_count_once() -> None:
    text = (
        "Jane@example.com jane@example.com 010-1234-5678 010.1234.5678 ０１０－１２３４－５６７８"
    )
    text += " 02-123-4567"
    assert count(text, ALL) == ((PiiKind.EMAIL, 1), (PiiKind.PHONE, 2))


@pytest.mark.parametrize("size", [MAX_LOCAL_CHARS, MAX_LOCAL_CHARS + 1])
def test_a_name_that_is_too_long_is_taken_from_its_end(size: int) -> None:
    (place,) = find("x" * size + "@example.com", ALL)
    assert place.start == size - MAX_LOCAL_CHARS


@given(PIECES | NAMED_PIECES)
def test_places_are_in_order_and_apart(text: str) -> None:
    places = find(text, tuple(PiiKind), frozenset({"Jane Doe"}))
    assert all(0 <= place.start < place.end <= len(text) for place in places)
    assert all(one.end <= other.start for one, other in pairwise(places))


@given(st.text(max_size=300))
def test_any_text_is_read(text: str) -> None:
    find(text, ALL)


@pytest.mark.parametrize(
    "piece",
    [
        "1", "4", "0", "1 ", "1-", "(1)", "12345-", "a@", "@", "@a", "@a.", "a@a.aa ", "%40",
        "%40a.", "[at]", "[ at ", "a [at] a.", " at a dot ", " dot ", "+", "+8", "+82 ", "010-",
        "415 555 2671 ", "tel ", "tel:1", "4111 1111 1111 1111 ", "900101-1521745 ", "123-45-6789 ",
        "０", "０－", "\\", "1\\.", "00", "no. ", "a.", "xn--", "-", "가@",
        "１ ", "010-1234-5678 ", "ssn ", "1_", "1~", "010 · ", "02-123-4567~", "call us at ",
        "+44 20 7946 0321 ext. ", "02-123-4567 (내선 1", "예약 1588-1234 ", "SS# 123 45 6789 ",
    ],
)  # fmt: skip
def test_time_grows_no_faster_than_the_text(piece: str) -> None:
    """Twice the text may take twice the time; what is quadratic takes four times as long."""
    short, long = piece * (SIZE // len(piece)), piece * (8 * SIZE // len(piece))
    longest_s = 8 * 3 * max(min(_seconds(short) for _ in range(3)), 0.005)
    assert any(_seconds(long) < longest_s for _ in range(3)), "the machine may be busy"


@pytest.mark.parametrize(
    "piece",
    [
        "1 A A A ", "1 Aa Street, Aa Bb Cc Dd, Ee Ff, ", "1 Aa Street Aa Aa Aa Aa Aa ", "1 Aa, ",
        "Mr. ", "Mr. Aa Aa Aa ", "Prof. Dr. ", "[Aa Bb](mailto:", "[", "로1", "강남구 중로 1 ",
        "강남구 ", "김민수 교수 ", "김민수", "님", "A-", "Aa'a-", "O'", "1,", "PO Box 1, ",
    ],
)  # fmt: skip
def test_time_for_names_and_addresses_grows_no_faster_than_the_text(piece: str) -> None:
    short, long = piece * (SIZE // len(piece)), piece * (8 * SIZE // len(piece))
    longest_s = 8 * 3 * max(min(_seconds(short, NAMED) for _ in range(3)), 0.005)
    assert any(_seconds(long, NAMED) < longest_s for _ in range(3)), "the machine may be busy"


def _seconds(text: str, kinds: Sequence[PiiKind] = ALL) -> float:
    start_s = time.process_time()
    find(text, kinds)
    return time.process_time() - start_s


@pytest.mark.parametrize("slab", [1, 7, 16, 33])
def test_a_long_text_is_looked_at_in_slabs_and_nothing_falls_between(
    monkeypatch: pytest.MonkeyPatch, slab: int
) -> None:
    text = "call 02-555-0171 or 010-5550-1234, card 4111 1111 1111 1111, room 12, 2024-01-02. " * 3
    whole = find(text, ALL)
    monkeypatch.setattr(digits, "SLAB_CHARS", slab)
    assert find(text, ALL) == whole and len(whole) == 9
