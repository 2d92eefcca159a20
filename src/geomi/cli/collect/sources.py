"""Where a crawl starts: from URLs, from a registered provider, or from contracts of a dataset."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from geomi.adapters.bucket_url import names_bucket
from geomi.app import DataDirectory
from geomi.app.use import providers
from geomi.app.use.datasets import admitted_seeds, open_contracts
from geomi.cli.console import note
from geomi.engine.seeds.handover import keep_copies, read_handover
from geomi.errors import ConfigError
from geomi.model.dataset.contract import Handover, SkippedDomain
from geomi.model.site import Provider
from geomi.ports.dataset import Dataset
from geomi.settings.layers import Layer, Resolved, resolve, resolve_under_profile
from geomi.settings.options import Settings
from geomi.settings.providers import provider_layer, refuse_forbidden
from geomi.settings.seeds import contracts_layer

MAX_LISTED = 10  # of what is left out; the rest is counted


class CrawlSource:
    """The provider, or the contracts, that the command line names; empty where it names none."""

    def __init__(self, provider: str | None, contracts: str | None) -> None:
        if provider and contracts:
            raise ConfigError(
                "--provider and --from-prod both say where to start", hint="leave out one of them"
            )
        self._key = provider or ""
        self._place = contracts or ""
        self._provider: Provider | None = None
        self._handover: Handover | None = None
        self._dataset: Dataset | None = None
        self._taken = 0
        self.left_out: list[SkippedDomain] = []

    def __bool__(self) -> bool:
        return bool(self._key or self._place)

    @property
    def may_fork(self) -> bool:
        """Whether this process has no thread: the client of a bucket has some once it was used."""
        return not names_bucket(self._place)

    def layer(self, above: Sequence[Layer], settings: Settings) -> Layer:
        """Find what was named and return what it says about a crawl."""
        if self._key:
            stored = providers.stored_providers(Path(resolve(above).run.output), settings)
            self._provider = providers.provider_named(self._key, providers.with_presets(stored))
            refuse_forbidden(self._provider)
            return provider_layer(self._provider)
        self._dataset, which = open_contracts(self._place)
        below = resolve_under_profile(above)
        self._handover = asyncio.run(read_handover(self._dataset, which, below.config))
        return contracts_layer(self._handover, below)

    def seeds(self, urls: Sequence[str], resolved: Resolved, settings: Settings) -> Sequence[str]:
        """Return where to start: the URLs that were given, or those of what was named."""
        if not self:
            return urls
        if urls:
            own = f"provider `{self._key}` has its" if self._key else "contracts have their"
            raise ConfigError(
                f"{own} own start URLs; `{urls[0]}` was given as well",
                hint="leave out one of them",
            )
        if self._provider is not None:
            return self._provider.seed_urls
        assert self._handover is not None, "the layer is made before anybody asks for start URLs"
        reviews = providers.stored_reviews(Path(resolved.run.output), settings)
        taken, excluded = admitted_seeds(self._handover, resolved.config, reviews)
        self._taken = len(taken)
        self.left_out = [*self._handover.left_out, *excluded]
        if not taken:
            first = self.left_out[0] if self.left_out else None
            told = f": {first.domain}: {first.reason}" if first else ""
            raise ConfigError(
                f"no contract below {self._handover.source} can be crawled{told}",
                hint="run `geomi seeds run DATASET`, or `geomi seeds validate DATASET`",
            )
        return taken

    def tell(self) -> None:
        """Say what was taken, and what was not."""
        handover = self._handover
        if handover is None:
            return
        note(f"contracts: {handover.contracts}, with {self._taken} start URLs")
        for one in self.left_out[:MAX_LISTED]:
            note(f"left out: {one.domain}: {one.reason}")
        if len(self.left_out) > MAX_LISTED:
            note(f"left out: {len(self.left_out) - MAX_LISTED} more")
        if handover.unread:
            note(f"left out: {handover.unread} contracts after these; name a smaller partition")

    async def hand_over(self, home: DataDirectory, resolved: Resolved) -> None:
        """Let the crawl know the robots.txt of hosts that were asked for it already."""
        if self._handover is not None and self._dataset is not None:
            robots = self._handover.robots
            await keep_copies(home.world, self._dataset, robots, resolved.config)
