"""An attack on a crawl: the attacker's site, what it writes, and what must have come of it.

The attacker's names are led to a site on loopback by `--resolve`, which speaks for these names and
this port only; the guard stays on for everything else.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from geomi.model.entry import UrlEntry
from geomi.model.verdict import Outcome
from geomi.settings.options import Settings
from tests.security.network import Wire
from tests.security.spellings import SPELLINGS, Spelling
from tests.support.crawl import Crawled, crawl_site
from tests.support.server import Route, Site

EVIL = "evil.example"
# Whatever could keep a URL away before the gate does is off: other rules, second tries, and
# the limit of hosts that share an address.
ALONE = (
    "scope.avoid_traps=false",
    "scope.block_defaults=false",
    "http.max_retries=0",
    "politeness.per_ip=100",
)
NUMBER = re.compile(r"/s(\d+)")
Numbered = tuple[int, Spelling]


@dataclass(frozen=True)
class Ground:
    """Where an attack takes place; `sites` are the canary."""

    root: Path
    sites: tuple[Site, ...]
    wire: Wire

    @property
    def port(self) -> int:
        """The canary's."""
        return self.sites[0].port

    def text(self, numbered: Numbered) -> str:
        """Return a spelling as it is written somewhere."""
        n, spelling = numbered
        return spelling.text(n, self.port)

    def crawl(
        self,
        routes: Mapping[str, Route],
        *seeds: str,
        hosts: Sequence[str] = (EVIL,),
        assignments: Sequence[str] = (),
        **options: Any,
    ) -> Crawled:
        """Crawl the attacker's hosts with the guard on; nothing else may have been dialled."""
        with self.evil(routes, hosts) as overrides:
            return crawl_site(
                self.root,
                *seeds,
                settings=Settings(contact="https://crawler.test/about", resolve=overrides),
                assignments=[*ALONE, *assignments],
                **options,
            )

    @contextmanager
    def evil(
        self, routes: Mapping[str, Route], hosts: Sequence[str] = (EVIL,)
    ) -> Iterator[tuple[str, ...]]:
        """Serve the attacker's hosts; give the overrides that lead there."""
        with Site(routes) as site:
            yield tuple(f"{host}:80:{site.address}:{site.port}" for host in hosts)
        self.assert_untouched(allowed={(site.address, site.port)})

    def assert_untouched(self, allowed: Iterable[tuple[str, int]] = ()) -> None:
        """Nobody came to the canary, and nobody set out for another place."""
        assert set(self.wire.dialled) <= set(allowed)
        assert [site.connections for site in self.sites] == [0] * len(self.sites)

    def assert_refused(
        self, entries: Iterable[UrlEntry], tried: Sequence[Numbered], base: str | None = None
    ) -> None:
        """Each URL that could be read has an entry refused by the right rule; no other has one."""
        found = {int(match[1]): entry for entry in entries if (match := NUMBER.search(entry.url))}
        expected = {n: one.rule for n, one in tried if one.url(n, self.port, base) is not None}
        refused = {n: _rule(entry) for n, entry in found.items()}
        wrong = refused.items() ^ expected.items()
        assert not wrong, sorted((SPELLINGS[n].written, rule) for n, rule in wrong)


def numbered(spellings: Iterable[Spelling] = SPELLINGS) -> list[Numbered]:
    """Give each spelling the number that stands in its path."""
    return list(enumerate(spellings))


def in_one_line(tried: Iterable[Numbered]) -> list[Numbered]:
    """Leave out what cannot stand in a header or in a line of robots.txt."""
    return [(n, one) for n, one in tried if not set("\r\n\x01") & set(one.written)]


def _rule(entry: UrlEntry) -> str:
    """Return the range for which an entry was refused, or how else it ended."""
    if entry.outcome is not Outcome.ADDRESS_REFUSED:
        return f"{entry.outcome}: {entry.detail}"
    match = re.search(r"\((address\.\w+):", entry.detail)
    return match[1] if match else entry.detail
