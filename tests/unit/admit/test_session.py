"""Which parts of a URL name a visitor, and which name a page."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geomi.admit.normalize import RANDOM_CHARS, is_session, without_session

TOKEN = "0a1b2c3d4e5f67890a1b"


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("phpsessid", "1", True),
        ("jsessionid", TOKEN, True),
        ("cftoken", "9", True),
        ("zenid", "x", True),
        ("aspsessionidqqaabbcc", "X", True),
        ("phpsessid", "", False),
        # these may be anything
        ("sid", TOKEN, True),
        ("sessionid", TOKEN, True),
        ("session_id", TOKEN, True),
        ("sessid", TOKEN, True),
        ("sid", "d41d8cd98f00b204e9800998ecf8427e", True),
        ("sid", "hJ3k9Qx7Zp2Lm8Rt4Vw1%3D%3D", True),
        ("session", "eyJ1-9f8e7d6c5b4a39281", True),
        ("session", "8c2f4d0e-1111-4222-8333-444455556666", True),
        ("sid", TOKEN[:RANDOM_CHARS], True),
        ("sid", TOKEN[: RANDOM_CHARS - 1], False),
        ("sid", "1", False),
        ("session", "12", False),
        ("sessionid", "12", False),
        ("session", "KEY001AI1", False),
        ("sid", "a0000001", False),
        ("sid", "a000000000000001", False),
        ("sid", "0123456789012345", False),
        ("session", "keynote2024seoul", False),
        ("session", "IntroductionToPython3ForScientists", False),
        ("session", "2024-keynote-part-1-of-3-in-seoul", False),
        ("session", "DEV301", False),
        ("session", "opening-keynote", False),
        ("session", "keynote-of-2024", False),
        ("sid", "1699999999", False),
        ("sid", "", False),
        # these are none
        ("residence", TOKEN, False),
        ("session_type", TOKEN, False),
        ("id", TOKEN, False),
    ],
)
@pytest.mark.req("TRP-03")
def test_parameters(name: str, value: str, expected: bool) -> None:
    """`PHPSESSID` always; `sid` and `session` where a long value was surely drawn at random."""
    assert is_session(name, value) is expected


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/x;jsessionid=0A", "/x"),
        ("/x;JSESSIONID=1/y", "/x/y"),
        ("/x;jsessionid=1;v=2", "/x;v=2"),
        (f"/x;sid={TOKEN}", "/x"),
        ("/(S(abc123))/x", "/x"),
        ("/(A(x)S(abc-123))/x.aspx", "/x.aspx"),
        ("/a/(S(x))", "/a"),
        ("/(S(x));jsessionid=1", ""),
        ("/;jsessionid=1", "/"),
        ("/x;sid=7", "/x;sid=7"),
        ("/matrix;v=1;lang=en/x", "/matrix;v=1;lang=en/x"),
        ("/wiki/Foo_(bar)/(Sub)", "/wiki/Foo_(bar)/(Sub)"),
        ("/(S(x))y", "/(S(x))y"),
        ("/..;jsessionid=1/x", "/..;jsessionid=1/x"),
        ("/.;jsessionid=1", "/.;jsessionid=1"),
        ("/(S(a))/(S(b))/x;jsessionid=1;jsessionid=2", "/x"),
    ],
)
@pytest.mark.req("TRP-03")
def test_paths(path: str, expected: str) -> None:
    """Sessions of Java and ASP.NET go, everything that looks alike stays."""
    assert without_session(path) == expected


PIECES = st.sampled_from([";jsessionid=1", "/(S(a))", ";v=1", "/", "/.", "a", "(", ")", ";"])


@given(st.lists(PIECES, max_size=8).map("".join))
def test_twice_is_once(path: str) -> None:
    """Nothing is left that would be left out the next time."""
    once = without_session(path)
    assert without_session(once) == once
    assert len(once) <= len(path)
