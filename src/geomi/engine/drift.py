"""Noticing that a selector of the job no longer finds the content of a site: the site has changed.

Where a job's own selector matches nothing, the ladder finds the content as for any other site, so
that no page is lost; but somebody should look at the selector.
"""

from __future__ import annotations

from geomi.extract.document import WITHOUT_TREE
from geomi.extract.ladder import SELECTOR
from geomi.model.event import Warned
from geomi.model.page import Article
from geomi.ports.sink import EventSink

# A selector that misses half of so many pages in a row is told. A few pages without the usual frame
# (an index, a licence) are normal.
WINDOW_PAGES = 10
MISSED_SHARE = 0.5
MAX_HOSTS = 1000  # under watch at once; the one that was met first makes room


class Drift:
    """How often the content selector of one job has matched, by host, as one worker saw it."""

    def __init__(self, sink: EventSink, job: str, selector: str) -> None:
        self._sink = sink
        self._job = job
        self._selector = selector
        self._windows: dict[str, list[bool]] = {}  # of each host: whether its last pages matched
        self._told: set[str] = set()

    def note(self, host: str, article: Article) -> None:
        """Count a page; warn once when the selector of its host has stopped matching."""
        if not self._selector or host in self._told or article.strategy in WITHOUT_TREE:
            return
        window = self._windows.setdefault(host, [])
        window.append(article.strategy == SELECTOR)
        if len(window) == WINDOW_PAGES:
            del self._windows[host]
            if sum(window) <= WINDOW_PAGES * MISSED_SHARE:
                self._warn(host, sum(window))
        elif len(self._windows) > MAX_HOSTS:
            del self._windows[next(iter(self._windows))]

    def _warn(self, host: str, matched: int) -> None:
        if len(self._told) < MAX_HOSTS:
            self._told.add(host)
        self._sink.emit(
            Warned(
                self._job,
                f"`extract.content` ({self._selector}) matched {matched} of the last "
                f"{WINDOW_PAGES} pages of `{host}`",
                "the site may have changed; look at a page of it and mend the selector",
            )
        )
