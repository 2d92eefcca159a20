"""Traffic from a list of ranks."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geomi.frontier.priority import LAST_RANK, MOST_NAMES, names_of, raised, read_rank, traffic


@pytest.mark.req("PRI-06")
@pytest.mark.parametrize(
    ("rank", "expected"),
    [(1, 1.0), (10, 6 / 7), (1_000_000, 1 / 7), (LAST_RANK, 0.0), (LAST_RANK + 1, 0.0), (None, 0)],
)
def test_traffic_falls_with_the_logarithm_of_the_rank(rank: int | None, expected: float) -> None:
    assert traffic(rank) == pytest.approx(expected)


@pytest.mark.req("PRI-07")
@pytest.mark.parametrize(
    ("own", "page", "expected"), [(0.0, 0.8, 0.4), (0.6, 0.8, 0.6), (0.3, 0.0, 0.3)]
)
def test_a_busy_page_lends_half_of_its_traffic(own: float, page: float, expected: float) -> None:
    assert raised(own, page) == expected


@pytest.mark.parametrize(
    ("host", "names"),
    [
        ("example.com:443", ("example.com",)),
        (
            "docs.api.example.co.uk:80",
            ("docs.api.example.co.uk", "api.example.co.uk", "example.co.uk"),
        ),
        ("someone.github.io:443", ("someone.github.io",)),
        ("192.0.2.1:80", ("192.0.2.1",)),
        ("[2001:db8::1]:80", ("[2001:db8::1]",)),
        ("localhost:8080", ("localhost",)),
    ],
)
def test_a_host_is_known_by_its_name_and_those_above_it(host: str, names: tuple[str, ...]) -> None:
    assert names_of(host) == names


def test_a_host_with_many_labels_has_few_names() -> None:
    names = names_of("a." * 30 + "example.com:80")
    assert len(names) == MOST_NAMES
    assert names[-1] == "example.com"


@pytest.mark.req("PRI-06")
@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("1,google.com\n", ("google.com", 1)),
        ("12,WWW.Example.ORG\r\n", ("www.example.org", 12)),
        ('3,"quoted.test"', ("quoted.test", 3)),
        ("7,bücher.example", ("xn--bcher-kva.example", 7)),
        ("9,ends.in.a.dot.", ("ends.in.a.dot", 9)),
        ("rank,domain", None),
        ("", None),
        ("5", None),
        ("5,", None),
        ("0,zero.test", None),
        ("-1,less.test", None),
        ("²,square.test", None),
        (f"{LAST_RANK},last.test", ("last.test", LAST_RANK)),
        (f"{LAST_RANK + 1},after.test", None),
        ("1" * 5000 + ",long.test", None),
        ("1,a.test/path", None),
        ("1,a.test:81", None),
        ("1,user@a.test", None),
        ("1,two words.test", None),
    ],
)
def test_a_line_is_a_rank_and_a_domain(line: str, found: tuple[str, int] | None) -> None:
    assert read_rank(line) == found


@given(st.text(max_size=60))
def test_no_line_raises(line: str) -> None:
    read_rank(line)
