"""What a second visit may ask: the page, unless it is still the one that is stored (C-69).

Rules kept:
- Validators belong to the URL that answered with them and are sent to no other.
- The stored ETag, and the stored Last-Modified or else the Date that came with the page; a job may
  send the date of its last crawl instead (seed 000 §5.3). Nothing where nothing was stored.
"""

from __future__ import annotations

from email.utils import formatdate

from geomi.fetch.request import is_sendable
from geomi.model.config import HttpRules, Since
from geomi.model.page import Fetched, Headers, PageRecord


def conditions(page: PageRecord, url: str, rules: HttpRules) -> Headers:
    """Return the headers that ask for a URL only if it is no longer the page that is stored."""
    if not rules.conditional or url != page.final_url:
        return ()
    since = page.last_modified
    if rules.since is Since.LAST_CRAWLED:
        since = formatdate(page.fetched_at_s, usegmt=True)
    told = (("if-none-match", page.etag), ("if-modified-since", since))
    return tuple((name, value) for name, value in told if is_sendable(value))


def modified(fetched: Fetched) -> str:
    """Return the date to send with the next visit (RFC 9110 §13.1.3)."""
    return fetched.header("last-modified") or fetched.header("date")
