"""The providers of one tenant, and the erasing of their pages."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from dataclasses import replace

from geomi.model.site import Provider, Takedown
from tests.contracts.reference.world import World


class MemoryProviders:
    """`ports.sites.Providers` of one tenant."""

    def __init__(self, world: World, tenant: str) -> None:
        self._world = world
        self._tenant = tenant

    async def list(self) -> builtins.list[Provider]:
        """List providers by key."""
        rows = sorted(self._world.providers.items(), key=lambda row: row[0])
        return [provider for (tenant, _), provider in rows if tenant == self._tenant]

    async def get(self, key: str) -> Provider | None:
        """Find a provider."""
        return self._world.providers.get((self._tenant, key))

    async def put(self, provider: Provider) -> None:
        """Keep a provider in place of the one before under its key."""
        self._world.providers[self._tenant, provider.key] = provider

    async def remove(self, key: str) -> bool:
        """Forget a provider; False when there was none."""
        return self._world.providers.pop((self._tenant, key), None) is not None

    async def erase(self, takedown: Takedown, url_hashes: Sequence[bytes]) -> None:
        """Forget pages of the tenant and keep the line that says so."""
        world, erased = self._world, set(url_hashes)
        urls = self._forget_captures(erased)
        for url_hash in erased:
            page = world.pages.pop((self._tenant, url_hash), None)
            world.histories.pop((self._tenant, url_hash), None)
            world.versions.pop((self._tenant, url_hash), None)
            urls |= {page.url, page.final_url} if page else set()
        world.forget_documents(self._tenant, lambda row: row.url_hash in erased)
        # The rows of the log stay: they prove that the site was asked politely, which is owed to it
        # even now. Only what they tell of its content goes.
        for key, one in world.requests.items():
            if one.url in urls and not self._is_anothers(one.job):
                world.requests[key] = replace(one, url="")
        world.takedowns.append((self._tenant, takedown))

    async def takedowns(self) -> builtins.list[Takedown]:
        """List what was erased, newest first."""
        own = [one for tenant, one in self._world.takedowns if tenant == self._tenant]
        own.reverse()  # of one moment the one written last is the newest
        return sorted(own, key=lambda one: -one.at_s)

    def _is_anothers(self, job: str) -> bool:
        book = self._world.books.get(job)
        return book is not None and book.job.tenant != self._tenant

    def _forget_captures(self, erased: set[bytes]) -> set[str]:
        """Forget captures in all jobs of the tenant; return the URLs they had."""
        urls: set[str] = set()
        for book in self._world.books.values():
            if book.job.tenant != self._tenant:
                continue
            gone = {seq: page for seq, page in book.captures.items() if page.url_hash in erased}
            for seq, page in gone.items():
                urls.add(page.url)
                del book.captures[seq]
            if gone:  # derived outputs are to be written anew
                book.cursors = dict.fromkeys(book.cursors, (0, 0))
        return urls
