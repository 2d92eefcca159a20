"""Which regions serve a host, by the rules of its job (HTTP-17, FUT-20).

Rules kept:
- A rule for one host is stronger than one for a suffix, a longer suffix stronger than a shorter,
  and each stronger than what the whole job says.
- A host without any rule is served by every worker, of whichever region.
- The regions of a host together are its label. A worker serves all labels with its own region.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from geomi.errors import ConfigError
from geomi.model.config import Regions

ANYWHERE = "*"  # the label of hosts that every worker serves
UNLABELLED = "?"  # that of a queue in a store before the first claim finds it
MAX_RULES = 1000
MAX_REGIONS = 32  # of one rule
HINT = "such as regions.hosts = [`.kr=kr`, `shop.example.com=kr+jp`]"
_REGION = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?")
_HOST = re.compile(r"\.?[a-z0-9_-]+(?:\.[a-z0-9_-]+)*|\[[0-9a-f:.]+\]")


class RegionMap:
    """The regions of a job's hosts; `ConfigError` names a rule that cannot be read."""

    def __init__(self, rules: Regions) -> None:
        if len(rules.hosts) > MAX_RULES:
            raise ConfigError(
                f"regions.hosts has {len(rules.hosts):,} rules; the limit is {MAX_RULES:,}",
                hint="name suffixes in place of hosts",
            )
        self._others = _label("regions.job", rules.job) if rules.job else ANYWHERE
        self._by_host = dict(_read_rule(text) for text in rules.hosts)

    def label(self, authority: str) -> str:
        """Return the label of a host with its port."""
        host = (authority.rpartition(":")[0] or authority).rstrip(".")
        if (named := self._by_host.get(host)) is not None:
            return named
        dot = host.find(".")
        while dot >= 0:
            if (named := self._by_host.get(host[dot:])) is not None:
                return named
            dot = host.find(".", dot + 1)
        return self._others

    def served_by(self, region: str) -> tuple[str, ...]:
        """Return the labels that a worker of a region serves; empty is none."""
        labels = dict.fromkeys([self._others, *self._by_host.values(), ANYWHERE])
        return tuple(one for one in labels if one == ANYWHERE or region in regions_of(one))


def regions_of(label: str) -> tuple[str, ...]:
    """Return the regions that a label names; none where every worker serves it."""
    return () if label == ANYWHERE else tuple(label.split("+"))


def check_region(region: str) -> None:
    """Refuse a name that is none of a region; empty is no region."""
    if region and not _REGION.fullmatch(region):
        raise ConfigError(
            f"`{region[:80]}` is no name of a region",
            hint="small letters, digits and hyphens, at most 32, such as `kr` or `eu-west`",
        )


def _read_rule(text: str) -> tuple[str, str]:
    host, equals, regions = text.strip().lower().partition("=")
    host = host.strip()
    if not equals or len(host) > 254 or not _HOST.fullmatch(host):
        raise ConfigError(f"regions.hosts: `{text[:80]}` is not HOST=REGION", hint=HINT)
    return host, _label(f"regions.hosts: `{text[:80]}`", regions.split("+"))


def _label(where: str, regions: Iterable[str]) -> str:
    names = sorted({one.strip() for one in regions})
    wrong = [one for one in names if not _REGION.fullmatch(one)]
    if wrong or len(names) > MAX_REGIONS:
        problem = f"`{wrong[0][:80]}` is no name of a region" if wrong else "there are too many"
        raise ConfigError(f"{where}: {problem}", hint=HINT)
    return "+".join(names)
