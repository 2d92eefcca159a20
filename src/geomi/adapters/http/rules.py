"""What one deployment lets out: the egress gate's settings as a value, and how they are written.

Rules: nothing here reads the environment; text that makes no sense is a `ConfigError` before
anything is fetched; an override speaks for one host and port only, as in curl's `--resolve`.
"""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import unquote, urlsplit

from geomi.errors import ConfigError

# https://fetch.spec.whatwg.org/#port-blocking: protocols that a request could be mistaken for.
BLOCKED_PORTS = frozenset({
    0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101,
    102, 103, 104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427,
    465, 512, 513, 514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990,
    993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667,
    6668, 6669, 6679, 6697, 10080,
})  # fmt: skip
MAX_PORT = 65_535


@dataclass(frozen=True, slots=True)
class Override:
    """Where one host and port is to be found, whatever DNS says."""

    host: str
    port: int
    address: str
    address_port: int


@dataclass(frozen=True, slots=True)
class Proxy:
    """A forward proxy; its own address is configuration and may be private."""

    host: str
    port: int
    authorization: str = ""


@dataclass(frozen=True, slots=True)
class Proxies:
    """Which proxy serves which scheme, and the hosts that are asked directly."""

    http: Proxy | None = None
    https: Proxy | None = None
    no_proxy: tuple[str, ...] = ()

    def of(self, host: str, port: int, *, tls: bool) -> Proxy | None:
        """Return the proxy that stands before a host, if any."""
        proxy = self.https if tls else self.http
        if proxy is None or any(_covers(pattern, host, port) for pattern in self.no_proxy):
            return None
        return proxy


@dataclass(frozen=True, slots=True)
class EgressRules:
    """The settings of the egress gate.

    Args:
        allow_private: connect to private and loopback addresses, for tests and for intranets.
        ca_file: certificates to trust besides the system's.
    """

    allow_private: bool = False
    overrides: tuple[Override, ...] = ()
    ca_file: Path | None = None
    proxies: Proxies = field(default_factory=Proxies)


def parse_override(text: str) -> Override:
    """Read `HOST:PORT:ADDR[:PORT]`; an IPv6 host or address stands in brackets."""
    match _fields(text):
        case [host, port, address]:
            address_port = port
        case [host, port, address, address_port]:
            pass
        case _:
            raise _nonsense(text)
    try:
        ip = str(ip_address(address))
    except ValueError as error:
        raise _nonsense(text) from error
    ports = [
        int(digits) for digits in (port, address_port) if digits.isascii() and digits.isdigit()
    ]
    if not host or len(ports) != 2 or not all(0 < number <= MAX_PORT for number in ports):
        raise _nonsense(text)
    return Override(host.lower(), ports[0], ip, ports[1])


def parse_proxy(text: str) -> Proxy:
    """Read `[http://][user:password@]host[:port]`, as HTTP_PROXY holds it."""
    try:
        parts = urlsplit(text if "://" in text else f"http://{text}")
        host, port = parts.hostname, parts.port or 80
    except ValueError as error:
        raise ConfigError(f"`{_masked(text)}` is not the URL of a proxy: {error}") from error
    if parts.scheme != "http" or not host:
        raise ConfigError(
            f"`{_masked(text)}` is not the URL of a proxy",
            hint="write http://host:port; geomi does not support a proxy over TLS",
        )
    if parts.username is None:
        return Proxy(host, port)
    secret = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
    return Proxy(host, port, f"Basic {b64encode(secret.encode()).decode()}")


def parse_no_proxy(text: str) -> tuple[str, ...]:
    """Read a NO_PROXY list: names with their subdomains, `name:port`, or `*`."""
    names = (name.strip().lower() for name in text.split(","))
    return tuple(name for name in names if name)


def _covers(pattern: str, host: str, port: int) -> bool:
    name, _, digits = pattern.rpartition(":")
    if name and digits.isdigit() and not name.endswith(":"):
        return int(digits) == port and _covers(name, host, port)
    name = pattern.strip("[]").lstrip("*").lstrip(".")
    return not name or host == name or host.endswith(f".{name}")


def _fields(text: str) -> list[str]:
    """Split at the colons that stand outside brackets, which are left out."""
    fields, in_brackets = [""], False
    for letter in text:
        if letter in "[]":
            in_brackets = letter == "["
        elif letter == ":" and not in_brackets:
            fields.append("")
        else:
            fields[-1] += letter
    return [] if in_brackets else fields


def _nonsense(text: str) -> ConfigError:
    return ConfigError(
        f"`{text}` is not a host with its address",
        hint="write HOST:PORT:ADDRESS or HOST:PORT:ADDRESS:PORT, an IPv6 address in brackets",
    )


def _masked(text: str) -> str:
    """Keep a proxy's password out of messages and logs."""
    credentials, at, rest = text.rpartition("@")
    return f"…@{rest}" if at and credentials else text
