"""A list of URLs on its way in: a sitemap is read while it comes, an /llms.txt when it is here."""

from __future__ import annotations

from geomi.engine.visit.links import Found, LinkGate
from geomi.model.entry import EntryKind, UrlEntry
from geomi.model.page import Fetched, Sink
from geomi.seed import llms
from geomi.seed.sitemap import SitemapReader


class ListReader:
    """Reads the list behind one entry; for a page it does nothing."""

    def __init__(self, entry: UrlEntry) -> None:
        self._entry = entry
        self._sitemap = SitemapReader() if entry.kind is EntryKind.SITEMAP else None

    @property
    def sink(self) -> Sink | None:
        """Where the body goes, so that fifty megabytes are never in memory at once."""
        return self._sitemap.feed if self._sitemap is not None else None

    def found(self, fetched: Fetched, gate: LinkGate, *, wall_s: float) -> tuple[Found, str]:
        """Return what the list names, after the rules, and what is wrong with it."""
        if self._sitemap is None:
            return gate.admit_listing(self._entry, fetched.url, llms.read(fetched.body)), ""
        content = self._sitemap.close()
        return gate.admit_sitemap(self._entry, content, wall_s=wall_s), content.problem
