"""Read what a server sent: a page into an article, a list into links.

Small bodies are parsed in place, large ones through the `Compute` port with a deadline. A sitemap
is read while it arrives, an /llms.txt when it is complete.

Two things are learned from pages on the way:
- `SelectorDrift` warns once when the job's own content selector stops matching on a host. No page
  is lost by that: the general rules find the content.
- `Soft404` recognises pages that come with status 200 and say that there is nothing. It learns a
  host's error page from its answers 404 and 410; it sends no request for that.
  `dedup/soft404.py` decides.
"""

from __future__ import annotations

from geomi.engine.drift import Drift
from geomi.engine.host.session import Asker
from geomi.engine.visit.privacy import Privacy
from geomi.engine.world import World
from geomi.extract.media import is_risky
from geomi.extract.page import extract
from geomi.model.job import CrawlJob
from geomi.model.page import Article, Fetched, Template

# Bodies up to this size cost a few milliseconds to parse and stay in the worker; larger ones go to
# a process that can be killed, because a native parser cannot be interrupted.
INLINE_BYTES = 256 * 1024
PARSE_DEADLINE_S = 20.0
MAX_PROBLEM_CHARS = 200


class Reader:
    """What turns the pages of one job into articles."""

    def __init__(self, world: World, job: CrawlJob) -> None:
        self._compute = world.compute
        self._rules = job.config.extract
        self._own = world.markdown_rules
        self._max_links = job.config.limits.max_links_per_page
        self._privacy = Privacy(job.config.safety)
        self._extract = world.meter.timed("extract", extract)
        self._drift = Drift(world.sink, job.id, job.config.extract.content)

    async def read(self, fetched: Fetched, asker: Asker) -> Article | None:
        """Read a page as it may be kept; None when that took too long or too much memory."""
        article = await self._read(fetched, asker)
        return self._privacy.read(article) if article is not None else None

    async def _read(self, fetched: Fetched, asker: Asker) -> Article | None:
        body, kind = fetched.body, fetched.header("content-type")
        if len(body) <= INLINE_BYTES and not is_risky(kind, fetched.url):
            return self._read_here(fetched, kind, asker.state.template)
        # Several large pages may wait for the one process that reads them. They are too few, and
        # too much of their text is their own, to look for a template in them.
        return await asker.hold(
            self._compute.extract(
                body,
                fetched.url,
                kind,
                self._rules,
                max_links=self._max_links,
                deadline_s=PARSE_DEADLINE_S,
            )
        )

    def _read_here(self, fetched: Fetched, kind: str, template: Template) -> Article:
        try:
            return self._extract(
                fetched.body,
                fetched.url,
                kind,
                self._rules,
                max_links=self._max_links,
                template=template,
                own=self._own,
            )
        except Exception as error:  # a fault of ours must cost this page alone, not the crawl
            problem = f"reading it failed: {type(error).__name__}: {error}"[:MAX_PROBLEM_CHARS]
            return Article(title="", markdown="", text="", links=(), unreadable=problem)

    def learn(self, article: Article, asker: Asker) -> None:
        """Learn from a page that is kept what its site repeats, and whether its selector fits."""
        asker.teach(article.sections)
        self._drift.note(asker.lease.host, article)
