"""What is understood of a page, on the wire: the catalogue's `ContentAnalysis` (ANA-03…ANA-21).

The store keeps an analysis by geomi's own names, and so does an analysis that was never stored.
`ContentAnalysisResponse.of` gives both the names of the catalogue. What nobody could know is null.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Self, cast

from pydantic import Field
from pydantic.alias_generators import to_camel

from geomi.api.schema.wire import ResponseModel
from geomi.model.index.analysis import (
    EntityType,
    FieldsModel,
    Flag,
    IndexReason,
    PageType,
    SensitiveCategory,
)

Score = Annotated[float, Field(ge=0, le=10)]
Share = Annotated[float, Field(ge=0, le=1)]
Kept = Mapping[str, object]

_WHOLE = 1.0


class EngineResponse(ResponseModel):
    """What produced a value: rules of geomi, a trained model, or a provider's model."""

    name: str
    version: str


class ClassificationResponse(ResponseModel):
    """The type of a page (ANA-03)."""

    page_type: PageType
    confidence: Share
    subtypes: tuple[str, ...]
    reasoning: str
    engine: EngineResponse


class QualityResponse(ResponseModel):
    """The quality of a page, from 0 to 10; null means "cannot be known" (ANA-08, ANA-10)."""

    overall: Score
    originality: Score | None
    depth: Score
    readability: Score
    relevance: Score | None
    flags: tuple[Flag, ...] = Field(description="What is wrong with the page.")
    unknown_flags: tuple[Flag, ...] = Field(description="What nobody could judge.")
    engine: EngineResponse

    @classmethod
    def of(cls, kept: Kept) -> Self:
        """Write a quality; each flag is kept with true, false or null."""
        flags = cast("Mapping[str, bool | None]", kept["flags"])
        raised = [name for name, is_up in flags.items() if is_up]
        unknown = [name for name, is_up in flags.items() if is_up is None]
        return cls.model_validate({**kept, "flags": raised, "unknown_flags": unknown})


class ExtractionResponse(ResponseModel):
    """The fields of a page, by which schema, and how sure that is (ANA-15)."""

    model_used: FieldsModel
    data: dict[str, object]
    confidence: Share
    engine: EngineResponse
    missing: tuple[str, ...] = Field((), description="What the own schema requires and is null.")
    not_on_page: tuple[str, ...] = Field(
        (), description="Places of texts that a model gave and that are not on the page."
    )
    problem: str | None = Field(None, description="Why no model has filled what is null.")

    @classmethod
    def of(cls, kept: Kept) -> Self:
        """Write the fields of a page of some type."""
        model = FieldsModel(str(kept["model"]))
        data = cast("Mapping[str, object]", kept["data"])
        return cls.model_validate(
            {
                "model_used": model,
                "data": _of_product(data, kept) if model is FieldsModel.PRODUCT else _named(data),
                "confidence": kept["confidence"],
                "engine": kept["engine"],
            }
        )

    @classmethod
    def of_own(cls, kept: Kept) -> Self:
        """Write the fields of a crawl's own schema: sure is what is known and on the page."""
        data = cast("Mapping[str, object]", kept["data"])
        places = cast("list[str]", kept["not_on_page"])
        strange = {place.split("/")[1] for place in places}
        sure = sum(value is not None and name not in strange for name, value in data.items())
        return cls.model_validate(
            {
                "model_used": FieldsModel.CUSTOM,
                "data": data,
                "confidence": round(sure / len(data), 2) if data else _WHOLE,
                "engine": kept["engine"],
                "missing": kept["missing"],
                "not_on_page": kept["not_on_page"],
                "problem": kept["problem"] or None,
            }
        )


class EntityResponse(ResponseModel):
    """Someone or something that a page names (ANA-20)."""

    text: str
    type: EntityType
    normalized: str | None


class SummaryResponse(ResponseModel):
    """A page in short (ANA-19)."""

    short: str
    long: str
    keywords: tuple[str, ...]
    entities: tuple[EntityResponse, ...]
    engine: EngineResponse


class DecisionResponse(ResponseModel):
    """Whether geomi indexes a page, and the first reason that decided (ANA-21)."""

    should_index: bool
    reason: IndexReason
    detail: str = Field(description="The reason in words.")
    suggested_collection: str | None = Field(
        description="Another collection of the tenant that is named after such pages."
    )
    engine: EngineResponse


class CopyrightResponse(ResponseModel):
    """Who claims a page, and under which licence it is given (LEG-13)."""

    notice: str
    holder: str | None
    year: int | None
    license: str | None
    is_reserved: bool
    engine: EngineResponse


class SensitiveResponse(ResponseModel):
    """A category of sensitive content, and the words that showed it (SAF-03)."""

    category: SensitiveCategory
    words: tuple[str, ...]
    engine: EngineResponse


class ContentAnalysisResponse(ResponseModel):
    """Everything that is understood of a page; null is what was not asked for or not found."""

    classification: ClassificationResponse | None
    quality: QualityResponse | None
    extraction: ExtractionResponse | None = Field(
        description="By the crawl's own schema if it has one, else by the type of the page."
    )
    type_extraction: ExtractionResponse | None = Field(
        description="By the type of the page, if `extraction` is by the crawl's own schema."
    )
    summary: SummaryResponse | None
    decision: DecisionResponse
    copyright: CopyrightResponse | None
    sensitive: tuple[SensitiveResponse, ...]
    read: dict[str, object] | None = Field(
        description="What geomi read, if it keeps only a preview of the page."
    )

    @classmethod
    def of(cls, kept: Kept, *, suggested: str | None = None) -> Self:
        """Write an analysis that `analysis_json` has written.

        Args:
            suggested: the collection that the page belongs into by its type.
        """
        parts: dict[str, object] = {
            "classification": None,
            "summary": None,
            "copyright": None,
            "sensitive": (),
            "read": None,
        }
        parts |= {name: kept[name] for name in parts if kept.get(name)}
        quality, by_type, own = (_part(kept, name) for name in ("quality", "fields", "custom"))
        typed = ExtractionResponse.of(by_type) if by_type else None
        decision = cast("Kept", kept["decision"])
        return cls.model_validate(
            parts
            | {
                "decision": {**decision, "suggested_collection": suggested},
                "quality": QualityResponse.of(quality) if quality else None,
                "extraction": ExtractionResponse.of_own(own) if own else typed,
                "type_extraction": typed if own else None,
            }
        )


def _part(kept: Kept, name: str) -> Kept | None:
    return cast("Kept | None", kept.get(name))


def _of_product(data: Mapping[str, object], kept: Kept) -> dict[str, object]:
    """Return the product schema of ANA-16, which has the confidence among its fields."""
    pairs = cast("list[tuple[str, str]]", data["specifications"])
    told = _named(data) | {"specifications": [{"key": key, "value": value} for key, value in pairs]}
    return told | {"confidence": kept["confidence"]}


def _named(data: Mapping[str, object]) -> dict[str, object]:
    """Give the fields of a type their names on the wire; those inside have them already."""
    return {to_camel(name): value for name, value in data.items()}
