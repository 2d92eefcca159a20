"""Content safety: what a crawl does about it (SAF-01 to SAF-03, LEG-13), and what a page has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from geomi.api.schema.wire import Flag, RequestModel, ResponseModel
from geomi.model.config import CrawlConfig
from geomi.model.index.analysis import OnFinding, SensitiveCategory
from geomi.model.personal_data import SURE_KINDS, PiiAction, PiiKind

Kinds = Annotated[tuple[PiiKind, ...], Field(min_length=1, max_length=len(PiiKind))]
Categories = Annotated[
    tuple[SensitiveCategory, ...], Field(min_length=1, max_length=len(SensitiveCategory))
]


class PiiRequest(RequestModel):
    """What happens to personal data (SAF-01)."""

    enabled: Flag = True
    action: Annotated[
        Literal["flag", "redact", "skip"],
        Field(
            description="`redact` removes it before geomi stores anything; `skip` does not keep "
            "the page."
        ),
    ] = "flag"
    types: Annotated[
        Kinds, Field(description="geomi looks for `address` and `name` only if they are named.")
    ] = SURE_KINDS


class SensitiveRequest(RequestModel):
    """What happens to pages with sensitive content (SAF-03)."""

    enabled: Flag = True
    action: Annotated[
        Literal["flag", "skip"], Field(description="`skip` does not index the page.")
    ] = "flag"
    categories: Categories = tuple(SensitiveCategory)


class CopyrightRequest(RequestModel):
    """What happens to pages that somebody claims (LEG-13)."""

    detect_copyright_notice: Flag = True
    skip_copyrighted_content: Annotated[
        Flag, Field(description="Do not index a page that is claimed without an open licence.")
    ] = False

    @model_validator(mode="after")
    def _looks_before_it_skips(self) -> Self:
        if self.skip_copyrighted_content and not self.detect_copyright_notice:
            raise ValueError("skipCopyrightedContent needs detectCopyrightNotice")
        return self


class ContentSafetyRequest(RequestModel):
    """What a crawl does about its pages' content; a missing field has the value of the profile."""

    pii: PiiRequest = PiiRequest()
    sensitive: SensitiveRequest = SensitiveRequest()
    copyright: CopyrightRequest = CopyrightRequest()

    def settings(self) -> dict[str, object]:
        """Return the settings that were given, by dotted key."""
        told: dict[str, object] = {}
        for part, action, listed, key in (
            (self.pii, "safety.pii", "types", "safety.pii_types"),
            (self.sensitive, "analysis.sensitive", "categories", "analysis.sensitive_categories"),
        ):
            said = part.model_fields_set
            if not part.enabled:
                told[action] = "off"
            elif "action" in said:
                told[action] = part.action
            if listed in said:
                told[key] = tuple(one.value for one in getattr(part, listed))
        if self.copyright.model_fields_set:
            looks, skips = (
                self.copyright.detect_copyright_notice,
                self.copyright.skip_copyrighted_content,
            )
            told["analysis.copyright"] = "skip" if skips else "flag" if looks else "off"
        return told


_NO_MATTER = "Means nothing if it is not enabled."

# What a request calls each of these settings.
SAFETY_NAMES = {
    "safety.pii": "pii.action",
    "safety.pii_types": "pii.types",
    "analysis.sensitive": "sensitive.action",
    "analysis.sensitive_categories": "sensitive.categories",
    "analysis.copyright": "copyright.skipCopyrightedContent",
}


class PiiResponse(ResponseModel):
    """What happens to personal data."""

    enabled: bool
    action: str = Field(description=_NO_MATTER)
    types: tuple[PiiKind, ...]


class SensitiveRulesResponse(ResponseModel):
    """What happens to pages with sensitive content."""

    enabled: bool
    action: str = Field(description=_NO_MATTER)
    categories: tuple[SensitiveCategory, ...]


class CopyrightRulesResponse(ResponseModel):
    """What happens to pages that somebody claims."""

    detect_copyright_notice: bool
    skip_copyrighted_content: bool


class ContentSafetyResponse(ResponseModel):
    """What a crawl does about its pages' content."""

    pii: PiiResponse
    sensitive: SensitiveRulesResponse
    copyright: CopyrightRulesResponse

    @classmethod
    def of(cls, config: CrawlConfig) -> Self:
        """Write a job's configuration."""
        safety, rules = config.safety, config.analysis
        return cls(
            pii=PiiResponse(
                enabled=safety.pii is not PiiAction.OFF,
                action=_action(safety.pii),
                types=safety.pii_types,
            ),
            sensitive=SensitiveRulesResponse(
                enabled=rules.sensitive is not OnFinding.OFF,
                action=_action(rules.sensitive),
                categories=rules.sensitive_categories,
            ),
            copyright=CopyrightRulesResponse(
                detect_copyright_notice=rules.copyright is not OnFinding.OFF,
                skip_copyrighted_content=rules.copyright is OnFinding.SKIP,
            ),
        )


class PiiCountResponse(ResponseModel):
    """How many different values of one kind of personal data a page has; never the values."""

    type: PiiKind
    count: int


class ContentFlagsResponse(ResponseModel):
    """Flags of a page's content."""

    pii: tuple[PiiCountResponse, ...] = Field(
        description="If the crawl redacts, geomi has removed the values."
    )
    sensitive: tuple[SensitiveCategory, ...]
    copyrighted: bool = Field(description="Somebody claims it and gives no open licence.")

    @classmethod
    def of(cls, kept: Mapping[str, object]) -> Self:
        """Write the flags of an analysis that `analysis_json` has written."""
        claim, found, personal = (kept.get(name) for name in ("copyright", "sensitive", "personal"))
        return cls.model_validate(
            {
                "pii": [{"type": kind, "count": many} for kind, many in _listed(personal)],
                "sensitive": [one["category"] for one in _listed(found)],
                "copyrighted": isinstance(claim, dict) and claim["is_reserved"],
            }
        )


def _action(rule: PiiAction | OnFinding) -> str:
    """Return what can be sent back as it is: the catalogue has no action for "off"."""
    return "flag" if rule.value == OnFinding.OFF else rule.value


def _listed(value: object) -> list:  # type: ignore[type-arg]  # of JSON that geomi wrote itself
    return value if isinstance(value, list) else []
