"""The web over HTTP/1.1: a `Request` comes in, a `Fetched` goes out, through one egress gate.

Everything of geomi that opens a connection opens it here. It must never follow a redirect, never
send a cookie, never connect to an address that was not checked, never read more than it was allowed
to, and never raise for what a server or a network did.
"""

from geomi.adapters.http.client import HttpClient
from geomi.adapters.http.egress import Egress
from geomi.adapters.http.rules import (
    EgressRules,
    Override,
    Proxies,
    Proxy,
    parse_no_proxy,
    parse_override,
    parse_proxy,
)

__all__ = [
    "Egress",
    "EgressRules",
    "HttpClient",
    "Override",
    "Proxies",
    "Proxy",
    "parse_no_proxy",
    "parse_override",
    "parse_proxy",
]
