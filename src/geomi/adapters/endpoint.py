"""A server that the operator names in a setting: its address, what it is sent, what it answers.

Its address may be private, as it comes from no page; it is dialled through the egress gate all the
same. Its key goes into one header and into no message.
"""

from __future__ import annotations

from typing import Any

import orjson

from geomi import __version__
from geomi.errors import ConfigError
from geomi.model.page import Fetched, Headers
from geomi.url.parse import parse as parse_url

MAX_TOLD_CHARS = 200
CONNECT_S = 10.0
# What is shorter is no secret, and may stand in any text.
LEAST_KEY_CHARS = 8
HIDDEN = b"[key]"


def read_endpoint(text: str, what: str, *, hint: str) -> str:
    """Return a server's address without the slash at its end; refuse one with credentials.

    Args:
        what: names the setting in a refusal, as `the endpoint of a model`.
    """
    url = parse_url(text)
    if url is None or "@" in text:
        raise ConfigError(f"{what} must be a plain http or https URL", hint=hint)
    return url.href.rstrip("/")


def json_headers(key: str) -> Headers:
    """Return the headers of a request for JSON: user agent and key; refuse an invalid key.

    One that was read from a file often has the end of a line at its own.
    """
    if not (key.isascii() and key.isprintable()):
        raise ConfigError(
            "the key has a character that no header may have", hint="check the key for a line break"
        )
    bearer = (("authorization", f"Bearer {key}"),) if key else ()
    return (("accept", "application/json"), ("user-agent", f"geomi/{__version__}"), *bearer)


def without_key(text: bytes, key: str) -> bytes:
    """Return what a server says without the key that it was sent, should it repeat it."""
    return text.replace(key.encode(), HIDDEN) if len(key) >= LEAST_KEY_CHARS else text


def read_json_object(body: bytes) -> dict[str, Any]:
    """Read the JSON object of an answer; `ValueError` says what else it is."""
    try:
        told = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise ValueError("something that is not JSON") from error
    if not isinstance(told, dict):
        raise ValueError(f"a JSON {type(told).__name__}, not an object")
    return told


def on_one_line(text: str) -> str:
    """Return the beginning of what a server says, as a message may hold it."""
    return " ".join(text.split())[:MAX_TOLD_CHARS] or "nothing more"


def beginning(fetched: Fetched) -> str:
    """Return the beginning of a body, whatever it is."""
    return fetched.body[: 4 * MAX_TOLD_CHARS].decode("utf-8", "replace")
