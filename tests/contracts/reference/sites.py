"""What is left alone: URLs that refused us, listed domains, and what people decided of hosts."""

from __future__ import annotations

import builtins
from dataclasses import replace

from geomi.model.site import DomainList, Refusal, SiteRule
from tests.contracts.reference.world import World


class MemoryRefusals:
    """`ports.sites.Refusals` of one tenant."""

    def __init__(self, world: World, tenant: str) -> None:
        self._world = world
        self._tenant = tenant

    async def find(self, url_hash: bytes, *, wall_s: float) -> Refusal | None:
        """Find a refusal that still holds."""
        found = self._world.refusals.get((self._tenant, url_hash))
        if found is None or (found.until_s is not None and found.until_s <= wall_s):
            return None
        return found

    async def list(self, *, after: bytes, limit: int) -> builtins.list[Refusal]:
        """List refusals in the order of their hashes, also those that are over."""
        rows = sorted(self._world.refusals.items(), key=lambda row: row[0])
        own = (one for (tenant, _), one in rows if tenant == self._tenant)
        return [one for one in own if one.url_hash > after][:limit]

    async def put(self, refusal: Refusal) -> None:
        """Keep a refusal in place of the one before."""
        self._world.refusals[self._tenant, refusal.url_hash] = refusal

    async def remove(self, url_hash: bytes) -> bool:
        """Forget a refusal; False when there was none."""
        return self._world.refusals.pop((self._tenant, url_hash), None) is not None


class MemoryDomainLists:
    """`ports.sites.DomainLists`."""

    def __init__(self, world: World) -> None:
        self._lists = world.domain_lists

    async def list(self) -> builtins.list[DomainList]:
        """List them by name."""
        return [one for _, (one, _) in sorted(self._lists.items())]

    async def body(self, name: str) -> bytes | None:
        """Return the body of a list."""
        return self._lists[name][1] if name in self._lists else None

    async def put(self, one: DomainList, body: bytes) -> None:
        """Keep a list in place of the one before under its name."""
        self._lists[one.name] = (one, body)

    async def update(self, one: DomainList, body: bytes | None) -> None:
        """Keep what a refresh brought."""
        if one.name in self._lists and self._lists[one.name][0].source == one.source:
            was, was_body = self._lists[one.name]
            kept = replace(one, tried_s=was.tried_s)
            self._lists[one.name] = (kept, was_body if body is None else body)

    async def take(self, one: DomainList, *, now_s: float) -> bool:
        """Take the turn to refresh a list."""
        was, body = self._lists.get(one.name, (None, b""))
        if was is None or was.tried_s != one.tried_s:
            return False
        self._lists[one.name] = (replace(was, tried_s=now_s), body)
        return True

    async def remove(self, name: str) -> bool:
        """Forget a list; False when there was none."""
        return self._lists.pop(name, None) is not None


class MemorySiteRules:
    """`ports.sites.SiteRules` of one tenant."""

    def __init__(self, world: World, tenant: str) -> None:
        self._world = world
        self._tenant = tenant

    async def list(self) -> builtins.list[SiteRule]:
        """List all decisions, by host and pattern."""
        rows = sorted(self._world.site_rules.items(), key=lambda row: row[0])
        return [rule for (tenant, _, _), rule in rows if tenant == self._tenant]

    async def put(self, rule: SiteRule) -> None:
        """Keep a decision in place of the one before on the same host and pattern."""
        self._world.site_rules[self._tenant, rule.host, rule.pattern] = rule

    async def remove(self, host: str, pattern: str) -> bool:
        """Forget a decision; False when there was none."""
        return self._world.site_rules.pop((self._tenant, host, pattern), None) is not None
