"""A data directory's knowledge: where its pages are found, and which models are asked."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

from geomi.adapters.http.client import HttpClient
from geomi.adapters.http.egress import Egress
from geomi.adapters.index.sqlite import open_sqlite_index
from geomi.adapters.models.openai import OpenAiModel
from geomi.app.home import Home, egress_rules
from geomi.app.recover import recover
from geomi.app.store import TENANT
from geomi.engine.advise import Panel
from geomi.engine.enrich import Shelf, begin_again, enrich_all, is_behind, is_lost
from geomi.engine.search import search
from geomi.errors import ConfigError
from geomi.model.cost import FREE, Purpose
from geomi.model.language import Answer
from geomi.model.search import Filters, Found, IndexCounts, Scope
from geomi.ports.web import Fetcher
from geomi.settings.models import read_prices
from geomi.settings.options import Settings

FOLDER = "index"


@dataclass(frozen=True, slots=True)
class Searched:
    """The answers to a query, what was looked through, and whether that was all there is."""

    found: Found
    counts: IndexCounts
    is_whole: bool


async def find(
    home: Home, query: str, filters: Filters, *, limit: int, is_as_is: bool = False
) -> Searched:
    """Answer a query over all that was collected so far.

    Args:
        is_as_is: the index is taken as it is.
    """
    async with open_shelf(home) as shelf:
        if not is_as_is:
            await bring_up(home, shelf)
        found = await search(
            shelf.index, query, filters=filters, limit=limit, embedder=shelf.embedder
        )
        is_whole = not await is_behind(home.world, shelf)
        return Searched(found, await shelf.index.count(), is_whole)


async def bring_up(
    home: Home,
    shelf: Shelf,
    *,
    only: str = "",
    again: bool = False,
    leave: asyncio.Event | None = None,
) -> int:
    """Put all that was collected so far where it is found; return how many pages were looked at.

    Args:
        again: also what has been put there.
    """
    await recover(home)  # whoever died while enriching holds the duty of it
    if again or await is_lost(home.world, shelf):
        await begin_again(home.world, shelf, only=only)
    return await enrich_all(home.world, shelf, only=only, leave=leave)


async def forget(home: Home, jobs: Iterable[str]) -> None:
    """Take all that was put there of some jobs out of the index, if there is one."""
    if not (home.root / FOLDER).is_dir():
        return
    index = open_sqlite_index(home.root / FOLDER, tenant=TENANT)
    try:
        for job in jobs:
            await index.delete(Scope.JOB, job)
        await index.scrub()
    finally:
        index.close()


@asynccontextmanager
async def open_shelf(home: Home) -> AsyncIterator[Shelf]:
    """Open the index of a data directory, which is made if need be, and the way to the models."""
    index = open_sqlite_index(home.root / FOLDER, tenant=TENANT)
    # A model's address comes from the operator, not from a page: it may be a private one.
    rules = replace(egress_rules(home.settings), allow_private=True)
    egress = Egress(rules, home.world.clock)
    client = HttpClient(egress, home.world.clock)
    try:
        yield Shelf(index, _panel(home.settings, client))
    finally:
        await client.aclose()
        egress.close()
        index.close()


def _panel(settings: Settings, fetcher: Fetcher) -> Panel | None:
    if not settings.model_endpoint:
        return None
    if not settings.model:
        raise ConfigError(
            "GEOMI_MODEL_ENDPOINT is set, and no model is named", hint="GEOMI_MODEL=its-name"
        )
    prices = read_prices(settings.model_prices)

    def ask(name: str) -> OpenAiModel:
        return OpenAiModel(fetcher, settings.model_endpoint, name, key=settings.model_key)

    def price(answer: Answer) -> int:
        return prices.get(answer.model, FREE).of(answer.tokens_in, answer.tokens_out)

    small, large = ask(settings.model), ask(settings.model_extract or settings.model)
    models = {Purpose.CLASSIFY: small, Purpose.QUALITY: small, Purpose.EXTRACT: large}
    return Panel(settings.model_endpoint, models, price)
