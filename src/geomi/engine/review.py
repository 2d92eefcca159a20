"""What people decided about sites, as the gate asks for it (TRP-07)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from geomi.model.site import Review, SiteRule
from geomi.model.verdict import Verdict
from geomi.ports.site import Providers, SiteRules
from geomi.url.parse import parse as parse_url

TRAP_RULES = "trap."  # how the names of all detectors begin


class Reviews:
    """The decisions of one tenant, by host name."""

    __slots__ = ("_allowed", "_excluded")

    def __init__(self, rules: Sequence[SiteRule] = ()) -> None:
        self._allowed: dict[str, set[str]] = {}
        self._excluded: dict[str, SiteRule] = {}
        for rule in rules:
            if rule.review is Review.ALLOW:
                self._allowed.setdefault(rule.host, set()).add(rule.pattern)
            else:
                self._excluded[rule.host] = rule

    def allow(self, host: str, name: str) -> bool:
        """Tell whether a pattern, or the rule `trap.…`, was found to be no trap on a host."""
        allowed = self._allowed.get(host)
        return allowed is not None and ("" in allowed or name in allowed)

    def lift(self, host: str, verdict: Verdict) -> bool:
        """Tell whether a refusal is that of a detector which was overruled on a host."""
        return verdict.rule.startswith(TRAP_RULES) and self.allow(host, verdict.rule)

    def refusal(self, host: str) -> Verdict | None:
        """Refuse a host that somebody has excluded."""
        rule = self._excluded.get(host)
        if rule is None:
            return None
        detail = rule.note or "somebody has looked at this site and excluded it"
        return Verdict(False, "site.excluded", detail, rule.remedy or f"geomi traps reset {host}")


class Decided(Protocol):
    """What has both lists of decisions: a world, or the store behind one."""

    @property
    def providers(self) -> Providers:
        """The registered providers."""
        ...

    @property
    def sites(self) -> SiteRules:
        """The rules of sites."""
        ...


async def reviews(world: Decided) -> tuple[SiteRule, ...]:
    """Return what people decided about hosts; one whose provider forbids crawling is left alone."""
    forbidden = (
        SiteRule(
            url.host,
            "",
            Review.EXCLUDE,
            note=f"provider {provider.key} forbids crawling",
            remedy=f"geomi providers review {provider.key} --allows",
        )
        for provider in await world.providers.list()
        if provider.tos_allows_crawling is False
        for url in map(parse_url, provider.seed_urls)
        if url is not None
    )
    return (*await world.sites.list(), *forbidden)
