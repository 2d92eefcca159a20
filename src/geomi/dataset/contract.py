"""Read, write and merge contracts as JSON (`domain_metadata.json`, SED-09…SED-13).

Rules kept:
- Keys stand in the order of seed 002 §3.2, and what the catalogue adds comes after them; the same
  contract is always the same bytes.
- URLs follow the number of their raw file and the index of their record (C-92). Of equal URLs the
  first is kept, and the very first gives the `domain_id`.
- A contract never has the body of a file (C-55).
- A contract is about one domain: JSON with a URL or a host of another domain is not a contract.
"""

from __future__ import annotations

from collections.abc import Iterable

import orjson

from geomi.dataset.json_fields import (
    Fields,
    as_object,
    count,
    flag,
    inner,
    partition,
    partition_fields,
    read_object,
    rows,
    seed_url,
    text,
    url_fields,
    wrong,
)
from geomi.errors import SeedError
from geomi.model.dataset.contract import Contract, HostFacts, RobotsFacts, ServerInfo, SitemapFacts
from geomi.model.dataset.seed import ErrorType, PlacedUrl, SeedUrl
from geomi.url.host import MAX_NAME_CHARS, is_within
from geomi.url.parse import parse

MAX_CONTRACT_URLS = 1_000_000  # five raw files that name nothing but one domain
MAX_CONTRACT_BYTES = 512 * 1024 * 1024
MAX_CONTRACT_HOSTS = 1000  # the most that seeds.max_hosts may be


def merge_urls(placed: Iterable[PlacedUrl]) -> tuple[PlacedUrl, ...]:
    """Bring URLs into the order of their records, each once (C-52, C-92)."""
    found: dict[str, PlacedUrl] = {}
    for one in sorted(placed, key=lambda one: one.at):
        found.setdefault(one.seed.url, one)
    if len(found) > MAX_CONTRACT_URLS:
        raise SeedError(
            f"the domain has {len(found)} URLs; the limit is {MAX_CONTRACT_URLS}",
            kind=ErrorType.VALIDATION,
            hint="put some of its raw files into another partition",
        )
    return tuple(found.values())


def write_contract(contract: Contract) -> bytes:
    """Write a contract as JSON, indented by 2 (SED-25)."""
    technical: dict[str, object] = _host(contract.facts)
    if contract.hosts:
        technical["hosts"] = {name: _host(facts) for name, facts in contract.hosts.items()}
    written = {
        "domain": contract.domain,
        "domain_id": contract.domain_id,
        "registrable_domain": contract.domain,
        "urls": [url_fields(one) for one in contract.urls],
        "technical_metadata": technical,
        "processing_metadata": {
            "processed_at": contract.processed_at,
            "processing_duration_ms": contract.processing_duration_ms,
            "total_urls": len(contract.urls),
            "partition_info": partition_fields(contract.partition),
        },
    }
    return orjson.dumps(written, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def read_contract(data: bytes) -> Contract | None:
    """Read a contract; None where it is none of ours."""
    if len(data) > MAX_CONTRACT_BYTES:
        return None
    try:
        return _contract(read_object(data))
    except SeedError:
        return None


def _host(facts: HostFacts) -> dict[str, object]:
    return {
        "robots_txt": _robots(facts.robots_txt),
        "sitemap_xml": _sitemap(facts.sitemap_xml),
        "server_info": {
            "server": facts.server_info.server,
            "content_encoding": facts.server_info.content_encoding,
            "supports_https": facts.server_info.supports_https,
            "response_time_avg_ms": facts.server_info.response_time_avg_ms,
        },
    }


def _robots(facts: RobotsFacts) -> dict[str, object]:
    if not facts.exists:
        return {"exists": False, "error": facts.error, "fetched_at": facts.fetched_at}
    written: dict[str, object] = {
        "exists": True,
        "size": facts.size,
        "last_modified": facts.last_modified,
        "allows_crawling": facts.allows_crawling,
        "sitemap_urls": facts.sitemap_urls,
        "fetched_at": facts.fetched_at,
    }
    return written if facts.max_age_s is None else {**written, "max_age_s": facts.max_age_s}


def _sitemap(facts: SitemapFacts) -> dict[str, object]:
    if not facts.exists:
        return {"exists": False, "error": facts.error, "fetched_at": facts.fetched_at}
    written: dict[str, object] = {
        "exists": True,
        "size": facts.size,
        "last_modified": facts.last_modified,
        "url_count": facts.url_count,
        "last_updated": facts.last_updated,
    }
    if facts.sitemap_count is not None:  # an index (C-54)
        written |= {"sitemap_count": facts.sitemap_count, "sitemaps_read": facts.sitemaps_read}
    written |= {"url": facts.url, "fetched_at": facts.fetched_at}
    return written | ({"error": facts.error} if facts.error else {})


def _contract(found: Fields) -> Contract:
    domain = text(found, "domain")
    technical, processing = inner(found, "technical_metadata"), inner(found, "processing_metadata")
    urls = rows(found, "urls")
    hosts = as_object(technical.get("hosts", {}), "hosts")
    if text(found, "registrable_domain") != domain or count(processing, "total_urls") != len(urls):
        raise wrong("it contradicts itself")
    if len(urls) > MAX_CONTRACT_URLS or len(hosts) > MAX_CONTRACT_HOSTS:
        raise wrong("it has more than a contract may have")
    return Contract(
        domain=domain,
        domain_id=text(found, "domain_id"),
        partition=partition(inner(processing, "partition_info")),
        urls=tuple(_own_url(one, domain) for one in urls),
        facts=_read_host(technical),
        processed_at=text(processing, "processed_at"),
        processing_duration_ms=count(processing, "processing_duration_ms"),
        hosts={name: _own_host(name, value, domain) for name, value in hosts.items()},
    )


def _own_url(value: object, domain: str) -> SeedUrl:
    """Return a URL within the domain: somebody may have written another, and its host is asked."""
    seed = seed_url(value)
    if not _is_own(seed.url, domain):
        raise wrong("a URL is not within its domain")
    return seed


def _own_host(name: str, value: object, domain: str) -> HostFacts:
    """Return the facts of a host within the domain: a crawl believes them, for all its jobs."""
    if len(name) > MAX_NAME_CHARS or not _is_own(f"https://{name}/", domain):
        raise wrong("a host is not within its domain")
    return _read_host(as_object(value, name))


def _is_own(href: str, domain: str) -> bool:
    """Whether a URL is within a domain, and written as we would have written it."""
    url = parse(href)
    return url is not None and url.href == href and is_within(url.host, domain)


def _read_host(found: Fields) -> HostFacts:
    server = inner(found, "server_info")
    return HostFacts(
        _read_robots(inner(found, "robots_txt")),
        _read_sitemap(inner(found, "sitemap_xml")),
        ServerInfo(
            _maybe_text(server, "server"),
            _maybe_text(server, "content_encoding"),
            flag(server, "supports_https"),
            _maybe_count(server, "response_time_avg_ms"),
        ),
    )


def _read_robots(found: Fields) -> RobotsFacts:
    fetched_at = _maybe_text(found, "fetched_at")
    if not flag(found, "exists"):
        return RobotsFacts(False, fetched_at=fetched_at, error=text(found, "error"))
    named = rows(found, "sitemap_urls")
    return RobotsFacts(
        True,
        size=count(found, "size"),
        last_modified=_maybe_text(found, "last_modified"),
        allows_crawling=flag(found, "allows_crawling"),
        sitemap_urls=tuple(text({"a sitemap": one}, "a sitemap") for one in named),
        fetched_at=fetched_at,
        max_age_s=_maybe_count(found, "max_age_s"),
    )


def _read_sitemap(found: Fields) -> SitemapFacts:
    fetched_at = _maybe_text(found, "fetched_at")
    if not flag(found, "exists"):
        return SitemapFacts(False, fetched_at=fetched_at, error=text(found, "error"))
    return SitemapFacts(
        True,
        size=count(found, "size"),
        last_modified=_maybe_text(found, "last_modified"),
        url_count=_maybe_count(found, "url_count"),
        last_updated=_maybe_text(found, "last_updated"),
        sitemap_count=_maybe_count(found, "sitemap_count"),
        sitemaps_read=_maybe_count(found, "sitemaps_read"),
        url=text(found, "url"),
        fetched_at=fetched_at,
        error=_maybe_text(found, "error") or "",
    )


def _maybe_text(found: Fields, name: str) -> str | None:
    return None if found.get(name) is None else text(found, name)


def _maybe_count(found: Fields, name: str) -> int | None:
    return None if found.get(name) is None else count(found, name)
