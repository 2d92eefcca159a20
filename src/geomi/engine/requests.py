"""The requests of one job: what each kind asks for, and who may see the job's own headers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from geomi.fetch.request import build, check_headers, product_token, user_agent
from geomi.model.config import CrawlConfig
from geomi.model.entry import EntryKind, UrlEntry
from geomi.model.page import Request
from geomi.url.parse import Url
from geomi.url.parse import parse as parse_url

SITEMAP_BYTES = 50 * 1024 * 1024  # C-82


def check_requests(config: CrawlConfig, *, version: str) -> None:
    """Raise ConfigError for a name or a header that no request can carry; nothing has started."""
    check_headers(config.http.headers)
    product_token(user_agent(config, version=version))


class Requests:
    """Builds requests; headers given for a job go to the hosts of its seeds and nowhere else.

    A header can be a secret (`Authorization`). A crawl may be led to any host by a link or a
    redirect, so it is shown only to those the crawl was started on.
    """

    def __init__(self, config: CrawlConfig, seeds: Sequence[str], *, version: str) -> None:
        self._config = config
        self._version = version
        self._trusted = frozenset(url.authority for url in map(parse_url, seeds) if url)
        self.token = product_token(user_agent(config, version=version))

    def page(self, entry: UrlEntry, url: Url) -> Request:
        """Ask for an entry under one of its spellings: a page of the wanted types, or a sitemap."""
        request = self._build(url.href, url.authority)
        if entry.kind is EntryKind.SITEMAP:
            return replace(request, types=(), max_bytes=SITEMAP_BYTES)
        return request

    def robots(self, url: str, host: str) -> Request:
        """Ask for a robots.txt; a longer one is read as far as the limit goes (C-11)."""
        limit = self._config.robots.max_bytes
        return replace(self._build(url, host), types=(), max_bytes=limit, truncate=True)

    def _build(self, url: str, host: str) -> Request:
        return build(
            url, self._config, version=self._version, sends_own_headers=host in self._trusted
        )
