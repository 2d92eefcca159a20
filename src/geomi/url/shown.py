"""A text that may hold a URL, as a message or a file of ours shows it: without user-info."""

from __future__ import annotations

import re

# Up to the last `@` before a path: a password may hold one. Whatever the scheme is.
_USER_INFO = re.compile(r"//[^/?#\s]*@")


def without_user(text: str) -> str:
    """Take out what stands between `//` and `@`: a name, and often its password."""
    return _USER_INFO.sub("//", text)
