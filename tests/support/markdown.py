"""Markdown as a parser of CommonMark reads it, which knows nothing of how we write or cut it."""

from __future__ import annotations

from markdown_it import MarkdownIt


def fences(markdown: str) -> list[tuple[str, str]]:
    """Return language and text of each fenced block of code."""
    tokens = MarkdownIt().parse(markdown)
    return [(token.info, token.content) for token in tokens if token.type == "fence"]
