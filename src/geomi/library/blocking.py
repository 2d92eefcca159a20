"""The crawler for programs without an event loop: it runs in a thread of its own."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Coroutine, Iterable, Iterator
from concurrent.futures import Future
from pathlib import Path
from types import TracebackType
from typing import TypeVar

from geomi.library.crawler import Crawler
from geomi.library.options import read_options
from geomi.library.page import Page
from geomi.model.markdown import NO_RULES, MarkdownRules

T = TypeVar("T")


def scrape(url: str, *, markdown_rules: MarkdownRules = NO_RULES, **options: object) -> Page:
    """Fetch one page; `NothingFetched` says what kept it away."""
    crawler = Crawler(configured=read_options(options), markdown_rules=markdown_rules)
    with _Background(crawler) as background:
        return background.call(background.crawler.scrape(url))


def crawl(
    urls: str | Iterable[str],
    *,
    output: str | Path | None = None,
    resume: bool = False,
    markdown_rules: MarkdownRules = NO_RULES,
    **options: object,
) -> Iterator[Page]:
    """Crawl from these URLs and yield each page once it is committed."""
    seeds = [urls] if isinstance(urls, str) else list(urls)
    crawler = Crawler(output, configured=read_options(options), markdown_rules=markdown_rules)
    return _pages(crawler, seeds, resume=resume)


def _pages(crawler: Crawler, seeds: list[str], *, resume: bool) -> Iterator[Page]:
    with _Background(crawler) as background:
        pages = crawler.crawl(*seeds, resume=resume)
        try:
            while (page := background.call(_next(pages))) is not None:
                yield page
        finally:
            background.call(pages.aclose())


async def _next(pages: AsyncGenerator[Page, None]) -> Page | None:
    return await anext(pages, None)


class _Background:
    """A crawler on an event loop of its own, up between `with` and its end."""

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        self._thread = threading.Thread(target=self._live, name="geomi-crawler")
        self._started: Future[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = Future()

    def call(self, coroutine: Coroutine[object, object, T]) -> T:
        """Run a coroutine over there and wait for it; if we are interrupted, so is it."""
        loop, _ = self._started.result()
        answer = asyncio.run_coroutine_threadsafe(coroutine, loop)
        try:
            return answer.result()
        except BaseException:
            answer.cancel()
            raise

    def __enter__(self) -> _Background:
        self._thread.start()
        try:
            self._started.result()
        except BaseException:
            self._thread.join()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        loop, over = self._started.result()
        loop.call_soon_threadsafe(over.set)
        self._thread.join()

    def _live(self) -> None:
        try:
            asyncio.run(self._host())
        except BaseException as error:
            if self._started.done():
                raise
            self._started.set_exception(error)

    async def _host(self) -> None:
        async with self.crawler:
            over = asyncio.Event()
            self._started.set_result((asyncio.get_running_loop(), over))
            await over.wait()
