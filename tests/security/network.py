"""The network as an attacker's target sees it: a scripted resolver, a wire, and a canary.

The wire notes every address that this process dials and lets only loopback through, so that a test
that fails leaves the machine alone. The canary stands for everything private: nothing may reach it.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Any

import pytest

from tests.support.server import Site

Address = tuple[str, int]
CANARY_TRIES = 5


@dataclass
class Wire:
    """What was dialled; a detour leads a public address to a site on loopback."""

    dialled: list[Address] = field(default_factory=list)
    detours: dict[str, Address] = field(default_factory=dict)

    def connect(self, dial: Callable[[Any, Any], None], by: socket.socket, address: Any) -> None:
        """Stand in for `socket.connect`."""
        if by.family not in (socket.AF_INET, socket.AF_INET6):
            return dial(by, address)
        host, port, *_ = address
        self.dialled.append((host, port))
        if host in self.detours:
            return dial(by, self.detours[host])
        if not ip_address(host.partition("%")[0]).is_loopback:
            raise ConnectionRefusedError(f"{host} is not loopback")
        return dial(by, address)


@contextmanager
def wired(monkeypatch: pytest.MonkeyPatch) -> Iterator[Wire]:
    """Listen to everything that is dialled."""
    wire, dial = Wire(), socket.socket.connect
    with monkeypatch.context() as patched:
        patched.setattr(
            socket.socket, "connect", lambda by, address: wire.connect(dial, by, address)
        )
        yield wire


@contextmanager
def resolving(
    monkeypatch: pytest.MonkeyPatch, answers: Mapping[str, tuple[str, ...]]
) -> Iterator[None]:
    """Answer for some names; numbers are read as the system reads them, no other name exists."""
    really = socket.getaddrinfo

    def getaddrinfo(host: Any, port: Any, *args: Any, **options: Any) -> list[Any]:
        name = host.decode() if isinstance(host, bytes) else host
        if name in answers:
            kind = (socket.AF_UNSPEC, socket.SOCK_STREAM, socket.IPPROTO_TCP, "")
            return [(*kind, (address, port or 0)) for address in answers[name]]
        options["flags"] = options.get("flags", 0) | socket.AI_NUMERICHOST
        return really(host, port, *args, **options)

    with monkeypatch.context() as patched:
        patched.setattr(socket, "getaddrinfo", getaddrinfo)
        yield


@contextmanager
def canary() -> Iterator[tuple[Site, ...]]:
    """Serve on one port of both kinds of loopback."""
    with ExitStack() as stack:
        for left in range(CANARY_TRIES, 0, -1):
            first = stack.enter_context(Site({}))
            try:
                second = stack.enter_context(Site({}, address="::1", port=first.port))
            except OSError:  # somebody else has that port there; or there is no IPv6 at all
                if left > 1:
                    continue
                yield (first,)
            else:
                yield first, second
            return
