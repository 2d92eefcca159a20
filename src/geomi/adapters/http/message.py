"""The request as bytes.

Rules: GET, or POST where something is sent along; `Host` first; no cookie ever leaves (HTTP-12);
headers that steer the connection are ours alone; a line break inside a header is refused, because
it would begin another header.
"""

from __future__ import annotations

from geomi.adapters.http.rules import Proxy
from geomi.errors import ConfigError
from geomi.model.page import Headers
from geomi.url.parse import DEFAULT_PORTS, Url

_OURS = frozenset(
    {
        "connection", "content-length", "cookie", "expect", "host", "keep-alive", "te", "trailer",
        "proxy-authorization", "proxy-connection", "transfer-encoding", "upgrade",
    }
)  # fmt: skip


def write_request(url: Url, headers: Headers, proxy: Proxy | None, body: bytes = b"") -> bytes:
    """Return the request for a URL; a proxy is asked for an http URL in full (RFC 9112 §3.2.2)."""
    is_default_port = url.port == DEFAULT_PORTS[url.scheme]
    authority = url.host if is_default_port else url.authority
    by_proxy = proxy is not None and url.scheme == "http"
    target = f"http://{authority}{url.target}" if by_proxy else url.target
    lines = [
        f"{'POST' if body else 'GET'} {target} HTTP/1.1",
        f"Host: {authority}",
        *[f"{name}: {value}" for name, value in headers if name.lower() not in _OURS],
        "Connection: keep-alive",  # C-70: HTTP/1.1 is all we speak
    ]
    if body:
        lines.append(f"Content-Length: {len(body)}")
    if by_proxy and proxy is not None and proxy.authorization:
        lines.append(f"Proxy-Authorization: {proxy.authorization}")
    message = "\r\n".join([*lines, "", ""])
    if message.count("\n") != len(lines) + 1 or message.count("\r") != len(lines) + 1:
        raise ConfigError(
            f"a request header for `{url.host}` holds a line break",
            hint="look at `http.headers` and `http.user_agent`",
        )
    return message.encode() + body
