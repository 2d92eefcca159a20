"""What a job wants understood of its pages, and which of them it wants indexed (CFG-16, CFG-17)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from annotated_types import Ge, Le, MaxLen, MinLen, Predicate


class WantedType(StrEnum):
    """Page types that a job may ask for (C-65); the other two lead elsewhere or are unknown."""

    ARTICLE = "article"
    PRODUCT = "product"
    FAQ = "faq"
    POLICY = "policy"
    LANDING = "landing"
    CONTACT = "contact"


class OnFinding(StrEnum):
    """What happens to a page in which something was found (LEG-13, SAF-03)."""

    OFF = "off"  # nobody looks for it
    FLAG = "flag"
    SKIP = "skip"


class SensitiveCategory(StrEnum):
    """What content is sensitive for (SAF-03)."""

    VIOLENCE = "violence"
    ADULT = "adult"
    GAMBLING = "gambling"
    DRUGS = "drugs"
    SELF_HARM = "self_harm"
    HATE = "hate"


@dataclass(frozen=True, slots=True)
class AnalysisRules:
    """What is understood of a page, and which pages are indexed (CFG-16, CFG-17)."""

    index: bool = True  # whether its pages can be searched
    collection: Annotated[str, MinLen(1), MaxLen(100), Predicate(str.isprintable)] = "default"
    classify: bool = True
    quality: bool = True
    summary: bool = True
    article_fields: bool = False  # fields of articles, too (C-64)
    schema: str = ""  # what else is asked of a page, as JSON Schema (FUT-14)
    min_chars: Annotated[int, Ge(0), Le(1_000_000)] = 100  # shorter texts are not indexed
    max_chars: Annotated[int, Ge(1000), Le(10_000_000)] = 100_000  # what is read of a text (C-73)
    quality_threshold: Annotated[float, Ge(0), Le(10)] = 5.0
    page_types: tuple[WantedType, ...] = ()  # empty: all
    sensitive: OnFinding = OnFinding.FLAG
    sensitive_categories: tuple[SensitiveCategory, ...] = tuple(SensitiveCategory)
    copyright: OnFinding = OnFinding.FLAG
    budget_usd: Annotated[float, Ge(0), Le(1_000_000)] = 0.0  # for models; 0: no limit
