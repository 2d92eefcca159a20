"""A crawl from contracts: where they are, and which of their URLs the crawl's own rules take."""

from __future__ import annotations

import re
from collections.abc import Sequence

from geomi.adapters.bucket_url import names_bucket
from geomi.admit.rules import Admission
from geomi.app.datasets import open_dataset
from geomi.app.plan import NO_YEAR
from geomi.dataset.partition import checked_filter
from geomi.engine.visit.links import LinkGate
from geomi.errors import ConfigError
from geomi.model.config import CrawlConfig
from geomi.model.dataset.contract import Handover, SkippedDomain
from geomi.model.dataset.seed import PartitionFilter
from geomi.model.site import SiteRule
from geomi.model.verdict import Verdict
from geomi.ports.dataset import Dataset
from geomi.url.parse import Url, split

FORM = "DATASET/prod/country=sg/category=news/date=2026-01-28"

_PLACE = re.compile(
    r"(?P<root>.*?)(?:(?:^|/)prod(?:/country=(?P<country>[^/]+)(?:/category=(?P<category>[^/]+)"
    r"(?:/date=(?P<date>[^/]+))?)?)?)?/*",
    re.DOTALL,
)


def open_contracts(text: str) -> tuple[Dataset, PartitionFilter]:
    """Open a dataset by the place of its contracts: `prod/…` of it, or its root."""
    place, mark, options = text.partition("?") if names_bucket(text) else (text, "", "")
    found = _PLACE.fullmatch(place)
    assert found is not None, "it matches whatever is no partition as a root"
    which = checked_filter(found["country"], found["category"], found["date"])
    root = found["root"] or ("/" if place.startswith("/") else ".")
    if "/prod/country=" in f"/{root}":
        raise ConfigError(f"`{text}` is no place of contracts", hint=f"write {FORM}")
    return open_dataset(root + mark + options), which


def admitted_seeds(
    handover: Handover, config: CrawlConfig, reviews: Sequence[SiteRule]
) -> tuple[list[str], list[SkippedDomain]]:
    """Part the start URLs that a crawl's own rules take from those that they exclude."""
    gate = LinkGate(config, Admission(config, handover.seeds, now_year=NO_YEAR), reviews)
    taken: list[str] = []
    left_out: list[SkippedDomain] = []
    for url in map(split, handover.seeds):
        reason = _exclusion(gate, url)
        if reason:
            left_out.append(SkippedDomain(url.host, f"{url.href} is excluded by rule {reason}"))
        else:
            taken.append(url.href)
    return taken, left_out


def _exclusion(gate: LinkGate, url: Url) -> str:
    answer = gate.seed(url)
    return f"{answer.rule}: {answer.detail}" if isinstance(answer, Verdict) else ""
