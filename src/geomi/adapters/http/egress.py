"""The one gate to the network: resolve once, check every address, connect to a checked one.

Rules: every connection of geomi starts here (invariant 5). A name with a single answer that is not
public is refused altogether, because the next answer could be that one (G-19); `allow_private` lets
private and loopback addresses through and nothing else. The connection goes to the address that was
checked, under the name that was asked for. An override speaks for its own host and port only. A
proxy's own address is configuration; what it is asked to reach is checked here first, and for plain
HTTP the checked address is what it is asked for: a name could mean another one to the proxy. (For
HTTPS it is the name: the server that answers has to prove it with a certificate.)
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import TypeVar

from geomi.adapters.http.failure import FetchFailed
from geomi.adapters.http.names import Lookup, Names, look_up
from geomi.adapters.http.rules import BLOCKED_PORTS, EgressRules, Proxy
from geomi.adapters.http.tunnel import open_tunnel
from geomi.admit.address import judge_address
from geomi.errors import ConfigError
from geomi.model.verdict import Outcome, Verdict
from geomi.ports.runtime import Clock
from geomi.ports.web import Resolution
from geomi.url.host import is_address

# A name may have dozens of addresses; when four in a row do not answer, the host is down.
MAX_TRIED_ADDRESSES = 4

_Protocol = TypeVar("_Protocol", bound=asyncio.BaseProtocol)


class Egress:
    """The gate of one process; also the `Resolver` port."""

    def __init__(self, rules: EgressRules, clock: Clock, lookup: Lookup = look_up) -> None:
        self._rules = rules
        self._names = Names(clock, lookup)
        self._overrides = {(rule.host, rule.port): rule for rule in rules.overrides}
        if rules.ca_file is not None:
            _ = self._tls  # a wrong file is told before anything starts

    async def resolve(self, host: str, port: int) -> Resolution:
        """Return the checked addresses of a host, or why it may not or cannot be asked."""
        name = _plain(host)
        if port in BLOCKED_PORTS:
            return Resolution(
                failure=Outcome.ADDRESS_REFUSED,
                detail=f"port {port} of `{name}` belongs to another protocol and is refused",
            )
        override = self._overrides.get((name, port))
        if override is not None:
            return Resolution((override.address,), judge_address(override.address).admitted)
        answer = await self._names.find(name)
        if not answer.addresses:
            return Resolution(
                failure=Outcome.DNS_ERROR, detail=f"`{name}` does not resolve: {answer.problem}"
            )
        return self._judge(name, answer.addresses)

    async def connect(
        self,
        host: str,
        port: int,
        factory: Callable[[], _Protocol],
        *,
        tls: bool,
        timeout_s: float,
    ) -> tuple[_Protocol, str]:
        """Connect to a checked address; return the protocol, and the address for the record.

        Raises `FetchFailed` for everything that a name, a network or a server did.
        """
        resolution = await self.resolve(host, port)
        if resolution.failure is not None:
            raise FetchFailed(resolution.failure, resolution.detail)
        name = _plain(host)
        proxy = self.proxy_of(host, port, tls=tls)
        with _translated(name, port, timeout_s):
            async with asyncio.timeout(timeout_s):
                if proxy is not None:
                    address = resolution.addresses[0]
                    asked = name if tls else address
                    if self.forwards(host, port, tls=tls):
                        return await self._connect_to_forwarder(proxy, factory), address
                    tunnel = await self._open_tunnel(proxy, (asked, port))
                    return await self._start(tunnel, factory, name if tls else None), address
                override = self._overrides.get((name, port))
                return await self._connect_to_any(
                    resolution.addresses,
                    override.address_port if override is not None else port,
                    factory,
                    server_name=name if tls else None,
                    timeout_s=timeout_s,
                )

    def proxy_of(self, host: str, port: int, *, tls: bool) -> Proxy | None:
        """Return the proxy that stands before a host; an override leads past any."""
        name = _plain(host)
        if (name, port) in self._overrides:
            return None
        return self._rules.proxies.of(name, port, tls=tls)

    def forwards(self, host: str, port: int, *, tls: bool) -> bool:
        """Return whether a proxy is asked for a URL in full; it resolves nothing then.

        A name is reached through a tunnel to its checked address: asked for an address in full, a
        proxy would write that into `Host`, and the server could not know its site (RFC 9112
        §3.2.2).
        """
        return not tls and is_address(host) and self.proxy_of(host, port, tls=tls) is not None

    def close(self) -> None:
        """Take no more questions about names."""
        self._names.close()

    def _judge(self, name: str, addresses: tuple[str, ...]) -> Resolution:
        is_public = True
        for address in addresses:
            verdict = judge_address(address)
            if verdict.admitted:
                continue
            is_public = False
            if not (self._rules.allow_private and verdict.rule in _LOCAL_RULES):
                return _refusal(name, address, verdict)
        return Resolution(addresses, is_public)

    async def _connect_to_any(
        self,
        addresses: tuple[str, ...],
        port: int,
        factory: Callable[[], _Protocol],
        *,
        server_name: str | None,
        timeout_s: float,
    ) -> tuple[_Protocol, str]:
        """Try addresses in order, each with an equal share of the time that is left."""
        loop = asyncio.get_running_loop()
        end_s = loop.time() + timeout_s
        tried = addresses[:MAX_TRIED_ADDRESSES]
        for left, address in zip(range(len(tried), 0, -1), tried, strict=True):
            try:
                async with asyncio.timeout_at(loop.time() + (end_s - loop.time()) / left):
                    _, protocol = await loop.create_connection(
                        factory,
                        address,
                        port,
                        ssl=self._tls if server_name is not None else None,
                        server_hostname=server_name.rstrip(".") if server_name else None,
                    )
                    return protocol, address
            except ssl.SSLError:
                raise  # it answered, and not as the host it should be
            except OSError:  # TimeoutError is one
                if left == 1:
                    raise
        raise OSError("no address")

    async def _connect_to_forwarder(
        self, proxy: Proxy, factory: Callable[[], _Protocol]
    ) -> _Protocol:
        loop = asyncio.get_running_loop()
        address = await self._address_of(proxy)
        return (await loop.create_connection(factory, address, proxy.port))[1]

    async def _open_tunnel(self, proxy: Proxy, target: tuple[str, int]) -> asyncio.Transport:
        return await open_tunnel(proxy, await self._address_of(proxy), target)

    async def _start(
        self, tunnel: asyncio.Transport, factory: Callable[[], _Protocol], server_name: str | None
    ) -> _Protocol:
        """Give an open tunnel to a protocol, with TLS inside where a server has to prove a name."""
        protocol, transport = factory(), tunnel
        if server_name is None:
            tunnel.set_protocol(protocol)
        else:
            secured = await asyncio.get_running_loop().start_tls(
                tunnel, protocol, self._tls, server_hostname=server_name.rstrip(".")
            )
            assert secured is not None, "start_tls returns a transport or raises"
            transport = secured
        protocol.connection_made(transport)  # both leave this to us
        if server_name is None:
            tunnel.resume_reading()
        return protocol

    async def _address_of(self, proxy: Proxy) -> str:
        answer = await self._names.find(proxy.host)
        if not answer.addresses:
            raise OSError(f"the proxy `{proxy.host}` does not resolve: {answer.problem}")
        return answer.addresses[0]

    @cached_property
    def _tls(self) -> ssl.SSLContext:
        """Verification on, HTTP/1.1 only, nothing optional."""
        context = ssl.create_default_context()
        context.set_alpn_protocols(["http/1.1"])
        if self._rules.ca_file is not None:
            try:
                context.load_verify_locations(self._rules.ca_file)
            except (OSError, ssl.SSLError) as error:
                raise ConfigError(
                    f"`{self._rules.ca_file}` has no readable certificates: {error}",
                    hint="give a file of PEM certificates",
                ) from error
        return context


# What `allow_private` opens; metadata services, multicast and reserved ranges stay shut (SEC-03).
_LOCAL_RULES = frozenset({"address.loopback", "address.private"})


def _plain(host: str) -> str:
    """Write a host as names and overrides are kept: lower case, IPv6 without brackets."""
    return host.strip("[]").lower()


@contextmanager
def _translated(name: str, port: int, timeout_s: float) -> Iterator[None]:
    """Turn what the system raises while connecting into a `FetchFailed`."""
    try:
        yield
    except TimeoutError as error:
        raise FetchFailed(
            Outcome.TIMEOUT, f"no connection to `{name}` port {port} within {timeout_s:g} s"
        ) from error
    except (ssl.SSLError, ValueError) as error:  # ValueError: a name that TLS cannot carry
        raise FetchFailed(Outcome.TLS_ERROR, f"TLS with `{name}` failed: {error}") from error
    except OSError as error:
        raise FetchFailed(
            Outcome.CONNECT_ERROR,
            f"cannot connect to `{name}` port {port}: {error or type(error).__name__}",
        ) from error


def _refusal(name: str, address: str, verdict: Verdict) -> Resolution:
    where = f"`{name}` is" if name == address else f"`{name}` resolves to {address}, which is"
    way_out = (
        f"use {verdict.hint} if it is your own" if verdict.hint else "geomi never connects to it"
    )
    return Resolution(
        is_public=False,
        failure=Outcome.ADDRESS_REFUSED,
        detail=f"{where} not public ({verdict.rule}: {verdict.detail}); {way_out}",
    )
