"""The dashboard's texts in each language, and the choice of a visitor's language."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources

LANGUAGES = ("en", "ko")
FALLBACK = "en"
MAX_HEADER_CHARS = 200  # of Accept-Language; browsers send 30


@dataclass(frozen=True, slots=True)
class Translations:
    """The texts of one language, by dotted key."""

    language: str
    texts: Mapping[str, str]

    def __call__(self, key: str, **values: object) -> str:
        """Return a text with its values filled in; an unknown key is a mistake of ours."""
        return self.texts[key].format(**values) if values else self.texts[key]

    def name(self, group: str, value: object) -> str:
        """Return what a value of ours is called, or the value where it has no name here."""
        return self.texts.get(f"{group}.{value}", str(value))


@cache
def translations_of(language: str) -> Translations:
    """Read the texts of a language."""
    file = resources.files("geomi.dashboard").joinpath(f"text/{language}.toml")
    return Translations(language, _flat(tomllib.loads(file.read_text("utf-8"))))


def choose_language(wished: str | None, accepted: str) -> str:
    """Return the language that somebody chose, or that their browser asks for."""
    if wished in LANGUAGES:
        return wished
    weighed: list[tuple[float, int, str]] = []
    for part in accepted[:MAX_HEADER_CHARS].split(","):
        tag, _, weight = part.strip().partition(";q=")
        language = tag.partition("-")[0].lower()
        if language in LANGUAGES:
            weighed.append((-_weight(weight), len(weighed), language))
    return min(weighed)[2] if weighed else FALLBACK


def _weight(text: str) -> float:
    try:
        return float(text) if text else 1.0
    except ValueError:
        return 0.0


def _flat(table: Mapping[str, object], prefix: str = "") -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in table.items():
        if isinstance(value, dict):
            found |= _flat(value, f"{prefix}{name}.")
        else:
            found[prefix + name] = str(value)
    return found
