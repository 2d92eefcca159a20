"""A missing part is loud, and in CI it is a failure."""

from __future__ import annotations

import pytest

from tests.conftest import missing_part


@pytest.mark.parametrize("value", ["", "0", "false"])
def test_skipped_locally(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody has to install everything to run the tests."""
    monkeypatch.setenv("CI", value)
    with pytest.raises(pytest.skip.Exception, match="missing part: a fast computer"):
        missing_part("a fast computer")


def test_failed_in_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    """A green run in CI means that everything ran."""
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match="missing part: a fast computer"):
        missing_part("a fast computer")
