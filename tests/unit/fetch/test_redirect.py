"""Where a redirect leads."""

from __future__ import annotations

import pytest

from geomi.fetch.response import MAX_LOCATION_CHARS, redirect_target
from geomi.model.page import Fetched
from geomi.model.verdict import Outcome

URL = "https://a.test/docs/x?y=1"


def lead(location: str, status: int = 301, failure: Outcome | None = None) -> str | None:
    return redirect_target(Fetched(URL, status, (("location", location),), failure=failure))


@pytest.mark.parametrize(
    ("location", "expected"),
    [
        ("/new", "https://a.test/new"),
        ("new", "https://a.test/docs/new"),
        ("?z=2", "https://a.test/docs/x?z=2"),
        ("//b.test/", "https://b.test/"),
        ("http://b.test/a#part", "http://b.test/a"),
        ("/a%20b", "https://a.test/a%20b"),
        ("/한".encode().decode("latin-1"), "https://a.test/%ED%95%9C"),
        ("/é", "https://a.test/%C3%A9"),
        ("javascript:alert(1)", None),
        ("ftp://b.test/", None),
        ("file:///etc/passwd", None),
        ("http://[::1", None),
        ("", None),
    ],
)
def test_target(location: str, expected: str | None) -> None:
    assert lead(location) == expected


@pytest.mark.parametrize("status", [200, 300, 304, 305, 404])
def test_only_redirects_lead_somewhere(status: int) -> None:
    assert lead("/new", status) is None


def test_a_failed_request_leads_nowhere() -> None:
    assert lead("/new", failure=Outcome.TIMEOUT) is None
    assert redirect_target(Fetched(URL, 302)) is None


@pytest.mark.parametrize("extra", [0, 1])
def test_an_endless_location_is_none(extra: int) -> None:
    found = lead("/".ljust(MAX_LOCATION_CHARS + extra, "x"))
    assert (found is None) is bool(extra)
