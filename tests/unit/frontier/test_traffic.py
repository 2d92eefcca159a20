"""Traffic from a list of ranks."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geomi.frontier.own_traffic import MOST_FOLDERS, own_traffic, read_amount, read_place
from geomi.frontier.priority import LAST_RANK, MOST_NAMES, names_of, raised, traffic
from geomi.frontier.rank_list import rank_columns
from geomi.url.parse import split


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
        ("1,a.test?query", None),
        ("1,a.test:81", None),
        ("1,user@a.test", None),
        ("1,two words.test", None),
    ],
)
def test_a_line_is_a_rank_and_a_domain(line: str, found: tuple[str, int] | None) -> None:
    assert rank_columns("1,a.test", "").read(line) == found


@pytest.mark.req("PRI-06")
@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("https://www.a.test,1000", ("www.a.test", 1000)),
        ("https://a.test:8443,1000", ("a.test", 1000)),
        ("https://a.test,50000000", ("a.test", LAST_RANK)),
        ("https://a.test/page,1000", None),
        ("a.test,1000", None),
        ("https://a.test,", None),
    ],
)
def test_a_line_of_crux_is_an_origin_and_a_bucket(line: str, found: tuple[str, int] | None) -> None:
    """What is in its last buckets has no traffic on our scale."""
    assert rank_columns("origin,rank", "").read(line) == found


@pytest.mark.req("PRI-06")
@pytest.mark.parametrize(
    ("url", "place", "expected"),
    [
        ("https://a.test/", "a.test", 1.0),
        ("http://a.test:8080/elsewhere", "a.test", 1.0),
        ("https://docs.a.test/x", "a.test", 1.0),
        ("https://a.test/shop", "a.test/shop", 6 / 7),
        ("https://a.test/shop/item?size=1", "a.test/shop", 6 / 7),
        ("https://a.test/shopping", "a.test", 1.0),
        ("https://a.test/p?id=2", "a.test/p?id=2", 0.0),
        ("https://b.test/", "", 0.0),
    ],
)
def test_the_longest_place_of_a_table_counts(url: str, place: str, expected: float) -> None:
    listed = [("a.test", 600.0), ("a.test", 400.0), ("a.test/shop", 100.0), ("a.test/p?id=2", 0.0)]
    named, value = own_traffic(listed).find(split(url))
    assert named == place
    assert value == pytest.approx(expected)


def test_a_page_far_below_a_prefix_is_not_searched_for_ever() -> None:
    far = split("https://a.test/shop" + "/x" * (MOST_FOLDERS + 1))
    assert own_traffic([("a.test/shop", 1.0)]).find(far) == ("", 0.0)


@given(st.text(max_size=60))
def test_no_line_raises(line: str) -> None:
    rank_columns(line, line).read(line)
    rank_columns("origin,rank", "").read(line)
    read_place(line)
    read_amount(line)
