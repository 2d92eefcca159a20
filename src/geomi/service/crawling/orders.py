"""Read a crawl as a tenant orders it into a plan, and refuse what could never work.

A crawl of a service has the default profile and the limits of API-02…API-06 and JOB-03, unless it
names another profile, which brings its own. A refusal names the field that is wrong, and nothing
has been written by then. A public host is refused while no contact address is set (LEG-08).
Whether a host is the operator's own is told by its name; nothing is looked up here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from geomi.admit import glob
from geomi.admit.address import is_public
from geomi.app import Plan, egress_rules, make_plan
from geomi.engine.jobs import read_seeds
from geomi.engine.visit.links import LinkGate
from geomi.engine.visit.rules import job_rules
from geomi.errors import ConfigError, FieldRefused, NameTaken, WrongState
from geomi.service.service import TenantService
from geomi.settings.layers import Layer, settings_layer
from geomi.settings.options import Settings
from geomi.settings.profiles import read_profile, refuse_outside, resolve_under_profile
from geomi.url.host import is_address
from geomi.url.parse import Url

MIB = 1024 * 1024
ORIGIN = "request"
PROFILE = "default"
# Those whose politeness is never less than RFC 9309 asks for, or a provider's own.
PROFILES = ("default", "docs", "knowledge-base")
MAX_SEEDS = 10  # API-01
MAX_SITEMAPS = 5
MAX_PATTERNS = 100
MAX_HOSTS = 100
# What is not said is this (API-02, API-05, JOB-03, JOB-04).
_DEFAULTS: dict[str, object] = {
    "limits.max_depth": 3,
    "limits.max_pages": 100,
    "limits.max_time_s": 3600.0,
    "limits.max_bytes": 100 * MIB,
    "limits.max_links_per_page": 500,
    "politeness.requests_per_second": 1.0,
}


@dataclass(frozen=True, slots=True)
class CrawlOrder:
    """What a tenant wants crawled.

    Args:
        settings: what the crawl is told beside its profile, by dotted key.
        provider: the key of the provider that it is for, if any.
        is_ours: its settings are the service's own, which no range binds.
    """

    collection: str
    seeds: tuple[str, ...]
    sitemaps: tuple[str, ...] = ()
    profile: str = PROFILE
    settings: Mapping[str, object] = field(default_factory=dict)
    provider: str = ""
    is_ours: bool = False


def plan_for(desk: TenantService, order: CrawlOrder) -> Plan:
    """Read an order; `FieldRefused` names what could never work."""
    with in_field("seedUrls"):
        seeds = read_seeds(order.seeds)
    with in_field("sitemapUrls"):
        sitemaps = read_seeds(order.sitemaps) if order.sitemaps else ()
    settings = desk.service.settings
    for name, urls in (("seedUrls", seeds), ("sitemapUrls", sitemaps)):
        refuse_without_contact(settings, urls, field=name)
    for key in ("scope.include", "scope.exclude"):
        with in_field(key):
            for text in _texts(order.settings.get(key)):
                glob.compile(text)
    with in_field("config"):
        resolved = resolve_under_profile(_layers(settings, order))
        if not order.is_ours:
            ranges = read_profile(PROFILE).service_ranges
            refuse_outside(read_profile(order.profile), resolved, ranges=ranges)
    with in_field("seedUrls"):
        plan = make_plan(
            [seed.href for seed in seeds], resolved, Layer(ORIGIN, {}), provider=order.provider
        )
    _refuse_lost_sitemaps(desk, plan, [url.href for url in sitemaps])
    return plan


def refuse_without_contact(settings: Settings, urls: tuple[Url, ...], *, field: str) -> None:
    """Raise for a public host while nobody can be asked about this crawler (LEG-08)."""
    if settings.contact:
        return
    for url in urls:
        if not is_operators_own(url, settings):
            raise FieldRefused(
                f"{url.host} is a public host, and no contact address is set",
                field=field,
                hint="start the service with GEOMI_CONTACT, a URL or an e-mail address",
            )


@contextmanager
def in_field(field: str) -> Iterator[None]:
    """Say in which field of a request a mistake is; the nearest that says so is right."""
    try:
        yield
    except (FieldRefused, NameTaken, WrongState):
        raise
    except ConfigError as error:
        raise FieldRefused(error.message, field=field, hint=error.hint) from error


def _layers(settings: Settings, order: CrawlOrder) -> list[Layer]:
    """Return what decides about a crawl, strongest first, without its profile."""
    asked = {key: value for key, value in order.settings.items() if value is not None}
    own: dict[str, object] = {
        **asked,
        "run.profile": order.profile,
        "analysis.collection": order.collection,
    }
    if order.sitemaps:
        own["scope.sitemap_urls"] = order.sitemaps
    layers = [Layer(ORIGIN, own), settings_layer(settings)]
    return layers + ([Layer("service", _DEFAULTS)] if order.profile == PROFILE else [])


def _refuse_lost_sitemaps(desk: TenantService, plan: Plan, sitemaps: list[str]) -> None:
    """Raise for a sitemap that the crawl's own rules would leave unread."""
    config = plan.resolved.config
    if not sitemaps:
        return
    rules = job_rules(desk.world, config, [seed.href for seed in plan.seeds])
    found = LinkGate(rules).sitemaps(sitemaps, plan.seeds[0])
    if len(found.discovered) < len(set(sitemaps)):
        why = found.excluded[0].detail if found.excluded else "this crawl reads no sitemaps"
        raise FieldRefused(f"a sitemap would not be read: {why}", field="sitemapUrls")


def _texts(value: object) -> list[str]:
    return [str(one) for one in value] if isinstance(value, list | tuple) else []


def is_private_host(url: Url) -> bool:
    """Say whether a URL names this machine or a private address."""
    is_local = url.host == "localhost" or url.host.endswith(".localhost")
    return is_local or (is_address(url.host) and not is_public(url.host.strip("[]")))


def is_operators_own(url: Url, settings: Settings) -> bool:
    """Say whether a URL leads to a server of the operator's own."""
    for one in egress_rules(settings).overrides:
        if one.host == url.host:
            return not is_public(one.address)
    return is_private_host(url)
