"""Read a crawl as somebody asked for it, and refuse what could never work before anything is
opened.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from geomi import __version__
from geomi.adapters.outlet import parquet
from geomi.engine import jobs
from geomi.engine.host.requests import check_requests
from geomi.engine.visit.rules import JobRules
from geomi.errors import ConfigError
from geomi.extract.dom import is_selector
from geomi.model.config import CrawlConfig, Extraction
from geomi.model.site import Channel
from geomi.settings.compliance import refuse_disguise
from geomi.settings.layers import Layer, Resolved
from geomi.url.parse import Url

NO_YEAR = 9999


@dataclass(frozen=True, slots=True)
class Plan:
    """A crawl as it was asked for; `flags` are what a resumed job's configuration is changed by.

    `make_plan` makes one that can work. From `provider` on the fields are those of the job.
    """

    seeds: tuple[Url, ...]
    resolved: Resolved
    flags: Layer
    resume: bool = False
    provider: str = ""
    channel: Channel = Channel.CRAWL
    channel_why: str = ""
    library: str = ""
    library_name: str = ""


def make_plan(
    urls: Sequence[str],
    resolved: Resolved,
    flags: Layer,
    *,
    resume: bool = False,
    provider: str = "",
) -> Plan:
    """Read a crawl's start URLs and refuse what can never work, before anything is opened."""
    seeds = jobs.read_seeds(urls)
    check_identity(resolved.config)
    check_selectors(resolved.config.extract)
    check_formats(resolved.run.format)
    check_storing(resolved.config)
    hrefs = [seed.href for seed in seeds]
    # Any year will do: no start URL is a calendar without an end.
    rules = JobRules(resolved.config, hrefs, now_year=NO_YEAR)
    for seed in seeds:
        jobs.admitted(rules, seed)
    return Plan(seeds, resolved, flags, resume, provider)


def check_formats(formats: Sequence[str]) -> None:
    """Raise for an output that could not be made when the crawl is over."""
    if "parquet" in formats:
        parquet.require()
    if "cdxj" in formats and "warc" not in formats:
        raise ConfigError("cdxj is an index of responses, which warc keeps", hint="-f warc,cdxj")


def check_storing(config: CrawlConfig) -> None:
    """Raise where responses are to be kept of pages of which only a preview may be."""
    if config.store.is_preview and config.store.raw:
        raise ConfigError(
            "store.text = preview keeps no responses, and store.raw = true asks for them",
            hint="leave out one of them",
        )


def check_selectors(rules: Extraction) -> None:
    """Raise for a selector that cannot be read; it would silently match nothing."""
    named = [("extract.content", rules.content)] if rules.content else []
    named += [("extract.remove", selector) for selector in rules.remove]
    for name, selector in named:
        if not is_selector(selector):
            raise ConfigError(f"`{name}`: `{selector}` is no CSS selector")


def check_identity(config: CrawlConfig) -> None:
    """Raise for a name that is not ours to use, or that no request can carry."""
    refuse_disguise(config)
    check_requests(config, version=__version__)
