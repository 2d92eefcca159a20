"""Texts that can be written and sent.

A string may hold half of a sign that takes two units of UTF-16: broken pages have them, and so has
whatever was typed in another encoding. No database, file or server takes such a half.
"""

from __future__ import annotations


def whole_signs(text: str) -> str:
    """Return a text with a question mark in place of each half of a sign."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()
