"""The Python API of geomi: options come in, pages go out as they are committed.

    page = geomi.scrape("https://example.org/")
    for page in geomi.crawl("https://example.org/", max_pages=50):
        print(page.url, len(page.markdown))

    async with geomi.Crawler("geomi-data", depth=2) as crawler:
        async for page in crawler.crawl("https://example.org/"):
            ...

Options are those of the command line, by name (`max_pages=`, `user_agent=`, `allow_private=`), and
any other setting with `__` for its dot (`http__max_retries=0`). It never reads the environment or a
configuration file, and never prints.
"""

from __future__ import annotations

from geomi.library.blocking import crawl, scrape
from geomi.library.crawler import Crawler
from geomi.library.options import Options
from geomi.library.page import Link, Page
from geomi.model.markdown import Tag

__all__ = ["Crawler", "Link", "Options", "Page", "Tag", "crawl", "scrape"]
