"""The rules for the analysis of a job's pages, and the analysis of one page.

The rules (CFG-16, CFG-17) say what to look for and which pages to index. The results are a page's
type, quality, fields, summary, and whether geomi indexes it. Every part names the engine that
produced it and its version, so that geomi can repeat the work of an engine that changed. None
means "cannot be known", never "no".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from annotated_types import Ge, Le, MaxLen, MinLen, Predicate

from geomi.model.page import Article
from geomi.model.personal_data import PiiCounts


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


class PageType(StrEnum):
    """What a page is for (ANA-02, ANA-04)."""

    ARTICLE = "article"  # news, blog posts, guides, documentation
    PRODUCT = "product"
    FAQ = "faq"  # questions with their answers
    POLICY = "policy"  # terms, privacy, legal
    LANDING = "landing"  # marketing and home pages, what a company offers
    NAVIGATION = "navigation"  # index, category and search pages: what leads elsewhere
    CONTACT = "contact"  # how to reach someone, and who they are
    OTHER = "other"  # none of these, a forum's thread among them


class Flag(StrEnum):
    """What is wrong with a page (ANA-10)."""

    THIN_CONTENT = "thin_content"
    DUPLICATE_SUSPECTED = "duplicate_suspected"
    KEYWORD_STUFFING = "keyword_stuffing"
    BOILERPLATE_HEAVY = "boilerplate_heavy"
    AUTO_GENERATED = "auto_generated"
    OUTDATED = "outdated"
    BROKEN_FORMATTING = "broken_formatting"


class EntityType(StrEnum):
    """What an entity is (ANA-20)."""

    PERSON = "person"
    ORGANIZATION = "organization"
    PRODUCT = "product"
    LOCATION = "location"
    DATE = "date"
    PRICE = "price"


class FieldsModel(StrEnum):
    """By which schema fields were extracted (ANA-15)."""

    PRODUCT = "product"
    FAQ = "faq"
    ARTICLE = "article"
    POLICY = "policy"
    CUSTOM = "custom"


class IndexReason(StrEnum):
    """Why a page is indexed or not, in the order in which the reasons are asked (G-15)."""

    NOINDEX = "noindex"
    TOO_SHORT = "too_short"
    PERSONAL_DATA = "personal_data"
    SENSITIVE = "sensitive"
    COPYRIGHT = "copyright"
    PAGE_TYPE = "page_type"
    QUALITY = "quality"
    DUPLICATE = "duplicate"
    ACCEPTED = "accepted"


@dataclass(frozen=True, slots=True)
class Engine:
    """The producer of a value: rules of geomi, a trained model, or a provider's model."""

    name: str
    version: str


@dataclass(frozen=True, slots=True)
class AnalysisInput:
    """A page to analyse, and facts about it from elsewhere.

    Args:
        asks_not_to_be_indexed: by its response (`X-Robots-Tag`); its meta tags are in the article.
        personal_data: why it must be skipped for what it says about people; empty where not.
        duplicate_of: the page that it repeats, and `similarity` how much (0 to 1); None where
            nobody has looked.
        now_s: wall clock, by which a page is out of date.
    """

    url: str
    article: Article
    now_s: float
    asks_not_to_be_indexed: bool = False
    personal_data: str = ""
    duplicate_of: str | None = None
    similarity: float = 1.0


@dataclass(frozen=True, slots=True)
class Classification:
    """The one type of a page, how sure that is, finer types, and what decided (ANA-03, ANA-05)."""

    page_type: PageType
    confidence: float
    subtypes: tuple[str, ...]
    reasoning: str
    engine: Engine


@dataclass(frozen=True, slots=True)
class PageQuality:
    """The quality of a page, from 0 to 10 (ANA-08); a flag is None if it is unknown."""

    overall: float
    depth: float
    readability: float
    relevance: float | None
    originality: float | None
    flags: tuple[tuple[Flag, bool | None], ...]
    engine: Engine

    @property
    def raised(self) -> tuple[Flag, ...]:
        """The flags that are up."""
        return tuple(flag for flag, is_up in self.flags if is_up)


@dataclass(frozen=True, slots=True)
class Money:
    """An amount and its currency as an ISO 4217 code; None where the sign does not say which."""

    amount: float
    currency: str | None


@dataclass(frozen=True, slots=True)
class ProductFields:
    """The fields of a product (ANA-16)."""

    name: str | None = None
    description: str | None = None
    price: Money | None = None
    sale_price: Money | None = None
    sku: str | None = None
    brand: str | None = None
    category: str | None = None
    in_stock: bool | None = None
    specifications: tuple[tuple[str, str], ...] = ()
    images: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FaqItem:
    """A question and its answer."""

    question: str
    answer: str


@dataclass(frozen=True, slots=True)
class FaqFields:
    """The questions of a page (C-64)."""

    items: tuple[FaqItem, ...]


@dataclass(frozen=True, slots=True)
class PolicySection:
    """A heading and the text below it."""

    heading: str
    text: str


@dataclass(frozen=True, slots=True)
class PolicyFields:
    """The parts of terms or of a privacy policy (C-64)."""

    title: str | None
    effective_date: str | None  # ISO 8601
    sections: tuple[PolicySection, ...]


@dataclass(frozen=True, slots=True)
class ArticleFields:
    """The fields of an article (C-64: asked for, not by default)."""

    headline: str | None
    author: str | None
    publisher: str | None
    published_at: str | None
    modified_at: str | None
    section: str | None
    image: str | None


@dataclass(frozen=True, slots=True)
class ExtractedFields:
    """What a page says in fields, by which schema, and how sure that is (ANA-15)."""

    model: FieldsModel
    data: ProductFields | FaqFields | PolicyFields | ArticleFields
    confidence: float
    engine: Engine


@dataclass(frozen=True, slots=True)
class CustomFields:
    """The fields of a job's own schema (FUT-14); an unknown value is None.

    Args:
        data: by the schema's properties, as JSON.
        missing: properties that the schema requires and that are not known.
        not_on_page: places of texts that a model gave and that do not stand on the page.
        problem: why no model has filled what is None; empty where one has tried.
    """

    data: Mapping[str, object]
    missing: tuple[str, ...]
    not_on_page: tuple[str, ...]
    problem: str
    engine: Engine


@dataclass(frozen=True, slots=True)
class Entity:
    """Someone or something that a page names; `normalized` is an ISO date or `EUR 39.5`."""

    text: str
    type: EntityType
    normalized: str | None = None


@dataclass(frozen=True, slots=True)
class Summary:
    """A page in short (ANA-19): its own sentences, never new ones."""

    short: str
    long: str
    keywords: tuple[str, ...]
    entities: tuple[Entity, ...]
    engine: Engine


@dataclass(frozen=True, slots=True)
class Copyright:
    """Who claims a page, and under which licence it is given (LEG-13)."""

    notice: str
    holder: str | None
    year: int | None
    license: str | None
    is_reserved: bool  # claimed, and no open licence given
    engine: Engine


@dataclass(frozen=True, slots=True)
class SensitiveFinding:
    """A category of sensitive content, and the words that showed it (SAF-03)."""

    category: SensitiveCategory
    words: tuple[str, ...]
    engine: Engine


@dataclass(frozen=True, slots=True)
class IndexDecision:
    """Whether a page is indexed, and the first reason that decided (ANA-21, G-15)."""

    should_index: bool
    reason: IndexReason
    detail: str
    engine: Engine


@dataclass(frozen=True, slots=True)
class Analysis:
    """The analysis of one page; None stands for what nobody asked for, or what was not found.

    Args:
        personal: how many values of each kind of personal data its page was found to have.
    """

    decision: IndexDecision
    classification: Classification | None = None
    quality: PageQuality | None = None
    fields: ExtractedFields | None = None
    summary: Summary | None = None
    copyright: Copyright | None = None
    sensitive: tuple[SensitiveFinding, ...] = ()
    custom: CustomFields | None = None
    personal: PiiCounts = ()
