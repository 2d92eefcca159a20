"""Markdown of a fragment, the way a page gets it."""

from __future__ import annotations

from geomi.extract.content.prune import clear, drop_boilerplate
from geomi.extract.dom import parse_html
from geomi.extract.links import read_links
from geomi.extract.markdown.writer import salvage, to_markdown
from geomi.model.config import Extraction
from geomi.model.markdown import MarkdownRules

BASE = "http://a.test/docs/page"


def write(
    html: str, rules: Extraction | None = None, own: MarkdownRules | None = None, head: str = ""
) -> str:
    """Write the body of a page as markdown."""
    document = parse_html(f"{head}<body>{html}".encode(), "text/html")
    targets = read_links(document, BASE, 1000).targets
    body = document.select_one("body")
    assert body is not None
    salvage(document)
    clear(body, ())
    drop_boilerplate(body)
    return to_markdown(body, BASE, targets, rules or Extraction(), own or {}).markdown
