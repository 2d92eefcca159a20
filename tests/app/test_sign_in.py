"""What is kept for signing in: secrets in their forms, and the key that opens them."""

from __future__ import annotations

from pathlib import Path

import pytest

from geomi.adapters.machine.vault import KEY_FILE, FernetVault
from geomi.app.use.sign_in import MAX_LINES, MAX_SECRET_CHARS, shown_headers
from geomi.errors import ConfigError
from geomi.model.site import SignInKind

KEY = "Zm9yIHRlc3RzIGFsb25lLCAzMiBieXRlcyBpbiBhbGw="


@pytest.mark.req("FUT-21")
@pytest.mark.parametrize(
    ("kind", "secret", "says"),
    [
        ("basic", "no-colon-here", "not `user:password`"),
        ("basic", "us\ner:pass", "not `user:password`"),
        ("basic", "u:" + "p" * MAX_SECRET_CHARS, f"1 to {MAX_SECRET_CHARS:,} are allowed"),
        ("bearer", "two words", "not a bearer token"),
        ("bearer", "", "it has 0 characters"),
        ("cookie", "no-equals-sign", "not `name=value`"),
        ("cookie", "a=1\r\nX-Evil: 1", "not `name=value`"),
        ("header", "X-Key hidden-value", "line 1 is not `Name: value`"),
        ("header", "X-A: 1\nhidden-value", "line 2 is not `Name: value`"),
        ("header", "X-A: 1\n" * (MAX_LINES + 1), f"{MAX_LINES} headers are allowed"),
        ("header", "Cookie: a=1", "`cookie` cannot be set"),
        ("header", "Host: b.test", "`host` cannot be set"),
        ("header", "X-Key: h\u00e9", "`x-key` has a value that cannot be sent"),
    ],
)
def test_a_secret_that_cannot_be_used_is_refused_unseen(kind: str, secret: str, says: str) -> None:
    with pytest.raises(ConfigError) as refused:
        shown_headers(SignInKind(kind), secret)
    assert says in refused.value.message
    assert "hidden-value" not in f"{refused.value.message} {refused.value.hint}"


@pytest.mark.req("FUT-21")
def test_the_key_of_a_directory_is_made_once_and_is_private(tmp_path: Path) -> None:
    sealed = FernetVault(tmp_path, "").seal(b"secret")
    assert "secret" not in sealed
    key = (tmp_path / KEY_FILE).read_bytes()
    assert (tmp_path / KEY_FILE).stat().st_mode & 0o777 == 0o600
    assert FernetVault(tmp_path, "").unseal(sealed) == b"secret"
    FernetVault(tmp_path, "").seal(b"other")
    assert (tmp_path / KEY_FILE).read_bytes() == key
    assert [path.name for path in tmp_path.iterdir()] == [KEY_FILE]
    (tmp_path / KEY_FILE).chmod(0o640)
    with pytest.raises(ConfigError, match="others can read"):
        FernetVault(tmp_path, "").unseal(sealed)
    (tmp_path / KEY_FILE).unlink()
    with pytest.raises(ConfigError, match="is missing"):
        FernetVault(tmp_path, "").unseal(sealed)


@pytest.mark.req("FUT-21")
def test_the_key_of_the_operator_goes_first(tmp_path: Path) -> None:
    sealed = FernetVault(tmp_path, KEY).seal(b"secret")
    assert list(tmp_path.iterdir()) == []
    assert FernetVault(tmp_path / "elsewhere", KEY).unseal(sealed) == b"secret"
    with pytest.raises(ConfigError, match="another key"):
        FernetVault(tmp_path, KEY[::-1].lstrip("=") + "=").unseal(sealed)
    with pytest.raises(ConfigError, match="another key"):
        FernetVault(tmp_path, KEY).unseal(f"{sealed[:-6]}AAAAA=")
    with pytest.raises(ConfigError, match="GEOMI_SIGN_IN_KEY is not a key"):
        FernetVault(tmp_path, "too-short").seal(b"secret")
