"""Decide whether an IP address belongs to the public internet.

geomi has tables of its own, for two reasons. `ipaddress.is_global` takes 192.0.0.192, the 6to4 and
NAT64 forms of 127.0.0.1 and multicast for public. And no table knows the metadata services that
clouds put at public addresses (SEC-03, G-19).

An IPv6 address that carries IPv4 addresses is judged by all of them and by its own range. A range
that no flag allows decides before one that a flag allows. Outside the global unicast space 2000::/3
nothing is public. Text that is not one plain address is refused. The resolver turns names and odd
spellings such as `127.1` into addresses, which come here.
"""

from __future__ import annotations

from dataclasses import replace
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

from geomi.model.verdict import Verdict

PUBLIC = Verdict(True, "address.public")


def judge_address(ip: str) -> Verdict:
    """Admit a public address; refuse any other by the name of its range."""
    try:
        address = ip_address(ip)
    except ValueError:
        return Verdict(False, "address.invalid", f"{ip[:80]} is not an IP address")
    if isinstance(address, IPv4Address):
        return _judge_v4(address)
    return _judge_v6(address)


def is_public(ip: str) -> bool:
    """Return whether an address is one of the public internet."""
    return judge_address(ip).admitted


_V4 = tuple(
    (name, IPv4Network(network))
    for name, networks in {
        # AWS, GCP, Azure and others; AWS containers; EKS; Azure's host; Oracle; Alibaba; Tencent,
        # twice; Scaleway.
        "metadata": "169.254.169.254/32 169.254.170.2/32 169.254.170.23/32 168.63.129.16/32"
        " 192.0.0.192/32 100.100.100.200/32 169.254.0.23/32 169.254.10.10/32 169.254.42.42/32",
        "unspecified": "0.0.0.0/8",
        "private": "10.0.0.0/8 172.16.0.0/12 192.168.0.0/16",
        "shared": "100.64.0.0/10",
        "loopback": "127.0.0.0/8",
        "link_local": "169.254.0.0/16",
        "protocol": "192.0.0.0/24",
        "documentation": "192.0.2.0/24 198.51.100.0/24 203.0.113.0/24",
        "as112": "192.31.196.0/24 192.175.48.0/24",
        "relay": "192.52.193.0/24 192.88.99.0/24",
        "benchmark": "198.18.0.0/15",
        "multicast": "224.0.0.0/4",
        "broadcast": "255.255.255.255/32",
        "reserved": "240.0.0.0/4",
    }.items()
    for network in networks.split()
)

_V6 = tuple(
    (name, IPv6Network(network))
    for name, networks in {
        # AWS and EKS; GCP; Oracle; Scaleway; Akamai; Alibaba. All lie in the private range, which a
        # flag may open.
        "metadata": "fd00:ec2::/32 fd20:ce::254/128 fd00:c1::a9fe:a9fe/128 fd00:42::42/128"
        " fd00:a9fe:a9fe::1/128 fd00:100::100:200/128",
        "unspecified": "::/128",
        "loopback": "::1/128",
        "translation": "64:ff9b:1::/48",
        "discard": "100::/64 100:0:0:1::/64",
        "protocol": "2001::/23",
        "documentation": "2001:db8::/32 3fff::/20",
        "as112": "2620:4f:8000::/48",
        "segment_routing": "5f00::/16",
        "private": "fc00::/7",
        "link_local": "fe80::/10",
        "site_local": "fec0::/10",
        "multicast": "ff00::/8",
    }.items()
    for network in networks.split()
)

_GLOBAL_UNICAST = IPv6Network("2000::/3")
_TEREDO = IPv6Network("2001::/32")
_SIX_TO_FOUR = IPv6Network("2002::/16")
_COMPATIBLE = IPv6Network("::/96")
# Forms whose last 32 bits are an IPv4 address that the packet really goes to.
_CARRIERS = tuple(map(IPv6Network, ("::ffff:0:0/96", "::ffff:0:0:0/96", "64:ff9b::/96")))
_ISATAP = (0x00005EFE, 0x02005EFE)  # RFC 5214 §6.1: the upper half of an interface identifier
_V4_BITS = 32
_V4_MASK = 0xFFFFFFFF


def _judge_v4(address: IPv4Address) -> Verdict:
    for name, network in _V4:
        if address in network:
            return _refuse(name, f"{address} is in {network}")
    return PUBLIC


def _judge_v6(address: IPv6Address) -> Verdict:
    """Judge a range and everything carried; what no flag opens is told first."""
    address = IPv6Address(int(address))  # without the zone of a link
    inner = [
        replace(verdict, detail=f"{verdict.detail}, carried by {address}")
        for verdict in map(_judge_v4, _carried(address))
    ]
    refused = [each for each in (*inner, _judge_range(address)) if not each.admitted]
    return min(refused, key=lambda each: each.hint != "", default=PUBLIC)


def _judge_range(address: IPv6Address) -> Verdict:
    if any(address in carrier for carrier in (*_CARRIERS, _TEREDO)):
        return PUBLIC  # only what it carries counts
    for name, network in _V6:
        if address in network:
            return _refuse(name, f"{address} is in {network}")
    if address not in _GLOBAL_UNICAST:
        return _refuse("reserved", f"{address} is not in {_GLOBAL_UNICAST}")
    return PUBLIC


def _refuse(name: str, detail: str) -> Verdict:
    hint = "--allow-private" if name in ("private", "loopback") else ""
    return Verdict(False, f"address.{name}", detail, hint)


def _carried(address: IPv6Address) -> tuple[IPv4Address, ...]:
    """Return the IPv4 addresses inside an IPv6 one, in every form that some system unpacks."""
    value = int(address)
    found: list[int] = []
    if any(address in carrier for carrier in _CARRIERS):
        found.append(value)
    if address in _COMPATIBLE and value > 1:  # `::` and `::1` carry nothing
        found.append(value)
    if address in _SIX_TO_FOUR:
        found.append(value >> 80)
    if address in _TEREDO:  # RFC 4380 §4: the server, and the client with all bits turned
        found += (value >> 64, ~value)
    if value >> _V4_BITS & _V4_MASK in _ISATAP:
        found.append(value)
    return tuple(IPv4Address(each & _V4_MASK) for each in found)
