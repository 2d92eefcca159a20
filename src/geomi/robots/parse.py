"""Bytes of a robots.txt to groups, crawl delays and sitemaps (RFC 9309 §2.1 and §2.2).

Rules kept:
- Any bytes give a `RobotsFile`; nothing raises.
- Lines end in CR, LF or CRLF; `#` starts a comment; keys ignore letter case. A missing colon and
  the usual misspellings of `Disallow` are read as they were meant.
- User-agent lines in a row head one group, and only an Allow or Disallow line ends that row: blank
  lines, unknown keys and sitemaps do not (RFC 9309 §2.2, C-08).
- A file over the limit is cut at the end of a line, what was read is obeyed (RFC 9309 §2.5, C-11).
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

MAX_BYTES = 524_288  # RFC 9309 §2.5 asks for at least 500 KiB
MAX_SITEMAPS = 1000  # more than any honest file names; an index file can name 50,000
MAX_SITEMAP_CHARS = 2048  # the limit of sitemaps.org for a location

ANYONE = "*"


@dataclass(frozen=True, slots=True)
class Rule:
    """One Allow or Disallow line, its pattern as the site wrote it."""

    allows: bool
    pattern: str
    line: int


@dataclass(frozen=True, slots=True)
class Group:
    """Rules and the agents they are for, in lower case; `*` stands for everyone else."""

    agents: tuple[str, ...]
    rules: tuple[Rule, ...]


@dataclass(frozen=True, slots=True)
class CrawlDelay:
    """What one agent is asked to wait; not part of RFC 9309, honoured as a lower bound (C-05)."""

    agent: str
    seconds: float
    line: int


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class RobotsFile:
    """A parsed robots.txt; compared by identity, so that what is made of it can be remembered."""

    groups: tuple[Group, ...] = ()
    delays: tuple[CrawlDelay, ...] = ()
    sitemaps: tuple[str, ...] = ()
    was_cut: bool = False


def parse(body: bytes, *, charset: str = "", max_bytes: int = MAX_BYTES) -> RobotsFile:
    """Parse a robots.txt, whatever it contains.

    Args:
        charset: the one its Content-Type names, if any; else UTF-8 (ROB-11).
    """
    kept = _cut(body, max_bytes)
    reader = _Reader()
    for number, key, value in _records(_decode(kept, charset)):
        reader.read(number, key, value)
    return RobotsFile(
        groups=reader.finish(),
        delays=tuple(reader.delays),
        sitemaps=tuple(reader.sitemaps),
        was_cut=len(kept) < len(body),
    )


_LINE_END = re.compile(r"\r\n|\r|\n")
_STRAY_OCTET = re.compile("[\udc80-\udcff]")
# ROB-21: a value with one of these is no path; the rule is dropped, its group goes on.
_NO_PATTERN = re.compile(r"[\s\\\x00-\x1f\x7f]")
_DELAY = re.compile(r"\d{1,9}(\.\d{0,9})?|\.\d{1,9}", re.ASCII)

_USER_AGENT, _ALLOW, _DISALLOW, _DELAYS, _SITEMAP = range(5)
_KEYS = {
    "user-agent": _USER_AGENT,
    "useragent": _USER_AGENT,
    "user agent": _USER_AGENT,
    "allow": _ALLOW,
    "disallow": _DISALLOW,
    "dissallow": _DISALLOW,
    "dissalow": _DISALLOW,
    "disalow": _DISALLOW,
    "diasllow": _DISALLOW,
    "disallaw": _DISALLOW,
    "crawl-delay": _DELAYS,
    "crawldelay": _DELAYS,
    "crawl delay": _DELAYS,
    "sitemap": _SITEMAP,
    "site-map": _SITEMAP,
}

# A closed list: the label comes from outside, and some of Python's codecs take quadratic time.
_CODECS = {
    "iso-8859-1": "cp1252",
    "windows-1252": "cp1252",
    "windows-1251": "cp1251",
    "koi8-r": "koi8-r",
    "euc-kr": "cp949",
    "ks-c-5601-1987": "cp949",
    "shift-jis": "cp932",
    "euc-jp": "euc_jp",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "gb18030": "gb18030",
    "big5": "big5",
}


@dataclass(slots=True)
class _Reader:
    """The state between two lines."""

    groups: list[Group] = field(default_factory=list)
    delays: list[CrawlDelay] = field(default_factory=list)
    sitemaps: list[str] = field(default_factory=list)
    _agents: list[str] = field(default_factory=list)
    _rules: list[Rule] = field(default_factory=list)
    _has_rules: bool = False  # an Allow or Disallow was met, even one without a value
    # Agents named since the last other line of a group: a delay is theirs alone, so that the delay
    # of one agent does not pass to the next where no rule stands between them.
    _addressed: list[str] = field(default_factory=list)
    _is_naming: bool = False

    def read(self, number: int, key: int, value: str) -> None:
        if key == _SITEMAP:
            self._add_sitemap(value)
        elif key == _USER_AGENT:
            self._name(value)
        elif self._agents:
            self._is_naming = False
            if key == _DELAYS:
                self._add_delay(number, value)
            else:
                self._add_rule(number, value, allows=key == _ALLOW)

    def finish(self) -> tuple[Group, ...]:
        self._close()
        return tuple(self.groups)

    def _close(self) -> None:
        if self._agents:
            self.groups.append(Group(tuple(self._agents), tuple(self._rules)))
        self._agents, self._rules, self._has_rules = [], [], False

    def _name(self, value: str) -> None:
        if self._has_rules:
            self._close()
        if not self._is_naming:
            self._addressed = []
            self._is_naming = True
        agent = _agent(value)
        if agent:
            self._agents.append(agent)
            self._addressed.append(agent)

    def _add_rule(self, number: int, value: str, *, allows: bool) -> None:
        self._has_rules = True
        if value and not _NO_PATTERN.search(value):  # ROB-19: an empty value is no rule
            self._rules.append(Rule(allows, value, number))

    def _add_delay(self, number: int, value: str) -> None:
        if _DELAY.fullmatch(value):
            seconds = float(value)
            self.delays.extend(CrawlDelay(agent, seconds, number) for agent in self._addressed)
            self._addressed = []  # one delay each, or many agents times many delays fill the memory

    def _add_sitemap(self, value: str) -> None:
        if value and len(value) <= MAX_SITEMAP_CHARS and len(self.sitemaps) < MAX_SITEMAPS:
            self.sitemaps.append(value)


def _cut(body: bytes, max_bytes: int) -> bytes:
    if len(body) <= max_bytes:
        return body
    kept = body[:max_bytes]
    return kept[: max(kept.rfind(b"\n"), kept.rfind(b"\r")) + 1]


def _decode(body: bytes, charset: str) -> str:
    """Decode by BOM, then by the named charset, then as UTF-8 (ROB-11)."""
    if body.startswith(codecs.BOM_UTF8):
        body = body.removeprefix(codecs.BOM_UTF8)
    elif body.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return body.decode("utf-16", "replace")
    elif codec := _CODECS.get(charset.strip(" \"'").lower().replace("_", "-")):
        return body.decode(codec, "replace")
    try:
        return body.decode()
    except UnicodeDecodeError:
        # Octets of some other charset stay octets: `/caf\xe9` still meets the URL `/caf%E9`.
        text = body.decode("utf-8", "surrogateescape")
        return _STRAY_OCTET.sub(lambda found: f"%{ord(found.group()) - 0xDC00:02X}", text)


def _records(text: str) -> Iterator[tuple[int, int, str]]:
    for number, line in enumerate(_LINE_END.split(text), 1):
        content = line.partition("#")[0].strip()
        name, colon, value = content.partition(":")
        if not colon:
            words = content.split()
            if len(words) != 2:
                continue
            name, value = words
        key = _KEYS.get(name.strip().lower())
        if key is not None:
            yield number, key, value.strip()


def _agent(value: str) -> str:
    """Return the product token of a User-agent line: `Geomi/1.0 (x)` is `geomi`."""
    words = value.split(maxsplit=1)
    return words[0].partition("/")[0].lower() if words else ""
