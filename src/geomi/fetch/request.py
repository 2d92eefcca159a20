"""What a request says: who asks, what is wanted, and what is already known.

Rules kept:
- One honest name, `geomi/<version> (+<contact>)` unless the job has its own; the robots product
  token is the part before `/` (C-04, C-74).
- A revisit sends the stored ETag and Last-Modified, a first visit neither (HTTP-03, C-69).
- No cookies, and no header that belongs to the connection (HTTP-12, C-70).
- The job's own headers may carry secrets, so the caller says where they may go.
"""

from __future__ import annotations

import re

from geomi.errors import ConfigError
from geomi.model.config import CrawlConfig
from geomi.model.page import Headers, Request

ACCEPT = "text/html, application/xhtml+xml, application/xml;q=0.9, */*;q=0.8"  # HTTP-02
ACCEPT_ANY = "*/*"
ACCEPT_ENCODING = "gzip, deflate, br, zstd"
MAX_HEADERS = 50
MAX_HEADER_CHARS = 8192  # what common servers read of one line


def build(
    url: str,
    config: CrawlConfig,
    *,
    version: str,
    etag: str = "",
    last_modified: str = "",
    accept: tuple[str, ...] | None = None,
    sends_own_headers: bool = True,
) -> Request:
    """Build the request for a page, or for anything else with its own `accept`.

    Args:
        accept: media types whose body is wanted, in place of the job's; empty for any.
        sends_own_headers: whether the job's headers go to this origin.
    """
    types = config.http.content_types if accept is None else accept
    headers = {
        "user-agent": user_agent(config, version=version),
        "accept": ACCEPT if types else ACCEPT_ANY,
        "accept-language": config.http.accept_language,
        "accept-encoding": ACCEPT_ENCODING,
        "if-none-match": etag,
        "if-modified-since": last_modified,
    }
    if sends_own_headers:
        headers |= {name.lower(): value for name, value in config.http.headers}
    return Request(
        url=url,
        headers=tuple((name, value) for name, value in headers.items() if _is_sendable(value)),
        connect_timeout_s=config.http.connect_timeout_s,
        read_timeout_s=config.http.read_timeout_s,
        total_timeout_s=config.http.total_timeout_s,
        max_bytes=config.limits.max_page_bytes,
        types=types,
    )


def user_agent(config: CrawlConfig, *, version: str) -> str:
    """Return the name a job goes by."""
    if config.http.user_agent:
        return config.http.user_agent
    contact = config.http.contact
    return f"geomi/{version} (+{contact})" if contact else f"geomi/{version}"


def product_token(user_agent: str) -> str:
    """Return the name that robots.txt knows us by; raise ConfigError if it has none (C-04)."""
    token = user_agent.partition("/")[0].strip()
    if not _PRODUCT_TOKEN.fullmatch(token):
        raise ConfigError(
            f"user agent `{user_agent}` has no product token that robots.txt can name",
            hint="begin it with letters, `_` or `-` and a slash: `my-crawler/1.0 (+https://…)`",
        )
    return token


def check_headers(headers: Headers) -> None:
    """Raise ConfigError for a header that a job may not set."""
    if len(headers) > MAX_HEADERS:
        raise ConfigError(f"{len(headers)} headers are set; the limit is {MAX_HEADERS}")
    for name, value in headers:
        if not _HEADER_NAME.fullmatch(name):
            raise ConfigError(f"`{name}` is not the name of a header")
        if name.lower() in _NOT_OURS or name.lower().startswith("proxy-"):
            raise ConfigError(
                f"header `{name}` cannot be set", hint=_NOT_OURS.get(name.lower(), "")
            )
        if not _is_sendable(value):
            raise ConfigError(
                f"header `{name}` has a value that cannot be sent",
                hint=f"use 1 to {MAX_HEADER_CHARS} visible ASCII characters on one line",
            )


_PRODUCT_TOKEN = re.compile(r"[A-Za-z_-]+")  # RFC 9309 §2.2.1
_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,256}")  # RFC 9110 §5.6.2
_HEADER_VALUE = re.compile(r"[\x20-\x7e\t]+")

_CONNECTION = "it belongs to the connection, which is geomi's"
_CONDITIONAL = "geomi sends what the last answer of the page allows"
_NOT_OURS = {
    "connection": _CONNECTION,
    "keep-alive": _CONNECTION,
    "te": _CONNECTION,
    "trailer": _CONNECTION,
    "transfer-encoding": _CONNECTION,
    "upgrade": _CONNECTION,
    "host": _CONNECTION,
    "expect": _CONNECTION,
    "content-length": "a crawl only sends GET, without a body",
    "accept-encoding": "geomi names the encodings it can undo",
    "cookie": "a crawl keeps and sends no cookies",
    "user-agent": "set `http.user_agent`, so that robots.txt is read for the same name",
    "range": "a page is fetched whole; its size has the limit `limits.max_page_bytes`",
    "if-none-match": _CONDITIONAL,
    "if-modified-since": _CONDITIONAL,
    "if-match": _CONDITIONAL,
    "if-unmodified-since": _CONDITIONAL,
    "if-range": _CONDITIONAL,
}


def _is_sendable(value: str) -> bool:
    """An ETag came from a server: what could break the request line is not sent back."""
    return len(value) <= MAX_HEADER_CHARS and bool(_HEADER_VALUE.fullmatch(value))
