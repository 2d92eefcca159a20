"""The form of a crawl: it has the API's fields and is checked by the API's rules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache

from pydantic import BaseModel, ValidationError

from geomi.api.problems import wire_name
from geomi.api.schema.crawl import CrawlRequest, CrawlSettings
from geomi.dashboard.form import SubmittedForm
from geomi.errors import FieldRefused
from geomi.model.index.analysis import SensitiveCategory
from geomi.model.personal_data import PiiKind

WHOLES = (
    "maxDepth",
    "maxPages",
    "maxDuration",
    "maxBytes",
    "delayBetweenRequests",
    "minContentLength",
    "maxContentLength",
    "requestsPerDay",
)
NUMBERS = ("requestsPerSecond", "qualityThreshold")
LISTS = (
    "includePatterns",
    "excludePatterns",
    "allowedDomains",
    "contentTypes",
    "regions",
    "hostRegions",
)
FLAGS = (
    "followExternalLinks",
    "respectRobotsTxt",
    "renderJavaScript",
    "signIn",
    "enableClassification",
    "enableQualityCheck",
    "watch",
)
CHOICES = ("order", "purpose")
TYPES = "targetContentTypes"
SAFETY = "contentSafety"
# What each part of it can be told to do, as one choice; the kinds that it looks for are boxes.
ACTIONS: Mapping[str, tuple[str, ...]] = {
    "pii": ("off", "flag", "redact", "skip"),
    "sensitive": ("off", "flag", "skip"),
    "copyright": ("off", "flag", "skip"),
}
KINDS = {"pii": ("types", tuple(PiiKind)), "sensitive": ("categories", tuple(SensitiveCategory))}
FORM = "form"  # where a complaint stands that is of no field

Faults = dict[str, str]


@dataclass(frozen=True, slots=True)
class NumberBounds:
    """What a number may be, and what it is where nothing is said."""

    low: float
    high: float
    default: float


@dataclass(slots=True)
class CrawlFormData:
    """What a form said, and what is wrong with it, by field."""

    payload: dict[str, object] = field(default_factory=dict)
    faults: Faults = field(default_factory=dict)


@cache
def bounds() -> Mapping[str, NumberBounds]:
    """Return the bounds of every number of a crawl, as the API's document has them."""
    properties = CrawlSettings.model_json_schema()["properties"]
    return {
        name: NumberBounds(told["minimum"], told["maximum"], told["default"])
        for name in (*WHOLES, *NUMBERS)
        if (told := properties[name])
    }


@cache
def page_types() -> tuple[str, ...]:
    """Return the page types that a crawl can be told to look for."""
    told = CrawlSettings.model_json_schema()["properties"][TYPES]["items"]["enum"]
    return tuple(map(str, told))


@cache
def choices() -> Mapping[str, tuple[str, ...]]:
    """Return what each field offers of which one value can be chosen."""
    properties = CrawlSettings.model_json_schema()["properties"]
    return {name: tuple(map(str, properties[name]["enum"])) for name in CHOICES}


@cache
def defaults() -> Mapping[str, bool]:
    """Return whether each box is ticked where nothing is said."""
    properties = CrawlSettings.model_json_schema()["properties"]
    return {name: bool(properties[name]["default"]) for name in FLAGS}


def read_crawl(form: SubmittedForm) -> CrawlFormData:
    """Read the fields of a crawl; what is left empty is left out, as the profile has it."""
    asked = CrawlFormData()
    config: dict[str, object] = {}
    for names, read in ((WHOLES, form.whole), (NUMBERS, form.number)):
        for name in names:
            if form.text(name):
                try:
                    config[name] = read(name)
                except FieldRefused as error:
                    asked.faults[name] = error.message
    config |= {name: form.lines(name) for name in LISTS if form.lines(name)}
    config |= {name: form.text(name) for name in CHOICES if form.text(name)}
    if form.is_set("flags"):  # a browser sends no box that is not ticked
        config |= {
            name: form.is_set(name) for name in FLAGS if form.is_set(name) != defaults()[name]
        }
    if form.every(TYPES):
        config[TYPES] = form.every(TYPES)
    if safety := _safety(form):
        config[SAFETY] = safety
    asked.payload = {
        "collectionId": form.text("collectionId"),
        "seedUrls": form.lines("seedUrls"),
        "profile": form.text("profile", "default"),
        "config": config,
    }
    if form.lines("sitemapUrls"):
        asked.payload["sitemapUrls"] = form.lines("sitemapUrls")
    return asked


def _safety(form: SubmittedForm) -> dict[str, object]:
    """Read what a crawl does about content, in the shape of the API."""
    told: dict[str, object] = {}
    for part, actions in ACTIONS.items():
        action, rule = form.text(f"{part}Action"), dict[str, object]()
        if part == "copyright" and action in actions:
            rule = {
                "detectCopyrightNotice": action != "off",
                "skipCopyrightedContent": action == "skip",
            }
        elif action == "off":
            rule = {"enabled": False}
        elif action:
            rule = {"action": action}
        if part in KINDS and (chosen := form.every(f"{part}Kinds")):
            rule[KINDS[part][0]] = chosen
        if rule:
            told[part] = rule
    return told


def crawl_of(asked: CrawlFormData) -> CrawlRequest | None:
    """Return the crawl that was asked for; None, and every fault noted, where it cannot be."""
    try:
        request = CrawlRequest.model_validate(asked.payload)
    except ValidationError as error:
        asked.faults |= faults_of(error)
        return None
    return None if asked.faults else request


def faults_of(error: ValidationError) -> Faults:
    """Return what is wrong with each field; the innermost name says which it is."""
    found: Faults = {}
    for one in error.errors():
        names = [str(part) for part in one["loc"] if isinstance(part, str)]
        name = names[-1] if names else FORM
        found.setdefault(name, str(one["msg"]))
    return found


def fault_of(error: FieldRefused) -> Faults:
    """Return what the service says of a field, under the field's own name."""
    name = wire_name(error.field).rpartition(".")[2]
    hint = f" ({error.hint})" if error.hint else ""
    return {name or FORM: error.message + hint}


def parse_payload(
    model: type[BaseModel], payload: dict[str, object]
) -> tuple[BaseModel | None, Faults]:
    """Read a payload; return what it is, or what is wrong with it."""
    try:
        return model.model_validate(payload), {}
    except ValidationError as error:
        return None, faults_of(error)
