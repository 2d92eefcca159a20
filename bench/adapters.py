"""Expose the product to the scorers in `../shared/harness`, one short function each."""

from __future__ import annotations

import re

from geomi.admit.normalize import identity
from geomi.extract.page import extract as extract_page
from geomi.model.config import Extraction, Links, UrlRules
from geomi.robots.match import judge
from geomi.robots.parse import parse as parse_robots
from geomi.url.parse import href, parse


def parse_url(text: str, base: str | None = None) -> str | None:
    """Return the WHATWG href of a URL of any scheme, or None."""
    return href(text, base)


def url_key(text: str, base: str | None = None) -> str | None:
    """Return the identity of an http(s) URL under the default rules, or None."""
    url = parse(text, base)
    return None if url is None else identity(url, UrlRules())


def robots(text: str, agent: str, url: str) -> bool:
    """Say whether a robots.txt lets an agent fetch a URL whose path stays as it is written."""
    target = re.sub(r"^\w+://[^/?#]*", "", url).partition("#")[0]
    file = parse_robots(text.encode("utf-8", "surrogatepass"))
    return judge(file, agent, "/" + target.removeprefix("/")).allowed


def extract(html: str, url: str) -> str:
    """Return a page's main content as markdown with the text of links only, as `docs` writes it."""
    body = html.encode("utf-8", "replace")
    rules = Extraction(links=Links.TEXT)
    return extract_page(body, url, "text/html; charset=utf-8", rules).markdown
