"""Read a list of domains that somebody publishes because nobody should visit them (SCP-07).

A line is one of these; comments begin with `#` or `!`:

    0.0.0.0 ads.test tracker.test   a hosts file that leads names nowhere
    bad.test                        a name, also as `*.bad.test` or `.bad.test`
    203.0.113.7                     an address, for URLs that name it
    ||bad.test^                     a filter of a whole domain, with `$all`, `$doc` and the like
    @@||good.test^                  a filter that takes a name off the list

Rules kept:
- A name stands for itself and for every name below it.
- A name below which others register theirs (`com`, `github.io`) is passed over: it would keep out
  all of them. So are the names of this machine, private addresses, and filters of parts of a page.
- A text most of whose lines are none of these is no list of domains: a page with an error is not
  put in the place of a list.
"""

from __future__ import annotations

import re
import zlib
from ipaddress import AddressValueError, IPv4Address

from geomi.errors import ConfigError
from geomi.url.host import domain_name, is_public_suffix

MAX_LIST_BYTES = 32 * 1024 * 1024  # a million names take 20 MB
MAX_DOMAINS = 1_000_000
MAX_LINE_CHARS = 2000  # of a filter; a longer line is passed over
LIST_FORMS = "lines are `0.0.0.0 bad.test`, `bad.test` or `||bad.test^`"

_NOWHERE = frozenset(("0.0.0.0", "127.0.0.1", "::", "::1"))
_THIS_MACHINE = frozenset(("localhost.localdomain", "localhost6.localdomain6"))
_PLAIN = re.compile(
    r"(?=.{1,253}\Z)(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]"
)
_FILTER = re.compile(r"(?P<off>@@)?\|\|(?P<name>[^/^$*|]+)\^(?:\$(?P<options>[a-z,]+))?")
# Options of a filter that leave it one of the whole domain.
_WHOLE = frozenset(("all", "doc", "document", "important"))


def read_domains(text: bytes, source: str) -> frozenset[str]:
    """Return the names of a list; `ConfigError` tells why a text is none.

    Args:
        source: how errors call it.
    """
    if len(text) > MAX_LIST_BYTES:
        raise ConfigError(f"`{source}` has more than {MAX_LIST_BYTES >> 20} MiB")
    on: set[str] = set()
    off: set[str] = set()
    lines = strange = 0
    for raw in text.decode("utf-8", "replace").splitlines():
        line = raw.partition("#")[0].strip()
        if not line or line[0] in "!#[":
            continue
        lines += 1
        is_off, words = _words(line) if len(line) <= MAX_LINE_CHARS else (False, [])
        names = [name for name in map(_name, words) if name is not None]
        strange += not names
        (off if is_off else on).update(filter(None, names))
        if len(on) > MAX_DOMAINS:
            raise ConfigError(f"`{source}` has more than {MAX_DOMAINS:,} domains")
    if strange * 2 > lines:
        raise ConfigError(
            f"`{source}` is no list of domains: {strange:,} of its {lines:,} lines are none",
            hint=LIST_FORMS,
        )
    if not on - off:
        raise ConfigError(f"`{source}` names no domain", hint=LIST_FORMS)
    return frozenset(on - off)


def pack(names: frozenset[str]) -> bytes:
    """Return the names in the form in which a store keeps them."""
    return zlib.compress("\n".join(sorted(names)).encode(), level=6)


def unpack(body: bytes) -> list[str]:
    """Return the names of a packed list."""
    return zlib.decompress(body).decode().split("\n")


def _words(line: str) -> tuple[bool, list[str]]:
    """Return whether a line takes names off the list, and what may be its names.

    A filter of parts of a page is well formed, and names nothing for us.
    """
    first, *others = line.split()
    if others:
        return False, others if first in _NOWHERE else []
    if "|" not in line and "$" not in line:
        return False, [line.removeprefix("*").lstrip(".")]
    found = _FILTER.fullmatch(line)
    if found is None:
        return False, [""] if line.startswith(("|", "@@")) else []
    options = set(found["options"].split(",")) if found["options"] else set()
    is_off = found["off"] is not None
    return is_off, [found["name"] if options <= _WHOLE or is_off else ""]


def _name(word: str) -> str | None:
    """Return a host name as URLs have it; empty for one that is not kept, None for no name."""
    name = word.lower().removesuffix(".")
    if not name:
        return ""
    if not _PLAIN.fullmatch(name):
        if name in _NOWHERE or name.replace(".", "").isdigit():
            return _address(name)
        name = domain_name(name) or ""
        if not name:
            return None
    return "" if is_public_suffix(name) or name in _THIS_MACHINE else name


def _address(text: str) -> str:
    try:
        address = IPv4Address(text)
    except AddressValueError:
        return ""
    return str(address) if address.is_global else ""
