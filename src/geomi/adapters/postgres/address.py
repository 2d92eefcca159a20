"""The URL of a database: what the driver is given, what people are shown, which schema is ours.

`?schema=NAME` is our own part of the URL, because libpq knows no such word; without it the tables
stand in the schema `geomi`, beside whatever else the database holds.
"""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from geomi.errors import ConfigError

SCHEMES = ("postgresql", "postgres")
SCHEMA = "geomi"
LONGEST_NAME = 63  # PostgreSQL cuts longer names, and two stores could then be one

_SECRETS = frozenset({"password", "sslpassword"})


@dataclass(frozen=True, slots=True)
class Address:
    """Where a store is.

    Args:
        url: for the driver, password and all.
        shown: for people.
    """

    url: str
    shown: str
    schema: str


def is_postgres(url: str) -> bool:
    """Whether a URL names a PostgreSQL database."""
    return url.partition("://")[0].lower() in SCHEMES and "://" in url


def read_address(url: str) -> Address:
    """Take a URL apart; refuse one that names no database of ours."""
    try:
        parts = urlsplit(url)
        query = parse_qsl(parts.query, keep_blank_values=True)
    except ValueError as error:
        raise ConfigError("the URL of the database cannot be read", hint=_HINT) from error
    if parts.scheme not in SCHEMES:
        raise ConfigError(f"`{parts.scheme}` is no database that geomi knows", hint=_HINT)
    schema = dict(query).get("schema", SCHEMA)
    if not schema.isidentifier() or not schema.isascii() or len(schema) > LONGEST_NAME:
        raise ConfigError(
            f"schema = `{schema}`: not a name", hint="letters, digits and _, 63 at most"
        )
    others = [(name, value) for name, value in query if name != "schema"]
    quoted = urlencode(others)
    shown = urlencode([pair for pair in query if pair[0] not in _SECRETS])
    return Address(
        url=urlunsplit(parts._replace(query=quoted)),
        shown=urlunsplit(parts._replace(netloc=_without_password(parts.netloc), query=shown)),
        schema=schema,
    )


_HINT = "such as postgresql://user@host/database"


def _without_password(netloc: str) -> str:
    user, at, place = netloc.rpartition("@")
    return user.partition(":")[0] + at + place
