"""Open the search index and its models, bring it up to date, search it, delete from it.

The index is a SQLite file in the directory, or the Lance table that the setting `index` names. A
search first indexes new pages, and waits a while for another process that does the same. If some
pages cannot be indexed in that time, the result says so.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import ExitStack, asynccontextmanager, closing
from dataclasses import dataclass, replace
from pathlib import Path

from geomi.adapters.bucket_url import read_bucket_url
from geomi.adapters.http.client import HttpClient
from geomi.adapters.http.egress import Egress
from geomi.adapters.index.lance import open_lance_index
from geomi.adapters.index.sqlite import open_sqlite_index
from geomi.adapters.models.bedrock import (
    CLASSIFIER,
    CRITIC,
    EXTRACTOR,
    TITAN,
    Bedrock,
    BedrockModel,
    TitanEmbedder,
)
from geomi.adapters.models.calls import RetryPolicy
from geomi.adapters.models.onnx import OnnxEmbedder
from geomi.adapters.models.openai import OpenAiModel, OpenAiServer, open_openai_embedder
from geomi.app.directory import DataDirectory, egress_rules
from geomi.app.recovery import recover
from geomi.engine.enrich.language_model import LanguageModels
from geomi.engine.enrich.loop import SearchIndex, enrich_again, enrich_all, is_behind, is_index_lost
from geomi.engine.enrich.search import search
from geomi.engine.enrich.vectors import EmbedderPrice
from geomi.engine.visit.preview_text import erase_expired_texts
from geomi.errors import ConfigError
from geomi.model.index.language_model import FREE, ModelPurpose, ModelReply
from geomi.model.index.search import Filters, IndexCounts, IndexScope, SearchResults
from geomi.ports.index import KeptIndex
from geomi.ports.models import Embedder, LanguageModel
from geomi.ports.web import Fetcher
from geomi.settings.options import Settings
from geomi.settings.prices import read_prices

FOLDER = "index"
# How long a search waits for another process that is putting pages into the index.
POLLS, POLL_S = 40, 0.25
BEDROCK = "bedrock"  # the catalogue's models there, in place of a server's
FORMS = "onnx:FOLDER, openai:MODEL or titan"


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The answers to a query, what was looked through, and whether that was all there is.

    Args:
        left_out: pages that were collected and decided against.
    """

    found: SearchResults
    counts: IndexCounts
    left_out: int
    is_whole: bool


async def search_pages(
    home: DataDirectory, query: str, filters: Filters, *, limit: int, is_as_is: bool = False
) -> SearchResult:
    """Answer a query over all that was collected so far.

    Args:
        is_as_is: the index is taken as it is.
    """
    async with open_search_index(home) as search_index:
        if not is_as_is:
            await _update_patiently(home, search_index)
        found = await search(
            search_index.index, query, filters=filters, limit=limit, embedder=search_index.embedder
        )
        is_whole = not (
            await is_behind(home.world, search_index)
            or await is_index_lost(home.world, search_index)
        )
        kept = await home.world.store.documents.collections()
        left_out = sum(counts.skipped + counts.failed for counts in kept)
        return SearchResult(found, await search_index.index.count(), left_out, is_whole)


async def _update_patiently(home: DataDirectory, search_index: SearchIndex) -> None:
    """Index all new pages; wait a while for another process that indexes some."""
    for _ in range(POLLS):
        if await update_index(home, search_index) or not await is_behind(home.world, search_index):
            return
        await asyncio.sleep(POLL_S)


async def update_index(
    home: DataDirectory,
    search_index: SearchIndex,
    *,
    only: str = "",
    leave: asyncio.Event | None = None,
) -> int:
    """Put all that was collected so far where it is found; return how many pages were looked at."""
    await prepare_index(home, search_index, only=only)
    return await enrich_all(home.world, search_index, only=only, leave=leave)


async def prepare_index(
    home: DataDirectory, search_index: SearchIndex, *, only: str = "", again: bool = False
) -> None:
    """Take over from the dead, erase expired texts, and let a lost index be filled again.

    Args:
        again: what has been put into the index is put there once more.
    """
    await recover(home)  # a process that died while it enriched still holds shares
    await erase_expired_texts(home.world)
    lost = await is_index_lost(home.world, search_index)
    if again or lost:
        await enrich_again(home.world, search_index, only=only, is_lost=lost)


async def delete_from_index(home: DataDirectory, scope: IndexScope, names: Iterable[str]) -> None:
    """Take all that was put there of some jobs or sites out of the index, if there is one."""
    if not home.settings.index and not (home.root / FOLDER).is_dir():
        return
    with closing(_open_index(home)) as index:
        for name in names:
            await index.delete(scope, name)
        await index.scrub()


@asynccontextmanager
async def open_search_index(home: DataDirectory) -> AsyncIterator[SearchIndex]:
    """Open the index of a data directory, which is made if need be, and the way to the models."""
    async with open_search_indexes(home) as search_indexes:
        yield search_indexes.of(home)


@asynccontextmanager
async def open_search_indexes(home: DataDirectory) -> AsyncIterator[SearchIndexes]:
    """Open the way to the models, and the index of each tenant when it is first asked for."""
    async with open_models(home) as models:
        with ExitStack() as opened:
            yield SearchIndexes(models, opened)


class SearchIndexes:
    """The search indexes of a directory's tenants; who asks the models is the same for all."""

    def __init__(self, models: Models, opened: ExitStack) -> None:
        self._models = models
        self._stack = opened
        self._search_indexes: dict[str, SearchIndex] = {}

    def of(self, home: DataDirectory) -> SearchIndex:
        """Return the search index of the tenant that a home is open for."""
        tenant = home.store.tenant
        if tenant not in self._search_indexes:
            index = self._stack.enter_context(closing(_open_index(home)))
            self._search_indexes[tenant] = SearchIndex(
                index, self._models.panel, self._models.embedder, self._models.embedder_price
            )
        return self._search_indexes[tenant]


def _open_index(home: DataDirectory) -> KeptIndex:
    place = home.settings.index
    if not place:
        return open_sqlite_index(home.root / FOLDER, tenant=home.store.tenant)
    is_bucket = place.startswith("s3:")
    return open_lance_index(
        read_bucket_url(place) if is_bucket else Path(place), tenant=home.store.tenant
    )


@dataclass(frozen=True, slots=True)
class Models:
    """The language models of the settings; both may be missing."""

    panel: LanguageModels | None
    embedder: Embedder | None
    embedder_price: EmbedderPrice


@asynccontextmanager
async def open_models(home: DataDirectory) -> AsyncIterator[Models]:
    """Open the way to the models; none is asked anything but how long its vectors are."""
    # A model's address comes from the operator, not from a page: it may be a private one.
    rules = replace(egress_rules(home.settings), allow_private=True)
    egress = Egress(rules, home.world.clock)
    client = HttpClient(egress, home.world.clock)
    try:
        with ExitStack() as opened:
            patience = _patience(home)
            panel = _panel(home.settings, client, opened, patience)
            embedder = await _embedder(home.settings, client, opened, patience)
            yield Models(panel, embedder, _embedder_price(home.settings))
    finally:
        await client.aclose()
        egress.close()


def _patience(home: DataDirectory) -> RetryPolicy:
    clock = home.world.clock

    async def sleep(wait_s: float) -> None:
        await clock.sleep_until(clock.now_s() + wait_s)

    return RetryPolicy(sleep=sleep, rng=home.world.rng)


def _panel(
    settings: Settings, fetcher: Fetcher, opened: ExitStack, patience: RetryPolicy
) -> LanguageModels | None:
    if not settings.model:
        return None
    prices = read_prices(settings.model_prices)

    def price(asked: str, answer: ModelReply) -> int:
        """A server may answer with a version of the model that has no price of its own."""
        price = prices.get(answer.model) or prices.get(asked, FREE)
        return price.of(answer.tokens_in, answer.tokens_out)

    if settings.model == BEDROCK:
        return LanguageModels(BEDROCK, _on_bedrock(settings, opened, patience), price)
    endpoint = _endpoint(settings, "GEOMI_MODEL")
    small, large = (
        OpenAiModel(fetcher, endpoint, name, key=settings.model_key, patience=patience)
        for name in (settings.model, settings.model_extract or settings.model)
    )
    models = {
        ModelPurpose.CLASSIFY: small,
        ModelPurpose.QUALITY: small,
        ModelPurpose.NAMES: small,
        ModelPurpose.EXTRACT: large,
    }
    return LanguageModels(endpoint, models, price)


def _on_bedrock(
    settings: Settings, opened: ExitStack, patience: RetryPolicy
) -> dict[ModelPurpose, LanguageModel]:
    """Return the catalogue's models, each for its purpose."""
    bedrock = opened.enter_context(closing(Bedrock(patience=patience)))
    names = {
        ModelPurpose.CLASSIFY: CLASSIFIER,
        ModelPurpose.QUALITY: CRITIC,
        ModelPurpose.NAMES: CRITIC,
        ModelPurpose.EXTRACT: settings.model_extract or EXTRACTOR,
    }
    return {purpose: BedrockModel(bedrock, name) for purpose, name in names.items()}


async def _embedder(
    settings: Settings, fetcher: Fetcher, opened: ExitStack, patience: RetryPolicy
) -> Embedder | None:
    kind, _, name = settings.embedder.partition(":")
    languages = settings.embedder_languages
    match kind:
        case "":
            return None
        case "onnx" if name:
            return opened.enter_context(closing(OnnxEmbedder(Path(name), languages=languages)))
        case "openai" if name:
            server = OpenAiServer(
                fetcher,
                _endpoint(settings, "GEOMI_EMBEDDER"),
                key=settings.model_key,
                patience=patience,
            )
            return await open_openai_embedder(server, name, languages=languages)
        case "titan" if not name:
            bedrock = opened.enter_context(closing(Bedrock(patience=patience)))
            return TitanEmbedder(bedrock, languages=languages)
        case _:
            raise ConfigError(f"`{settings.embedder}` is not an embedder", hint=f"give {FORMS}")


def _embedder_price(settings: Settings) -> EmbedderPrice:
    """Return what an embedder costs; one that runs here costs nothing."""
    kind, _, name = settings.embedder.partition(":")
    match kind:
        case "openai":
            price = read_prices(settings.model_prices).get(name, FREE)
            return EmbedderPrice(settings.model_endpoint, name, price)
        case "titan":
            price = read_prices(settings.model_prices).get(TITAN, FREE)
            return EmbedderPrice(BEDROCK, TITAN, price)
        case _:
            return EmbedderPrice("local", Path(name).name)


def _endpoint(settings: Settings, name: str) -> str:
    if not settings.model_endpoint:
        raise ConfigError(
            f"{name} names a model, and no server is named that has it",
            hint="GEOMI_MODEL_ENDPOINT=http://127.0.0.1:8080/v1",
        )
    return settings.model_endpoint
