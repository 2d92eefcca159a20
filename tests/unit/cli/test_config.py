"""What opens doors is never printed."""

from __future__ import annotations

import pytest

from geomi.cli.config import _shown


@pytest.mark.parametrize(
    ("key", "value", "shown"),
    [
        ("limits.max_pages", 5, 5),
        (
            "http.headers",
            (("X-Api-Key", "word"), ("AUTHORIZATION", "word"), ("X-Team", "blue")),
            ["X-Api-Key: ***", "AUTHORIZATION: ***", "X-Team: blue"],
        ),
        ("geomi.http_proxy", "http://user:word@p.test:1", "http://***@p.test:1"),
        ("geomi.http_proxy", "http://p.test:1", "http://p.test:1"),
        ("geomi.no_proxy", "a.test,b.test", "a.test,b.test"),
    ],
)
def test_secrets_are_hidden(key: str, value: object, shown: object) -> None:
    assert _shown(key, value) == shown
