"""Parse the bytes of a robots.txt into groups, delays, sitemaps, signals (RFC 9309 §2.1 and §2.2).

Rules kept:
- Any bytes give a `RobotsFile`; nothing raises, whatever label of a charset a server made up.
- A byte-order mark decides the charset; else the Content-Type header; else it is UTF-8 (ROB-11). A
  file that is not UTF-8 after all keeps its octets: a raw octet E9 still meets `%E9` in a URL
  (RFC 9309 §2.2.2 lets us bridge such a mismatch).
- Lines end in CR, LF or CRLF; `#` starts a comment; keys ignore letter case. A missing colon and
  the usual misspellings of `Disallow` are read as they were meant.
- User-agent lines in a row head one group, and only an Allow or Disallow line ends that row: blank
  lines, unknown keys and sitemaps do not (RFC 9309 §2.2). A job may read groups as seed 001 §6
  does: each ends at a blank line and at the next User-agent line (C-08).
- A line about the use of content is for the agents named right above it, or for everyone if there
  are none. It ends no group: rules hold as if the line were absent.
- A file over a limit is cut at the end of a line (RFC 9309 §2.5); `was_cut` says so, and the
  policy decides what follows from it (C-11).
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from geomi.model.config import RobotsRules
from geomi.robots.signals import Said, read_usage

MAX_SITEMAPS = 1000  # more than any honest file names; an index file can name 50,000
MAX_SITEMAP_CHARS = 2048  # the limit of sitemaps.org for a location
MAX_USAGES = 200  # lines about the use of content; honest files have one a group
# What a line is.
USER_AGENT, ALLOW, DISALLOW, DELAYS, SITEMAP, SIGNAL, USAGE, LICENSE, BLANK, NOTHING = range(10)
# ROB-21: a value with one of these is no path; the rule is dropped, its group goes on.
NO_PATTERN = re.compile(r"[\s\\\x00-\x1f\x7f]")
DELAY = re.compile(r"\d{1,9}(\.\d{0,9})?|\.\d{1,9}", re.ASCII)
ANYONE = "*"
RFC_9309 = RobotsRules()
_LINE_END = re.compile(r"\r\n|\r|\n")
_KEYS = {
    "user-agent": USER_AGENT,
    "useragent": USER_AGENT,
    "user agent": USER_AGENT,
    "allow": ALLOW,
    "disallow": DISALLOW,
    "dissallow": DISALLOW,
    "dissalow": DISALLOW,
    "disalow": DISALLOW,
    "diasllow": DISALLOW,
    "disallaw": DISALLOW,
    "crawl-delay": DELAYS,
    "crawldelay": DELAYS,
    "crawl delay": DELAYS,
    "sitemap": SITEMAP,
    "site-map": SITEMAP,
    "content-signal": SIGNAL,
    "content-signals": SIGNAL,
    "content-usage": USAGE,
    "license": LICENSE,
}
_MARKS = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_STRAY_OCTET = re.compile("[\udc80-\udcff]")
# A closed list: the label comes from outside, and some of Python's codecs take quadratic time.
_CODECS = {
    "iso-8859-1": "cp1252",
    "latin1": "cp1252",
    "windows-1252": "cp1252",
    "iso-8859-2": "iso8859-2",
    "windows-1250": "cp1250",
    "windows-1251": "cp1251",
    "koi8-r": "koi8-r",
    "euc-kr": "cp949",
    "ks-c-5601-1987": "cp949",
    "cp949": "cp949",
    "shift-jis": "cp932",
    "euc-jp": "euc_jp",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "gb18030": "gb18030",
    "big5": "big5",
    "utf-16": "utf-16-le",
    "utf-16le": "utf-16-le",
    "utf-16be": "utf-16-be",
}


@dataclass(frozen=True, slots=True)
class PathRule:
    """One Allow or Disallow line, its pattern as the site wrote it."""

    allows: bool
    pattern: str
    line: int


@dataclass(frozen=True, slots=True)
class RobotsGroup:
    """Rules and the agents they are for, in lower case; `*` stands for everyone else."""

    agents: tuple[str, ...]
    rules: tuple[PathRule, ...]


@dataclass(frozen=True, slots=True)
class CrawlDelay:
    """What one agent is asked to wait; not part of RFC 9309, honoured as a lower bound (C-05)."""

    agent: str
    seconds: float
    line: int


@dataclass(frozen=True, slots=True)
class ContentUsage:
    """What one line says about the use of content.

    Args:
        agents: whom it is for, in lower case; nobody named is everyone.
        path: a pattern of the URLs it speaks of; empty for all.
    """

    agents: tuple[str, ...]
    path: str
    said: Said


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class RobotsFile:
    """A parsed robots.txt; compared by identity, so that what is made of it can be remembered.

    Args:
        dialect: the rules it was read by, and is to be matched by.
        was_cut: whether it was longer, or had more rules, than the dialect reads.
        license: where the terms of all content are (RSL 1.0); empty if it does not say.
    """

    groups: tuple[RobotsGroup, ...] = ()
    delays: tuple[CrawlDelay, ...] = ()
    sitemaps: tuple[str, ...] = ()
    was_cut: bool = False
    dialect: RobotsRules = RFC_9309
    usages: tuple[ContentUsage, ...] = ()
    license: str = ""


def parse(body: bytes, dialect: RobotsRules = RFC_9309) -> RobotsFile:
    """Parse a robots.txt, whatever it contains."""
    kept = cut(body, dialect.max_bytes)
    reader = _Reader(dialect)
    for number, key, _, value, _ in records(kept):
        if key != NOTHING:
            reader.read(number, key, value)
    return RobotsFile(
        groups=reader.finish(),
        delays=tuple(reader.delays),
        sitemaps=tuple(reader.sitemaps),
        was_cut=len(kept) < len(body) or reader.is_full,
        dialect=dialect,
        usages=tuple(reader.usages),
        license=reader.license,
    )


def cut(body: bytes, max_bytes: int) -> bytes:
    """Return what is read of a file: whole lines up to a limit."""
    if len(body) <= max_bytes:
        return body
    kept = body[:max_bytes]
    return kept[: max(kept.rfind(b"\n"), kept.rfind(b"\r")) + 1]


class Record(NamedTuple):
    """One line that is no comment, as it was read.

    Args:
        key: what it is, `NOTHING` where that cannot be told.
        name: the key as the site wrote it, or the line where it is nothing.
    """

    line: int
    key: int
    name: str = ""
    value: str = ""
    has_colon: bool = True


def records(body: bytes) -> Iterator[Record]:
    """Split a file into its lines, and say of each what it is."""
    for number, line in enumerate(_LINE_END.split(decode(body)), 1):
        content = line.partition("#")[0].strip()
        if not content:
            if "#" not in line:  # a comment alone is no blank line
                yield Record(number, BLANK)
            continue
        name, colon, value = content.partition(":")
        if not colon:
            words = content.split()
            name, value = words if len(words) == 2 else ("", "")
        key = _KEYS.get(name.strip().lower(), NOTHING)
        if key == NOTHING:
            yield Record(number, NOTHING, content)
        else:
            yield Record(number, key, name.strip(), value.strip(), bool(colon))


def token_in(identification: str) -> str:
    """Return the product token of an agent that names itself, alone or in a whole header.

    `Geomi/1.0 (x)` is `geomi`, `Mozilla/5.0 (compatible; ExampleBot/0.1; …)` is `examplebot` (RFC
    9309 §2.2.1).
    """
    before, marker, after = identification.partition("compatible;")
    words = (after if marker else before).split(maxsplit=1)
    return words[0].partition("/")[0].rstrip(";,)").lower() if words else ""


@dataclass(slots=True)
class _Reader:
    """The state between two lines."""

    dialect: RobotsRules
    groups: list[RobotsGroup] = field(default_factory=list)
    delays: list[CrawlDelay] = field(default_factory=list)
    sitemaps: list[str] = field(default_factory=list)
    usages: list[ContentUsage] = field(default_factory=list)
    license: str = ""
    is_full: bool = False  # there were more rules than the dialect reads
    _agents: list[str] = field(default_factory=list)
    _rules: list[PathRule] = field(default_factory=list)
    _has_rules: bool = False  # an Allow or Disallow was met, even one without a value
    _count: int = 0  # rules of all groups
    # Agents named since the last other line of a group: a delay is theirs alone, so that the delay
    # of one agent does not pass to the next where no rule stands between them.
    _addressed: list[str] = field(default_factory=list)
    _is_naming: bool = False
    # The same for lines about use, kept apart: one of those changes no delay.
    _hearers: list[str] = field(default_factory=list)
    _heard_by: tuple[str, ...] = ()  # `_hearers` as their first line found them
    _is_heading: bool = False

    def read(self, number: int, key: int, value: str) -> None:
        if key == BLANK:
            if self.dialect.blank_line_ends_group:
                self._close()
        elif key == SITEMAP:
            self._add_sitemap(value)
        elif key == LICENSE:
            if not self.license and len(value) <= MAX_SITEMAP_CHARS:
                self.license = value
        elif key in (SIGNAL, USAGE):
            self._add_usage(value)
        elif key == USER_AGENT:
            self._name(value)
        elif self._agents:
            self._is_naming = self._is_heading = False
            if key == DELAYS:
                self._add_delay(number, value)
            else:
                self._add_rule(number, value, allows=key == ALLOW)

    def finish(self) -> tuple[RobotsGroup, ...]:
        self._close()
        return tuple(self.groups)

    def _close(self) -> None:
        if self._agents:
            self.groups.append(RobotsGroup(tuple(self._agents), tuple(self._rules)))
        self._agents, self._rules, self._has_rules = [], [], False
        self._is_naming = self._is_heading = False
        self._hearers, self._heard_by = [], ()

    def _name(self, value: str) -> None:
        if self._has_rules or self.dialect.blank_line_ends_group:
            self._close()
        if not self._is_naming:
            self._addressed = []
            self._is_naming = True
        if not self._is_heading:
            self._hearers, self._heard_by = [], ()
            self._is_heading = True
        agent = _agent(value)
        if agent:
            for agents in (self._agents, self._addressed, self._hearers):
                agents.append(agent)

    def _add_rule(self, number: int, value: str, *, allows: bool) -> None:
        self._has_rules = True
        if not value or NO_PATTERN.search(value):  # ROB-19: an empty value is no rule
            return
        self.is_full = 0 < self.dialect.max_rules <= self._count
        if not self.is_full:
            self._count += 1
            self._rules.append(PathRule(allows, value, number))

    def _add_delay(self, number: int, value: str) -> None:
        if DELAY.fullmatch(value):
            seconds = float(value)
            self.delays.extend(CrawlDelay(agent, seconds, number) for agent in self._addressed)
            self._addressed = []  # one delay each, or many agents times many delays fill the memory

    def _add_usage(self, value: str) -> None:
        self._is_heading = False
        path, said = read_usage(value)
        if said and len(self.usages) < MAX_USAGES:
            # One tuple for all lines of a row, or many agents times many lines fill the memory.
            self._heard_by = self._heard_by or tuple(self._hearers)
            self.usages.append(ContentUsage(self._heard_by, path, said))

    def _add_sitemap(self, value: str) -> None:
        if not self.dialect.collect_sitemaps:  # C-14
            return
        if value and len(value) <= MAX_SITEMAP_CHARS and len(self.sitemaps) < MAX_SITEMAPS:
            self.sitemaps.append(value)


def _agent(value: str) -> str:
    """Return the product token of a User-agent line: `Geomi/1.0 (x)` is `geomi`."""
    words = value.split(maxsplit=1)
    return words[0].partition("/")[0].lower() if words else ""


def as_utf8(body: bytes, content_type: str) -> bytes:
    """Rewrite a body in UTF-8 where its header names another charset, so that copies have one."""
    codec = _CODECS.get(_charset(content_type))
    if codec is None or body.startswith(_MARKS):
        return body
    return body.decode(codec, "replace").encode("utf-8", "replace")


def decode(body: bytes) -> str:
    """Read a body by its byte-order mark, or else as UTF-8."""
    if body.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return body.decode("utf-16", "replace")
    body = body.removeprefix(codecs.BOM_UTF8)
    try:
        return body.decode()
    except UnicodeDecodeError:
        text = body.decode("utf-8", "surrogateescape")
        return _STRAY_OCTET.sub(lambda found: f"%{ord(found.group()) - 0xDC00:02X}", text)


def _charset(content_type: str) -> str:
    for parameter in content_type.split(";")[1:]:
        name, _, value = parameter.partition("=")
        if name.strip().lower() == "charset":
            return value.strip(" \t\"'").lower().replace("_", "-")
    return ""
