"""Open the models that settings name: those that judge pages, and the one that makes vectors."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager, closing
from dataclasses import dataclass, replace
from pathlib import Path

from geomi.adapters.http.client import HttpClient
from geomi.adapters.http.egress import Egress
from geomi.adapters.models.bedrock import (
    CLASSIFIER,
    CRITIC,
    EXTRACTOR,
    Bedrock,
    BedrockModel,
    TitanEmbedder,
)
from geomi.adapters.models.calls import RetryPolicy
from geomi.adapters.models.onnx import OnnxEmbedder
from geomi.adapters.models.openai import OpenAiModel, OpenAiServer, open_openai_embedder
from geomi.app.directory import DataDirectory, egress_rules
from geomi.engine.enrich.language_model import LanguageModels
from geomi.errors import ConfigError
from geomi.model.index.language_model import FREE, ModelPurpose, ModelReply
from geomi.ports.models import Embedder, LanguageModel
from geomi.ports.web import Fetcher
from geomi.settings.options import Settings
from geomi.settings.prices import read_prices

BEDROCK = "bedrock"  # the catalogue's models there, in place of a server's
FORMS = "onnx:FOLDER, openai:MODEL or titan"


@dataclass(frozen=True, slots=True)
class Models:
    """Whoever may be asked; both may be nobody."""

    panel: LanguageModels | None
    embedder: Embedder | None


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
            yield Models(panel, embedder)
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
        """A server may name a version of what it was asked for, which nobody gave a price."""
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
            raise ConfigError(f"`{settings.embedder}` is no embedder", hint=f"give {FORMS}")


def _endpoint(settings: Settings, name: str) -> str:
    if not settings.model_endpoint:
        raise ConfigError(
            f"{name} names a model, and no server is named that has it",
            hint="GEOMI_MODEL_ENDPOINT=http://127.0.0.1:8080/v1",
        )
    return settings.model_endpoint
