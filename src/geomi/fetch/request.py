"""Build requests: the crawler's name, the accepted types, the conditions of a second visit.

Rules kept:
- The name is honest: `geomi/<version> (+<contact>)` unless the job has its own. The product token
  for robots.txt is the part before `/` (C-04, C-74).
- A request for a page accepts the types that the job takes; robots.txt and sitemaps accept any.
- Where only the headers of an answer count, geomi sends a GET all the same and reads no byte of the
  body: servers do not compress, and so do not name a coding, where they answer a HEAD.
- No cookies, and no header that belongs to the connection (HTTP-12, C-70).
- The job's own headers may have secrets, so only the hosts of its start URLs get them.
- What is shown to sign in goes to the origin it was kept for, and to no other (C-48).
- A second visit asks for the page only if it has changed (C-69). It sends the stored ETag, and the
  stored Last-Modified or else the Date that came with the page, only to the URL that answered with
  them. A job may send the date of its last crawl instead (seed 000 §5.3). Without stored values the
  request has no conditions.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from email.utils import formatdate

from geomi.errors import ConfigError
from geomi.model.config import CrawlConfig, HttpRules, Since
from geomi.model.entry import EntryKind, UrlEntry
from geomi.model.page import Fetched, Headers, PageRecord, Request, Sink
from geomi.model.request_log import RequestPurpose
from geomi.url.parse import Url
from geomi.url.parse import parse as parse_url

ACCEPT_ANY = "*/*"
OWNERSHIP_BYTES = 1024
SITEMAP_BYTES = 50 * 1024 * 1024 + 1  # C-82; the one byte more tells its reader that it was cut
# C-11: of these a longer one is read as far as the limit goes.
CUT = frozenset(
    {
        RequestPurpose.ROBOTS,
        RequestPurpose.SITEMAP,
        RequestPurpose.SERVER,
        RequestPurpose.OWNERSHIP,
    }
)
# Asked for as a browser asks for a page; anything else is asked for in whatever form it has.
LIKE_PAGES = frozenset({RequestPurpose.PAGE, RequestPurpose.SERVER})
# What the gate can undo; `*` or another name would invite what nobody here can read.
ENCODINGS = ("gzip", "x-gzip", "deflate", "br", "zstd", "identity")
MAX_HEADERS = 50
MAX_HEADER_CHARS = 8192  # what common servers read of one line
_PRODUCT_TOKEN = re.compile(r"[A-Za-z_-]+")  # RFC 9309 §2.2.1
_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,256}")  # RFC 9110 §5.6.2
_HEADER_VALUE = re.compile(r"[\x20-\x7e\t]+")
_SENDABLE = f"use 1 to {MAX_HEADER_CHARS} visible ASCII characters on one line"
_CONNECTION = "it belongs to the connection, which is geomi's"
_CONDITIONAL = "geomi sends what the last answer of the page allows"
_NOT_OURS = {
    "connection": _CONNECTION,
    "keep-alive": _CONNECTION,
    "te": _CONNECTION,
    "trailer": _CONNECTION,
    "transfer-encoding": _CONNECTION,
    "upgrade": _CONNECTION,
    "host": _CONNECTION,
    "expect": _CONNECTION,
    "content-length": "a crawl only sends GET, without a body",
    "accept-encoding": "geomi names the encodings it can undo",
    "cookie": "a crawl keeps and sends no cookies",
    "user-agent": "set `http.user_agent`, so that robots.txt is read for the same name",
    "range": "a page is fetched whole; its size has the limit `limits.max_page_bytes`",
    "if-none-match": _CONDITIONAL,
    "if-modified-since": _CONDITIONAL,
    "if-match": _CONDITIONAL,
    "if-unmodified-since": _CONDITIONAL,
    "if-range": _CONDITIONAL,
}
_PURPOSES = {
    EntryKind.PAGE: RequestPurpose.PAGE,
    EntryKind.SITEMAP: RequestPurpose.SITEMAP,
    EntryKind.LISTING: RequestPurpose.LISTING,
}


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
        self,
        entry: UrlEntry,
        url: Url,
        conditions: Headers = (),
        sink: Sink | None = None,
        signing_in: Headers = (),
    ) -> Request:
        """Ask for an entry under one of its spellings, of a page only what `conditions` leave.

        Args:
            signing_in: what is shown to this origin alone, in place of a job's own headers.
        """
        request = self._build(url.href, url.authority, _PURPOSES[entry.kind])
        if signing_in:
            replaced = {name for name, _ in signing_in}
            others = tuple(header for header in request.headers if header[0] not in replaced)
            request = replace(request, headers=others + signing_in, signed_in=True)
        if conditions or sink is not None:
            return replace(request, headers=request.headers + conditions, sink=sink)
        return request

    def ownership(self, url: Url) -> Request:
        """Ask for the token that proves whose a site is, without any header of a job's own."""
        return build(
            url.href,
            self._config,
            version=self._version,
            purpose=RequestPurpose.OWNERSHIP,
            sends_own_headers=False,
        )

    def robots(self, url: str, host: str) -> Request:
        """Ask for a robots.txt; a longer one is read as far as the limit goes (C-11)."""
        return self._build(url, host, RequestPurpose.ROBOTS)

    def server(self, url: Url) -> Request:
        """Ask for the headers of a page (SED-12)."""
        return self._build(url.href, url.authority, RequestPurpose.SERVER)

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


def check_requests(config: CrawlConfig, *, version: str) -> None:
    """Raise ConfigError for a name or a header that no request can carry; nothing has started."""
    check_http(config.http)
    product_token(user_agent(config, version=version))


def build(
    url: str,
    config: CrawlConfig,
    *,
    version: str,
    purpose: RequestPurpose = RequestPurpose.PAGE,
    sends_own_headers: bool = True,
) -> Request:
    """Build the request for a page, or for what leads to pages.

    Args:
        sends_own_headers: whether the job's headers go to this origin.
    """
    is_page, is_robots = purpose is RequestPurpose.PAGE, purpose is RequestPurpose.ROBOTS
    timeouts = config.robots if is_robots else config.http
    return Request(
        url=url,
        headers=_headers(config, purpose, version=version, own=sends_own_headers),
        connect_timeout_s=timeouts.connect_timeout_s,
        read_timeout_s=timeouts.read_timeout_s,
        total_timeout_s=timeouts.total_timeout_s,
        max_bytes=_max_bytes(config, purpose),
        types=config.http.content_types if is_page else (),
        truncate=purpose in CUT,
        purpose=purpose,
    )


def user_agent(config: CrawlConfig, *, version: str) -> str:
    """Return the name a job goes by."""
    if config.http.user_agent:
        return config.http.user_agent
    contact = config.http.contact
    return f"geomi/{version} (+{contact})" if contact else f"geomi/{version}"


def product_token(user_agent: str) -> str:
    """Return the name that robots.txt knows us by; raise ConfigError if it has none (C-04)."""
    token = user_agent.partition("/")[0].strip()
    if not _PRODUCT_TOKEN.fullmatch(token):
        raise ConfigError(
            f"user agent `{user_agent}` has no product token that robots.txt can name",
            hint="begin it with letters, `_` or `-` and a slash: `my-crawler/1.0 (+https://…)`",
        )
    return token


def check_http(rules: HttpRules) -> None:
    """Raise ConfigError for anything that a request of this job could not carry."""
    values = {
        "user_agent": rules.user_agent,
        "contact": rules.contact,
        "accept": rules.accept,
        "accept_language": rules.accept_language,
        "accept_encoding": rules.accept_encoding,
    }
    for name, value in values.items():
        if value and not is_sendable(value):
            raise ConfigError(
                f"`http.{name}` has a value that cannot be sent: `{value[:80]}`", hint=_SENDABLE
            )
    _check_encodings(rules.accept_encoding)
    check_headers(rules.headers)


def check_headers(headers: Headers) -> None:
    """Raise ConfigError for a header that a job may not set."""
    if len(headers) > MAX_HEADERS:
        raise ConfigError(f"{len(headers)} headers are set; the limit is {MAX_HEADERS}")
    for name, value in headers:
        if not _HEADER_NAME.fullmatch(name):
            raise ConfigError(f"`{name}` is not the name of a header")
        if name.lower() in _NOT_OURS or name.lower().startswith("proxy-"):
            raise ConfigError(
                f"header `{name}` cannot be set", hint=_NOT_OURS.get(name.lower(), "")
            )
        if not is_sendable(value):
            raise ConfigError(f"header `{name}` has a value that cannot be sent", hint=_SENDABLE)


def is_sendable(value: str) -> bool:
    """Return whether a value can stand in a header; an ETag that came from a server may not."""
    return len(value) <= MAX_HEADER_CHARS and bool(_HEADER_VALUE.fullmatch(value))


def _check_encodings(accepted: str) -> None:
    for coding in accepted.split(","):
        name = coding.partition(";")[0].strip().lower()
        if name and name not in ENCODINGS:
            raise ConfigError(
                f"`http.accept_encoding` names `{name}`, which geomi cannot undo",
                hint=f"choose among {', '.join(ENCODINGS)}",
            )


def _headers(config: CrawlConfig, purpose: RequestPurpose, *, version: str, own: bool) -> Headers:
    http = config.http
    headers = {
        "user-agent": user_agent(config, version=version),
        "accept": http.accept if purpose in LIKE_PAGES else ACCEPT_ANY,
        "accept-language": http.accept_language,
        "accept-encoding": http.accept_encoding,
    }
    if own:
        headers |= {name.lower(): value for name, value in http.headers}
    return tuple((name, value) for name, value in headers.items() if value)


def _max_bytes(config: CrawlConfig, purpose: RequestPurpose) -> int:
    match purpose:
        case RequestPurpose.ROBOTS:
            return config.robots.max_bytes
        case RequestPurpose.SITEMAP:
            return SITEMAP_BYTES
        case RequestPurpose.PAGE | RequestPurpose.LISTING:
            return config.limits.max_page_bytes
        case RequestPurpose.OWNERSHIP:
            return OWNERSHIP_BYTES
        case RequestPurpose.SERVER:
            return 0


def conditions(page: PageRecord, url: str, rules: HttpRules) -> Headers:
    """Return the headers that ask for a URL only if it is no longer the page that is stored."""
    if not rules.conditional or url != page.final_url:
        return ()
    since = page.last_modified
    if rules.since is Since.LAST_CRAWLED:
        since = formatdate(page.fetched_at_s, usegmt=True)
    return unless_changed(page.etag, since)


def unless_changed(etag: str, last_modified: str) -> Headers:
    """Return the headers that ask for what no longer has this validator and this date."""
    told = (("if-none-match", etag), ("if-modified-since", last_modified))
    return tuple((name, value) for name, value in told if is_sendable(value))


def modified(fetched: Fetched) -> str:
    """Return the date to send with the next visit (RFC 9110 §13.1.3)."""
    return fetched.header("last-modified") or fetched.header("date")
