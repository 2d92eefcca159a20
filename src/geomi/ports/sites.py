"""The parts of the store about sites: blocked URLs and domains, decisions, providers, ranks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from geomi.model.site import DomainList, Provider, Refusal, SiteRule, Takedown


class Refusals(Protocol):
    """The URLs of one tenant that are left alone (`blocked_urls`); `settle` adds to them."""

    async def find(self, url_hash: bytes, *, wall_s: float) -> Refusal | None:
        """Find a refusal that still holds."""
        ...

    async def list(self, *, after: bytes, limit: int) -> list[Refusal]:
        """List blocked URLs in the order of their hashes, ended ones included."""
        ...

    async def put(self, refusal: Refusal) -> None:
        """Keep a refusal in place of the one before."""
        ...

    async def remove(self, url_hash: bytes) -> bool:
        """Forget a refusal; False when there was none."""
        ...


class DomainLists(Protocol):
    """The subscribed lists of domains that no crawl visits; the same for every tenant.

    The body of a list is what it names, packed by `admit/domain_list.py`.
    """

    async def list(self) -> list[DomainList]:
        """List them by name."""
        ...

    async def body(self, name: str) -> bytes | None:
        """Return the body of a list."""
        ...

    async def put(self, one: DomainList, body: bytes) -> None:
        """Keep a list in place of the one before under its name."""
        ...

    async def update(self, one: DomainList, body: bytes | None) -> None:
        """Keep what a refresh brought, unless the list is gone or has another source now.

        Args:
            body: None leaves it as it is.
        """
        ...

    async def take(self, one: DomainList, *, now_s: float) -> bool:
        """Take the turn to refresh a list; False if another process was faster."""
        ...

    async def remove(self, name: str) -> bool:
        """Forget a list; False when there was none."""
        ...


class SiteRules(Protocol):
    """What the people of one tenant decided about hosts (TRP-07)."""

    async def list(self) -> list[SiteRule]:
        """List all decisions."""
        ...

    async def put(self, rule: SiteRule) -> None:
        """Keep a decision in place of the one before on the same host and pattern."""
        ...

    async def remove(self, host: str, pattern: str) -> bool:
        """Forget a decision; False when there was none."""
        ...


class Providers(Protocol):
    """The providers that one tenant has registered, and what was erased at their request."""

    async def get(self, key: str) -> Provider | None:
        """Find a provider."""
        ...

    async def put(self, provider: Provider) -> None:
        """Keep a provider in place of the one before under its key."""
        ...

    async def remove(self, key: str) -> bool:
        """Forget a provider; False when there was none."""
        ...

    async def erase(self, takedown: Takedown, url_hashes: Sequence[bytes]) -> None:
        """Forget pages of the tenant and keep the line that says so, in one transaction.

        What was understood of them goes with them.
        """
        ...

    async def takedowns(self) -> list[Takedown]:
        """List what was erased, newest first."""
        ...

    async def list(self) -> list[Provider]:
        """List providers by key."""
        ...


class Ranks(Protocol):
    """Which domains are visited most, as a published list says; the same for every tenant."""

    async def put(self, ranks: Sequence[tuple[str, int]], *, edition: int) -> None:
        """Keep (name, rank) of a part of a list, in place of what other editions say of a name."""
        ...

    async def keep_only(self, edition: int) -> None:
        """Forget every list but one."""
        ...

    async def find(self, names: Sequence[str]) -> Mapping[str, int]:
        """Return the ranks of those names that have one."""
        ...

    async def count(self) -> int:
        """Return how many names have a rank."""
        ...
