"""Encrypt small secrets with a key that is not in the store; it needs the extra `signin`.

The key is that of the operator, or a file in the data directory that is made when it is first
needed and that its owner alone may read. Fernet of `cryptography` does the rest: AES in CBC with an
HMAC over all of it, so that it refuses a text that somebody has changed.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from geomi.adapters.machine.disk import refusal, write_whole
from geomi.errors import ConfigError, ExtraMissing

if TYPE_CHECKING:
    from cryptography.fernet import Fernet

KEY_FILE = "sign-in.key"
PRIVATE = 0o600
_OTHERS = 0o077


@dataclass(frozen=True, slots=True)
class FernetVault:
    """`ports.runtime.Vault` of a data directory.

    Args:
        key: that of the operator; empty for the one in the directory.
    """

    root: Path
    key: str

    @property
    def _path(self) -> Path:
        return self.root / KEY_FILE

    def seal(self, secret: bytes) -> str:
        """Encrypt a secret; the key is made if there is none."""
        return self._fernet(create=True).encrypt(secret).decode("ascii")

    def unseal(self, sealed: str) -> bytes:
        """Decrypt a secret; raise ConfigError where another key sealed it."""
        from cryptography.fernet import InvalidToken  # an extra

        try:
            return self._fernet(create=False).decrypt(sealed.encode("ascii"))
        except InvalidToken as error:
            raise ConfigError(
                "what is kept for signing in was encrypted with another key",
                hint="set GEOMI_SIGN_IN_KEY to that key, or give the secret again",
            ) from error

    def _fernet(self, *, create: bool) -> Fernet:
        if find_spec("cryptography") is None:
            raise ExtraMissing("signing in needs cryptography", extra="signin")
        from cryptography.fernet import Fernet  # an extra

        key = self.key.strip().replace("+", "-").replace("/", "_")
        try:
            return Fernet(key or self._own_key(create=create))
        except ValueError as error:
            raise ConfigError(
                f"{'GEOMI_SIGN_IN_KEY' if key else f'`{self._path}`'} is not a key",
                hint="a key is 32 random bytes in base64: openssl rand -base64 32",
            ) from error

    def _own_key(self, *, create: bool) -> bytes:
        """Read the key of the directory, which is made once."""
        from cryptography.fernet import Fernet  # an extra

        try:
            if create and not self._path.exists():
                self._make(Fernet.generate_key())
            if self._path.stat().st_mode & _OTHERS:
                raise ConfigError(f"others can read `{self._path}`", hint=f"chmod 600 {self._path}")
            return self._path.read_bytes().strip()
        except FileNotFoundError as error:
            raise ConfigError(
                f"the key `{self._path}` is missing",
                hint="put it back, set GEOMI_SIGN_IN_KEY, or give the secrets again",
            ) from error
        except OSError as error:
            raise refusal(error, self._path) from error

    def _make(self, key: bytes) -> None:
        """Write a key that only we may read; of two processes the first makes it."""
        part = self._path.with_name(f".{KEY_FILE}.{os.getpid()}")
        fd = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, PRIVATE)
        try:
            write_whole(fd, key)
            os.fsync(fd)
        finally:
            os.close(fd)
        try:
            os.link(part, self._path)
        except FileExistsError:
            pass  # the other's is read
        finally:
            part.unlink()
