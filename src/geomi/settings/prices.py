"""Read prices of models as people write them: `name=IN/OUT`, in dollars for a million tokens."""

from __future__ import annotations

from collections.abc import Sequence

from geomi.engine.survey.cost import ADVICE, EMBEDDING, UNIT_PRICES
from geomi.errors import ConfigError
from geomi.model.index.language_model import MICROS, ModelPrice
from geomi.settings.options import Settings

# List prices of the models that the catalogue names, November 2026; a setting changes them.
LISTED = (
    "amazon.nova-micro-v1:0=0.035/0.14",
    "anthropic.claude-3-haiku-20240307-v1:0=0.25/1.25",
    "anthropic.claude-3-5-sonnet-20240620-v1:0=3/15",
    "amazon.titan-embed-text-v2:0=0.02/0",
)


def read_prices(texts: Sequence[str]) -> dict[str, ModelPrice]:
    """Read prices; a later one of the same model counts."""
    return dict(map(_price, (*LISTED, *texts)))


def _price(text: str) -> tuple[str, ModelPrice]:
    name, is_given, amounts = text.rpartition("=")
    told_in, _, told_out = amounts.partition("/")
    try:
        price = ModelPrice(_per_million(told_in), _per_million(told_out))
    except ValueError:
        is_given = ""
    if not is_given or not name:
        raise ConfigError(
            f"`{text}` is not a price of a model", hint="GEOMI_MODEL_PRICES='name=0.15/0.60'"
        )
    return name, price


def _per_million(text: str) -> int:
    """Return millionths of a dollar for a million tokens."""
    dollars = float(text)
    if not 0 <= dollars <= MICROS:
        raise ValueError(text)
    return round(dollars * MICROS)


def prices_here(settings: Settings) -> dict[str, float]:
    """Return what a page costs in each part as this process is set up.

    The catalogue's price of a model counts where one is named that is paid for by use; machines,
    disks and databases of one's own cost what `unit_prices` says of them, and else nothing.
    """
    used = set(ADVICE if settings.model else ())
    if settings.embedder.partition(":")[0] in ("openai", "titan"):
        used.add(EMBEDDING)
    given = read_unit_prices(settings.unit_prices)
    named = {text.partition("=")[0] for text in settings.unit_prices}
    return {name: price if name in used | named else 0.0 for name, price in given.items()}


def read_unit_prices(texts: Sequence[str]) -> dict[str, float]:
    """Read what a page costs in each part, `part=DOLLARS`, over the catalogue's prices."""
    prices = dict(UNIT_PRICES)
    for text in texts:
        name, _, amount = text.partition("=")
        try:
            dollars = float(amount)
        except ValueError:
            dollars = -1.0
        if name not in prices or not 0 <= dollars <= MICROS:
            raise ConfigError(
                f"`{text}` is not a price of a page",
                hint=f"PART=DOLLARS, with one of {', '.join(prices)}",
            )
        prices[name] = dollars
    return prices
