"""The URL of a database: what the driver is given, what people are shown, which schema is ours.

`?schema=NAME` is our own part of the URL, because libpq knows no such word; without it the tables
stand in the schema `geomi`, beside whatever else the database holds.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from urllib.parse import SplitResult, parse_qsl, urlencode, urlsplit

from geomi.errors import ConfigError

SCHEMES = ("postgresql", "postgres")
SCHEMA = "geomi"
LONGEST_NAME = 63  # PostgreSQL cuts longer names, and two stores could then be one

_SECRETS = frozenset({"password", "sslpassword"})
_HINT = "such as postgresql://user@host/database"


@dataclass(frozen=True, slots=True)
class DatabaseAddress:
    """Where a store is.

    Args:
        url: for the driver, password and all.
        shown: for people.
    """

    url: str
    shown: str
    schema: str


def read_address(url: str) -> DatabaseAddress:
    """Take a URL apart; refuse one that names no database of ours."""
    try:
        parts = urlsplit(url)
        schema = dict(parse_qsl(parts.query)).get("schema", SCHEMA)
    except ValueError as error:
        raise ConfigError("the URL of the database cannot be read", hint=_HINT) from error
    if parts.scheme not in SCHEMES:
        raise ConfigError(f"`{parts.scheme}` is no database that geomi knows", hint=_HINT)
    is_name = schema.isidentifier() and schema.isascii() and schema == schema.lower()
    if not is_name or len(schema) > LONGEST_NAME:
        raise ConfigError(
            f"schema = `{schema}`: not a name", hint="small letters, digits and _, 63 at most"
        )
    return DatabaseAddress(
        url=_joined(parts, parts.netloc, without={"schema"}),
        shown=_joined(parts, _without_password(parts.netloc), without=_SECRETS),
        schema=schema,
    )


def _joined(parts: SplitResult, netloc: str, *, without: Collection[str]) -> str:
    """Put a URL together again; an empty host is a socket's, and keeps its slashes."""
    query = urlencode(
        [(name, value) for name, value in parse_qsl(parts.query) if name not in without], safe="/"
    )
    return f"{parts.scheme}://{netloc}{parts.path}{'?' if query else ''}{query}"


def _without_password(netloc: str) -> str:
    user, at, place = netloc.rpartition("@")
    return user.partition(":")[0] + at + place
