"""Ways to write an address that nobody outside may reach, and schemes that lead past HTTP.

A spelling is a whole URL: `{port}` is the canary's, and its path `/s{n}` tells it apart from the
others. `rule` is the range that must be named when it is refused; empty where the text is no URL to
begin with. Names are answered by a resolver that is scripted, so that no test asks a real one.
"""

from __future__ import annotations

from typing import NamedTuple

from geomi.url.parse import Url, parse


class Spelling(NamedTuple):
    """One way to write a forbidden address; `needs_base` where only a page makes a URL of it."""

    written: str
    rule: str
    needs_base: bool = False

    def text(self, n: int, port: int) -> str:
        """Return the URL as an attacker writes it."""
        return self.written.replace("{port}", str(port)).replace("{n}", str(n))

    def url(self, n: int, port: int, base: str | None = None) -> Url | None:
        """Return what our parser makes of it."""
        return parse(self.text(n, port), base)


HOSTS: dict[str, str] = {
    "loopback": "127.0.0.1 127.0.0.2 127.255.255.254 127.1 127.0.1 127.65535 2130706433 0x7f000001"
    " 0X7F000001 0x7f.1 0x7f.0.0.0x1 017700000001 0177.0.0.1 0177.0.0.01 00000000177.0.0.1"
    " 127.0x0.1 127.000.000.001 127.0.0.1. １２７.０.０.１ 127。0。0。1 127．0．0．1 127｡0｡0｡1"
    " ①②⑦.0.0.1 127.0.0.¹ 𝟏𝟐𝟕.𝟎.𝟎.𝟏 %31%32%37.0.0.1 127%2e0%2e0%2e1 127.0.0%2E1"
    " 127.0.0.\u00ad1 127.\u200b0.0.1 %EF%BC%91%EF%BC%92%EF%BC%97.1"
    " [::1] [0:0:0:0:0:0:0:1] [0000::0001] [::0.0.0.1] [::ffff:127.0.0.1] [::FFFF:7F00:1]"
    " [0:0:0:0:0:ffff:127.0.0.1] [::ffff:0:127.0.0.1] [64:ff9b::127.0.0.1] [64:ff9b::7f00:1]"
    " [2002:7f00:1::] [2002:7f00:0001:0:0:0:0:1] [2001:0:7f00:1::f7f7:f7f7]"
    " [2001:0:808:808::80ff:fffe] [2001:4860::5efe:127.0.0.1] [2001:4860::200:5efe:7f00:1]"
    " [2002:808:808::5efe:7f00:1]",
    "unspecified": "0 00 0x0 0x 0.0.0.0 0.0.0.1 0.0 [::] [0::0] [::ffff:0.0.0.0]",
    "private": "10.0.0.1 10.1 012.0.0.1 0xa000001 167772161 172.16.0.1 172.31.255.254 192.168.0.1"
    " 192.168.257 3232235521 0300.0250.1.1 [fc00::1] [fd12:3456::1] [::ffff:10.0.0.1]"
    " [2002:a00:1::1] [64:ff9b::a00:1]",
    "shared": "100.64.0.1 100.127.255.254 [::ffff:100.64.0.1]",
    "link_local": "169.254.0.1 169.254.1 [fe80::1] [febf::1] [fe80::5efe:a00:1]",
    "metadata": "169.254.169.254 0xa9fea9fe 2852039166 0251.0376.0251.0376 169.254.43518"
    " ①⑥⑨.②⑤④.①⑥⑨.②⑤④ 169。254。169。254 169.254.169.254. [::ffff:169.254.169.254]"
    " [::ffff:a9fe:a9fe] [::169.254.169.254] [64:ff9b::a9fe:a9fe] [2002:a9fe:a9fe::]"
    " 168.63.129.16 192.0.0.192 100.100.100.200 169.254.170.2 169.254.170.23 169.254.42.42"
    " [fd00:ec2::254] [fd00:ec2::23] [fd20:ce::254] [fd00:c1::a9fe:a9fe] [fd00:42::42]"
    " [fd00:a9fe:a9fe::1] [fd00:100::100:200]",
    "multicast": "224.0.0.1 239.255.255.250 0xe0000001 [ff02::1] [ff0e::1]",
    "broadcast": "255.255.255.255 4294967295 0xffffffff [::ffff:255.255.255.255]",
    "reserved": "240.0.0.1 254.1 [4000::1] [::8.8.8.8] [::127.0.0.1]",
    "benchmark": "198.18.0.1 198.19.255.254",
    "documentation": "192.0.2.1 198.51.100.7 203.0.113.9 [2001:db8::1] [3fff::1]",
    "protocol": "192.0.0.1 [2001:1::1]",
    "relay": "192.88.99.1",
    "as112": "192.175.48.1",
    "site_local": "[fec0::1]",
    "discard": "[100::1]",
    "translation": "[64:ff9b:1::a00:1]",
    "segment_routing": "[5f00::1]",
}

# What the scripted resolver answers; the last column is what the gate has to name.
PUBLIC, OTHER_PUBLIC = "93.184.216.34", "2606:2800:220:1::1"
ANSWERS: dict[str, tuple[tuple[str, ...], str]] = {
    # The attacker's own names: an override speaks for port 80 of one of them, and no further.
    "evil.example": (("127.0.0.1",), "loopback"),
    "evil.example.": (("127.0.0.1",), "loopback"),
    "www.evil.example": (("127.0.0.1",), "loopback"),
    "localhost.localdomain": (("127.0.0.1",), "loopback"),
    "ip6-localhost": (("::1",), "loopback"),
    "ip6-loopback": (("::1",), "loopback"),
    "127.0.0.1.nip.example": (("127.0.0.1",), "loopback"),
    "loopback.evil.example": (("127.0.0.1",), "loopback"),
    "xn--bcher-kva.example": (("127.0.0.1",), "loopback"),
    "mapped.evil.example": (("::ffff:127.0.0.1",), "loopback"),
    "sixtofour.evil.example": (("2002:7f00:1::",), "loopback"),
    "zero.evil.example": (("0.0.0.0",), "unspecified"),
    "host.docker.internal": (("172.17.0.1",), "private"),
    "kubernetes.default.svc": (("10.96.0.1",), "private"),
    "router.lan": (("192.168.0.1",), "private"),
    "scoped.evil.example": (("fe80::1%1",), "link_local"),
    "metadata.google.internal": (("169.254.169.254",), "metadata"),
    "instance-data": (("169.254.169.254",), "metadata"),
    "metadata-v6.evil.example": (("fd00:ec2::254",), "metadata"),
    "mixed.evil.example": ((PUBLIC, "127.0.0.1"), "loopback"),
    "mixed-first.evil.example": (("127.0.0.1", PUBLIC), "loopback"),
    "mixed-families.evil.example": ((PUBLIC, OTHER_PUBLIC, "::1"), "loopback"),
    "mixed-many.evil.example": ((*["93.184.216.34"] * 9, "10.0.0.1"), "private"),
    "nonsense.evil.example": (("nonsense",), "invalid"),
}
# Other ways to write some of these names; `localhost` itself is asked of nobody (RFC 6761).
NAMES: dict[str, str] = {
    "loopback": "localhost LOCALHOST LocalHost localhost. ｌｏｃａｌｈｏｓｔ ⓛⓞⓒⓐⓛⓗⓞⓢⓣ"
    " loc\u00adalhost local\u200bhost %6c%6fcalhost a.localhost a.b.localhost."
    " LOOPBACK.EVIL.EXAMPLE bücher.example BÜCHER.example loopback。evil。example",
    "metadata": "METADATA.google.internal",
}

# Ways to hide where the host begins and ends.
TRICKS: tuple[str, ...] = (
    "http://public.example@127.0.0.1:{port}/s{n}",
    "http://public.example:80@127.0.0.1:{port}/s{n}",
    "http://user:secret@127.0.0.1:{port}/s{n}",
    "http://public.example@other.example@127.0.0.1:{port}/s{n}",
    "http://public.example%2f@127.0.0.1:{port}/s{n}",
    "http://public.example%23@127.0.0.1:{port}/s{n}",
    "http://:@127.0.0.1:{port}/s{n}",
    "http://127.0.0.1:{port}/s{n}#@public.example/",
    "http://127.0.0.1:{port}/s{n}?@public.example/",
    "http://127.0.0.1:{port}/s{n}/@public.example/",
    "http://127.0.0.1:{port}\\s{n}\\@public.example/",
    "http:\\\\127.0.0.1:{port}\\s{n}",
    "http:/\\127.0.0.1:{port}/s{n}",
    "http:///127.0.0.1:{port}/s{n}",
    "http://///127.0.0.1:{port}/s{n}",
    "http://127.0.0.1:000{port}/s{n}",
    "HTTP://127.0.0.1:{port}/s{n}",
    "HtTp://127.0.0.1:{port}/x/../s{n}",
    "https://127.0.0.1:{port}/s{n}",
    "  http://127.0.0.1:{port}/s{n}  ",
    "ht\ttp://127.0.\t0.1:{port}/s{n}",
    "http://127.0.\r\n0.1:{port}/s{n}",
    "\x01http://127.0.0.1:{port}/s{n}",
)
RELATIVE_TRICKS: tuple[str, ...] = (
    "//127.0.0.1:{port}/s{n}",
    "\\\\127.0.0.1:{port}\\s{n}",
    "/\\127.0.0.1:{port}/s{n}",
    "\t//127.0.0.1:{port}/s{n}",
    "http:////127.0.0.1:{port}/s{n}",
)
# Hosts that no URL can have: zones, numbers too large, escapes and ends in the wrong place.
NO_HOSTS = (
    "[fe80::1%25lo] [fe80::1%lo] [::1%1] [127.0.0.1] [::1 ::1 [::ffff:127.1] 127.0.0.256"
    " 256.256.256.256 4294967296 0x100000000 127.0.0.1.5 127.0.0.08 127.0.0.1%00 127.0.0.1%0a"
    " 127.0.0.1%2f 127.0.0.1%5c 127.0.0.1%40public.example 127.0.0.١ 127.0.0.1^ 127.0.0.1|x"
    " xn--127-.0.0.1"
).split()

SCHEMES: tuple[str, ...] = tuple(
    "file:///etc/passwd file://127.0.0.1/etc/passwd FILE:/etc/passwd ftp://127.0.0.1:{port}/"
    " ftps://127.0.0.1:{port}/ gopher://127.0.0.1:{port}/_GET%20/ dict://127.0.0.1:{port}/stats"
    " data:text/html,<p>hello javascript:alert(1) vbscript:msgbox(1) ldap://127.0.0.1:{port}/"
    " ldaps://127.0.0.1:{port}/ jar:http://127.0.0.1:{port}/a.jar!/b ws://127.0.0.1:{port}/"
    " wss://127.0.0.1:{port}/ ssh://127.0.0.1:{port}/ tftp://127.0.0.1:{port}/x"
    " sftp://127.0.0.1:{port}/ smb://127.0.0.1/share s3://bucket/key gs://bucket/key"
    " blob:http://127.0.0.1:{port}/6f9e about:blank chrome://settings/"
    " view-source:http://127.0.0.1:{port}/ netdoc:///etc/passwd"
    " php://filter/resource=http://127.0.0.1:{port}/ phar://a.phar expect://id zip://a.zip#b"
    " telnet://127.0.0.1:{port}/ mailto:a@127.0.0.1 tel:127001 imap://127.0.0.1:{port}/"
    " pop3://127.0.0.1:{port}/ smtp://127.0.0.1:{port}/ rtsp://127.0.0.1:{port}/"
    " git://127.0.0.1:{port}/ svn://127.0.0.1:{port}/ nfs://127.0.0.1/ redis://127.0.0.1:{port}/"
    " unix:/var/run/docker.sock http+unix://%2Fvar%2Frun%2Fdocker.sock/ feed:http://127.0.0.1/"
    " filesystem:http://127.0.0.1:{port}/ httpx://127.0.0.1:{port}/ h2c://127.0.0.1:{port}/"
    " urn:127.0.0.1 cid:127.0.0.1 ip://127.0.0.1:{port}/ intent://127.0.0.1:{port}/".split()
)

SPELLINGS: tuple[Spelling, ...] = (
    *(
        Spelling(f"http://{host}:{{port}}/s{{n}}", f"address.{rule}")
        for table in (HOSTS, NAMES)
        for rule, hosts in table.items()
        for host in hosts.split(" ")
    ),
    *(
        Spelling(f"http://{name}:{{port}}/s{{n}}", f"address.{rule}")
        for name, (_, rule) in ANSWERS.items()
    ),
    *(Spelling(trick, "address.loopback") for trick in TRICKS),
    *(Spelling(trick, "address.loopback", needs_base=True) for trick in RELATIVE_TRICKS),
    *(Spelling(f"http://{host}:{{port}}/s{{n}}", "") for host in NO_HOSTS),
    *(Spelling(scheme, "") for scheme in SCHEMES),
)
