"""Build the requests of one job, and decide which hosts may get the job's own headers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from geomi.fetch.request import build, check_http, product_token, user_agent
from geomi.model.config import CrawlConfig
from geomi.model.entry import EntryKind, UrlEntry
from geomi.model.page import Headers, Request, Sink
from geomi.model.request_log import RequestPurpose
from geomi.url.parse import Url
from geomi.url.parse import parse as parse_url

_PURPOSES = {
    EntryKind.PAGE: RequestPurpose.PAGE,
    EntryKind.SITEMAP: RequestPurpose.SITEMAP,
    EntryKind.LISTING: RequestPurpose.LISTING,
}


def check_requests(config: CrawlConfig, *, version: str) -> None:
    """Raise ConfigError for a name or a header that no request can carry; nothing has started."""
    check_http(config.http)
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
        # All requests of a kind, but for their URL.
        self._forms: dict[tuple[RequestPurpose, bool], Request] = {}
        self.token = product_token(user_agent(config, version=version))

    def page(
        self, entry: UrlEntry, url: Url, conditions: Headers = (), sink: Sink | None = None
    ) -> Request:
        """Ask for an entry under one of its spellings, of a page only what `conditions` leave."""
        request = self._build(url.href, url.authority, _PURPOSES[entry.kind])
        if sink is not None:
            return replace(request, sink=sink)
        if conditions:
            return replace(request, headers=request.headers + conditions)
        return request

    def robots(self, url: str, host: str) -> Request:
        """Ask for a robots.txt; a longer one is read as far as the limit goes (C-11)."""
        return self._build(url, host, RequestPurpose.ROBOTS)

    def _build(self, url: str, host: str, purpose: RequestPurpose) -> Request:
        key = purpose, host in self._trusted
        form = self._forms.get(key)
        if form is None:
            form = self._forms[key] = build(
                url,
                self._config,
                version=self._version,
                purpose=purpose,
                sends_own_headers=host in self._trusted,
            )
        return replace(form, url=url)
