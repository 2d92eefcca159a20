"""Every network connection passes the one egress gate in `adapters/http`."""

from __future__ import annotations

import ast

from tests.architecture.tree import Module, dotted_uses, imported, modules

CLIENTS = frozenset(
    {
        "aiohttp",
        "ftplib",
        "http.client",
        "httpcore",
        "httptools",
        "httpx",
        "niquests",
        "pycurl",
        "requests",
        "smtplib",
        "socket",
        "telnetlib",
        "urllib.request",
        "urllib3",
        "xmlrpc",
    }
)
CONNECTING = ("open_connection", "open_unix_connection", "create_connection", "sock_connect")
# Servers for the sample site and for tests; they listen, and what they serve is our own.
SERVERS = ("demo", "testing")
GATE = "adapters/http/"
# The channel to our own child process is a socket pair: nothing is dialled.
CHANNEL = "adapters/compute/"
PAIRED_BY = {"open_connection": {"sock"}, "socket": {"fileno"}, "socketpair": set[str]()}


def test_no_other_network_client() -> None:
    """Only the gate imports a client or a socket."""
    assert [
        f"{module.name} imports {name}"
        for module in _outside_the_gate()
        for name in imported(module)
        if any(name == client or name.startswith(f"{client}.") for client in CLIENTS)
    ] == []


def test_no_other_connection() -> None:
    """Only the gate opens a connection through the event loop."""
    assert [
        f"{module.name}:{line} uses {name}"
        for module in _outside_the_gate()
        for line, name in dotted_uses(module)
        if name.rpartition(".")[2] in CONNECTING
    ] == []


def test_the_channel_to_the_child_dials_nothing() -> None:
    """Its sockets come from a pair or from the parent; none is given an address."""
    calls = [
        (module.name, node.lineno, node.func.attr, {each.arg for each in node.keywords}, node.args)
        for module in modules()
        if module.name.startswith(CHANNEL)
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in {*CONNECTING, *PAIRED_BY, "connect", "connect_ex"}
    ]
    assert [
        f"{name}:{line} calls {function}"
        for name, line, function, keywords, arguments in calls
        if PAIRED_BY.get(function) != keywords or arguments
    ] == []


def _outside_the_gate() -> list[Module]:
    return [
        module
        for module in modules()
        if module.room not in SERVERS and not module.name.startswith((GATE, CHANNEL))
    ]
