"""Name a URL as one job does: its key, its hash, the form that is sent, and its pattern.

Two URLs with one key are one page. A sitemap never shares a key with a page: a sitemap that
redirects to the home page must not take the home page's place.
"""

from __future__ import annotations

from geomi.admit.normalize import identity
from geomi.admit.url_pattern import pattern_of
from geomi.model.config import CrawlConfig, FetchForm
from geomi.model.entry import EntryKind
from geomi.url.parse import Url, split, url_hash
from geomi.url.parse import parse as parse_url


class UrlIdentity:
    """The names of URLs in one job."""

    __slots__ = ("_rules", "_sends_keys", "counts_patterns")

    def __init__(self, config: CrawlConfig) -> None:
        self._rules = config.url
        self._sends_keys = config.url.fetch_form is FetchForm.KEY
        self.counts_patterns = config.scope.avoid_traps

    def key(self, url: Url) -> str:
        """Return what tells a page from another."""
        return identity(url, self._rules)

    def hash(self, url: Url, kind: EntryKind = EntryKind.PAGE) -> bytes:
        """Return what names an entry in the store."""
        return url_hash(key_of_kind(self.key(url), kind))

    def wire(self, url: Url) -> Url:
        """Return the form that goes over the wire (C-15)."""
        return (parse_url(self.key(url)) or url) if self._sends_keys else url

    def pattern(self, url: Url, key: str = "") -> str:
        """Name the endless space a URL may belong to; what the key leaves out tells nothing.

        Args:
            key: the URL's key, where it is at hand.
        """
        if not self.counts_patterns:
            return ""
        return pattern_of(split(key or self.key(url)) if may_hold_trackers(url.href) else url)


def key_of_kind(text: str, kind: EntryKind) -> str:
    """Keep a sitemap from taking a page's place: one that redirects home is not the home page."""
    return text if kind is EntryKind.PAGE else f"{kind} {text}"


def may_hold_trackers(href: str) -> bool:
    """Tell whether an href holds anything where trackers and sessions stand."""
    return "?" in href or ";" in href or "/(" in href
