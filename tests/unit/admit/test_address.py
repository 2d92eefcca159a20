"""Which addresses are public: every range at its first and last address, and just outside."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geomi.admit.address import is_public, judge_address

# name, first, last, and whether the neighbours before and after are public
V4_RANGES = [
    ("unspecified", "0.0.0.0", "0.255.255.255", False, True),
    ("private", "10.0.0.0", "10.255.255.255", True, True),
    ("shared", "100.64.0.0", "100.127.255.255", True, True),
    ("loopback", "127.0.0.0", "127.255.255.255", True, True),
    ("link_local", "169.254.0.0", "169.254.255.255", True, True),
    ("private", "172.16.0.0", "172.31.255.255", True, True),
    ("protocol", "192.0.0.0", "192.0.0.255", True, True),
    ("documentation", "192.0.2.0", "192.0.2.255", True, True),
    ("as112", "192.31.196.0", "192.31.196.255", True, True),
    ("relay", "192.52.193.0", "192.52.193.255", True, True),
    ("relay", "192.88.99.0", "192.88.99.255", True, True),
    ("private", "192.168.0.0", "192.168.255.255", True, True),
    ("as112", "192.175.48.0", "192.175.48.255", True, True),
    ("benchmark", "198.18.0.0", "198.19.255.255", True, True),
    ("documentation", "198.51.100.0", "198.51.100.255", True, True),
    ("documentation", "203.0.113.0", "203.0.113.255", True, True),
    ("multicast", "224.0.0.0", "239.255.255.255", True, False),
    ("reserved", "240.0.0.0", "255.255.255.254", False, False),
]
V6_RANGES = [
    ("protocol", "2001:1::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff", False, True),
    ("documentation", "2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", True, True),
    ("as112", "2620:4f:8000::", "2620:4f:8000:ffff:ffff:ffff:ffff:ffff", True, True),
    ("documentation", "3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff", True, True),
    ("translation", "64:ff9b:1::", "64:ff9b:1:ffff:ffff:ffff:ffff:ffff", False, False),
    ("discard", "100::", "100::ffff:ffff:ffff:ffff", False, False),
    ("discard", "100:0:0:1::", "100:0:0:1:ffff:ffff:ffff:ffff", False, False),
    ("segment_routing", "5f00::", "5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff", False, False),
    ("private", "fc00::", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", False, False),
    ("link_local", "fe80::", "febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff", False, False),
    ("site_local", "fec0::", "feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", False, False),
    ("multicast", "ff00::", "ff0f:ffff:ffff:ffff:ffff:ffff:ffff:ffff", False, False),
]


@pytest.mark.parametrize(("name", "first", "last", "before", "after"), V4_RANGES + V6_RANGES)
@pytest.mark.req("SEC-02")
def test_ranges(name: str, first: str, last: str, before: bool, after: bool) -> None:
    """A range begins and ends where its registry says (G-19)."""
    assert judge_address(first).rule == judge_address(last).rule == f"address.{name}"
    if int(ip_address(first)) > 0:
        assert is_public(str(ip_address(first) - 1)) is before
    assert is_public(str(ip_address(last) + 1)) is after


@pytest.mark.parametrize(
    "ip",
    ["1.1.1.1", "8.8.8.8", "9.255.255.255", "93.184.215.14", "168.63.129.15", "168.63.129.17",
     "223.255.255.255", "2000::", "2606:4700::1111", "2a00:1450:4001::1", "3fff:1000::",
     "::ffff:8.8.8.8", "64:ff9b::808:808", "2002:808:808::1"],
)  # fmt: skip
def test_public(ip: str) -> None:
    """The internet itself is admitted."""
    verdict = judge_address(ip)
    assert (verdict.admitted, verdict.rule) == (True, "address.public")


@pytest.mark.parametrize(
    "ip",
    ["169.254.169.254", "169.254.170.2", "169.254.170.23", "168.63.129.16", "192.0.0.192",
     "100.100.100.200", "169.254.0.23", "169.254.10.10", "169.254.42.42", "fd00:ec2::254",
     "fd00:ec2::23", "fd00:ec2::123", "fd20:ce::254", "fd00:c1::a9fe:a9fe", "fd00:42::42",
     "fd00:a9fe:a9fe::1", "fd00:100::100:200", "::ffff:169.254.169.254",
     "::ffff:0:169.254.169.254", "64:ff9b::a9fe:a9fe", "2002:a9fe:a9fe::", "::169.254.169.254",
     "64:ff9b::a83f:8110", "2001:4860::5efe:a9fe:a9fe", "2001:0:808:808::5601:5601"],
)  # fmt: skip
@pytest.mark.req("SEC-03")
def test_metadata(ip: str) -> None:
    """Metadata services are named, also inside another address, and no flag opens them."""
    verdict = judge_address(ip)
    assert (verdict.rule, verdict.hint) == ("address.metadata", "")


@pytest.mark.parametrize(
    ("ip", "rule"),
    [
        ("::", "address.unspecified"),
        ("::1", "address.loopback"),
        ("::ffff:127.0.0.1", "address.loopback"),
        ("::ffff:7f00:1", "address.loopback"),
        ("::ffff:0:127.0.0.1", "address.loopback"),
        ("::127.0.0.1", "address.reserved"),
        ("::8.8.8.8", "address.reserved"),
        ("2002:7f00:1::", "address.loopback"),
        ("2002:a00:1::1", "address.private"),
        ("64:ff9b::7f00:1", "address.loopback"),
        ("64:ff9b::10.0.0.1", "address.private"),
        ("2001:0:7f00:1::f7f7:f7f7", "address.loopback"),
        ("2001:0:808:808::80ff:fffe", "address.loopback"),
        ("2001:4860::5efe:10.0.0.1", "address.private"),
        ("2001:4860::200:5efe:192.168.0.1", "address.private"),
        ("2002:808:808::5efe:7f00:1", "address.loopback"),
        ("fe80::5efe:10.0.0.1", "address.link_local"),
        ("fe80::1%eth0", "address.link_local"),
        ("fec0::1", "address.site_local"),
        ("4000::1", "address.reserved"),
        ("255.255.255.255", "address.broadcast"),
        ("224.0.0.1", "address.multicast"),
    ],
)
@pytest.mark.req("SEC-02")
def test_carried_and_odd(ip: str, rule: str) -> None:
    """An address inside an address counts as what it is."""
    assert judge_address(ip).rule == rule
    assert not is_public(ip)


@pytest.mark.parametrize(
    ("ip", "hint"),
    [
        ("10.0.0.1", "--allow-private"),
        ("127.0.0.1", "--allow-private"),
        ("::1", "--allow-private"),
        ("fd12::1", "--allow-private"),
        ("::ffff:10.0.0.1", "--allow-private"),
        ("2002:7f00:1::", "--allow-private"),
        ("100.64.0.1", ""),
        ("0.0.0.0", ""),
        ("fe80::1", ""),
        ("fe80::5efe:10.0.0.1", ""),
        ("2001:0:a00:1::5601:5601", ""),
        ("224.0.0.1", ""),
    ],
)
@pytest.mark.req("SEC-02")
def test_the_hint_is_there_where_it_helps(ip: str, hint: str) -> None:
    """Whoever carries something that no flag opens is opened by none, whatever else it is."""
    assert judge_address(ip).hint == hint


@pytest.mark.parametrize(
    "text",
    ["", "localhost", "127.1", "0x7f000001", "2130706433", "017700000001", "127.000.000.001", "0",
     "127。0。0。1", "①②⑦.0.0.1", "1.2.3.4 ", "[::1]", "1.2.3.4:80", "::ffff:127.1", "a" * 1000],
)  # fmt: skip
@pytest.mark.req("SEC-02")
def test_anything_else_is_refused(text: str) -> None:
    """What is not one plain address is never public."""
    assert judge_address(text).rule == "address.invalid"


@given(st.integers(0, 2**32 - 1).map(IPv4Address))
def test_every_form_says_what_the_inner_address_says(inner: IPv4Address) -> None:
    """Mapped, translated and 6to4 forms of an address share its fate."""
    value, rule = int(inner), judge_address(str(inner)).rule
    forms = [
        0xFFFF << 32 | value,
        0xFFFF << 48 | value,
        0x64FF9B << 96 | value,
        0x2002 << 112 | value << 80,
    ]
    assert {judge_address(str(IPv6Address(form))).rule for form in forms} == {rule}


@given(st.text() | st.ip_addresses().map(str))
def test_never_raises(text: str) -> None:
    """Any text gets a verdict."""
    assert judge_address(text).rule.startswith("address.")
