"""Pages that come with status 200 and say that there is nothing (soft 404).

What an error page of a host looks like is learnt from those that it sends with status 404 or 410
anyway; nothing is asked for the sake of knowing. `dedup/soft404.py` decides.
"""

from __future__ import annotations

from geomi.dedup.sketch import sketch
from geomi.dedup.soft404 import MAX_TEMPLATES, Sign, Suspect, judge, says_missing
from geomi.extract.media import Form, form_of, is_readable
from geomi.extract.page import extract
from geomi.model.config import Extraction
from geomi.model.page import Article, Fetched
from geomi.url.parse import split

# Error pages are read while the worker waits, the first few of a host: a millisecond each.
MAX_TEMPLATE_BYTES = 128 * 1024
# Hosts whose error pages a worker remembers: half a megabyte.
MAX_HOSTS = 1024

_GONE = frozenset({404, 410})
# An API that answers in JSON shows no page, and readers that may take long are not for here.
_FORMS = (Form.HTML, Form.PLAIN)


class Missing:
    """The error pages of hosts, as one worker has seen them."""

    def __init__(self, rules: Extraction) -> None:
        self._rules = rules
        self._templates: dict[str, list[bytes]] = {}

    def learn(self, host: str, fetched: Fetched) -> None:
        """Look at an answer that brought no page: it may be the error page of its host."""
        kind, body = fetched.header("content-type"), fetched.body
        if fetched.status not in _GONE or not 0 < len(body) <= MAX_TEMPLATE_BYTES:
            return
        templates = self._templates.setdefault(host, [])
        is_read = is_readable(kind) and form_of(kind, fetched.url) in _FORMS
        if len(templates) < MAX_TEMPLATES and is_read:
            text = extract(body, fetched.url, kind, self._rules, max_links=1).text
            templates.append(sketch(text))
        if len(self._templates) > MAX_HOSTS:
            del self._templates[next(iter(self._templates))]

    def sign(self, host: str, fetched: Fetched, article: Article) -> Sign | None:
        """Say what gives a page away, or None; hardly any page is looked at closely."""
        heading = _heading(article.markdown)
        if not (says_missing(article.title) or says_missing(heading)):
            return None
        suspect = Suspect(
            status=fetched.status,
            title=article.title,
            heading=heading,
            text_chars=len(article.text),
            sketch=sketch(article.text),
            path=split(fetched.url).target,
        )
        return judge(suspect, self._templates.get(host, ()))


def _heading(markdown: str) -> str:
    """Return the first heading of a page."""
    start = 0 if markdown.startswith("#") else markdown.find("\n#") + 1
    if not markdown.startswith("#", start):
        return ""
    end = markdown.find("\n", start)
    return markdown[start : end if end >= 0 else None].lstrip("#").strip()
