"""A job's own schema as it is given: as text, or on the command line as `@` and a file's name.

Only whoever may read the file anyway can name one: texts that come from elsewhere are the schema.
"""

from __future__ import annotations

from pathlib import Path

from geomi.analyse.schema import MAX_SCHEMA_CHARS, read_schema
from geomi.errors import ConfigError

KEY = "analysis.schema"
SIGN = "@"

_HINT = "give a JSON Schema of an object; docs/how-to/ask-for-your-own-fields.md has one"


def schema_in(text: str) -> str:
    """Return a schema's text, read from a file where one is named."""
    if not text.startswith(SIGN):
        return text
    path = Path(text.removeprefix(SIGN))
    try:
        with path.open(encoding="utf-8") as file:
            return file.read(MAX_SCHEMA_CHARS + 1)
    except OSError as error:
        raise ConfigError(f"cannot read schema `{path}`: {error.strerror}", hint=_HINT) from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"cannot read schema `{path}`: it is no text", hint=_HINT) from error


def checked_schema(raw: object) -> object:
    """Return a schema that pages can be asked for; refuse any other with the place in it."""
    if isinstance(raw, str) and raw:
        try:
            read_schema(raw)
        except ValueError as error:
            raise ConfigError(f"{KEY}: {error}", hint=_HINT) from None
    return raw
