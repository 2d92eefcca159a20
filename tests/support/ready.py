"""A source of external documents on loopback, in Context7's form: libraries, and what they say.

source = Stock({"/acme/docs": "Acme"})
with Site(source.routes) as site:
    ...  # GEOMI_CONTEXT7_URL is site.url("")
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.support.server import Answer, Raw, Reply, Route, Seen

SEARCH, CONTEXT = "/api/v2/libs/search", "/api/v2/context"


class Stock:
    """Answers as Context7 does.

    Args:
        libraries: title by id.
        empty: say nothing about any of them.
        pages: of which page the answer to a question is, by a word of the question.

    `trouble` is answered first, one for each request, and then no more.
    """

    def __init__(
        self,
        libraries: Mapping[str, str],
        *,
        empty: bool = False,
        pages: Callable[[str], str] = lambda _: "",
    ) -> None:
        self.libraries = dict(libraries)
        self.pages = pages
        self.empty = empty
        self.trouble: list[Reply | Raw] = []
        self.moved: dict[str, str] = {}
        self.routes: dict[str, Route] = {SEARCH: self._search, CONTEXT: self._context}

    def _search(self, seen: Seen) -> Answer:
        if self.trouble:
            return self.trouble.pop(0)
        found = [library(key, title) for key, title in self.libraries.items()]
        return told({"results": found, "searchFilterApplied": False})

    def _context(self, seen: Seen) -> Answer:
        if self.trouble:
            return self.trouble.pop(0)
        asked = {name: values[0] for name, values in parse_qs(urlsplit(seen.target).query).items()}
        key = asked.get("libraryId", "")
        if key in self.moved:
            return told({"error": "moved", "redirectUrl": self.moved[key]}, status=301)
        if key not in self.libraries:
            return told({"error": "library_not_found"}, status=404)
        question = "" if self.empty else asked["query"]
        return told(says(self.libraries[key], question, page=self.pages(question)))


def library(key: str, title: str, **changes: object) -> dict[str, object]:
    """Describe a library as a search does."""
    described = {"id": key, "title": title, "state": "finalized", "totalSnippets": 12}
    return described | {"description": "Documents", "trustScore": 9.1} | changes


def says(title: str, question: str, *, page: str = "") -> dict[str, Any]:
    """Answer a question about a library; an empty one has no answer."""
    if not question:
        return {"codeSnippets": [], "infoSnippets": []}
    words = " ".join(f"{word} {title}" for word in question.split())
    return {
        "infoSnippets": [
            {
                "pageId": "https://docs.acme.test/guide",
                "breadcrumb": f"{page} > About {question}" if page else f"About {question}",
                "content": f"{title} explains {words} in its guide, at length and with care.",
                "contentTokens": 40,
            }
        ],
        "codeSnippets": [
            {
                "codeTitle": f"How {title} does it",
                "codeDescription": f"A first call: {question}.",
                "codeId": "https://docs.acme.test/code",
                "codeLanguage": "python",
                "codeList": [{"language": "python", "code": f"acme.call({question!r})\n"}],
            }
        ],
    }


def told(value: object, *, status: int = 200, headers: tuple[tuple[str, str], ...] = ()) -> Reply:
    """Answer with JSON."""
    return Reply(json.dumps(value).encode(), status, "application/json", headers)


def busy(status: int = 503, retry_after: str = "0") -> Reply:
    """Answer that there is too much to do, and when to come again."""
    return told({"error": "busy"}, status=status, headers=(("Retry-After", retry_after),))
