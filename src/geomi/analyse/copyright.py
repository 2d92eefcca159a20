"""Find out who claims a page and under which licence (LEG-13): notice, holder, year, licence.

Extraction reads the notice from the frame of the page (`metadata.copyright`). A link may lead to
its licence, and structured data may name holder, year and licence. A page is *reserved* if
somebody claims it and gives no open licence. An unknown value is None. A page without a notice may
still have one that geomi did not find.
"""

from __future__ import annotations

import re

from geomi.analyse.fields.structured_data import of_work, pair
from geomi.model.index.analysis import Copyright, Engine
from geomi.model.page import Article

ENGINE = Engine("rules", "copyright-1")
MAX_HOLDER_CHARS = 100

_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_SIGNS = re.compile(r"©|\(c\)|\bcopyrights?\b|저작권자|\bby\b", re.IGNORECASE)
_TAIL = re.compile(r"[.,;|]? ?(?:all rights reserved|무단).*", re.IGNORECASE)
_SPAN = re.compile(r"(?:19|20)\d\d(?: ?[-–~,] ?(?:(?:19|20)?\d\d|present))*", re.IGNORECASE)
_OPEN = (
    "creativecommons.org/licenses/", "creativecommons.org/publicdomain/", "gnu.org/licenses/",
    "opensource.org/licens", "apache.org/licenses/", "kogl.or.kr/",
)  # fmt: skip
_OPEN_WORDS = re.compile(
    r"\bCC[ -]BY|creative commons|public domain|\bCC0\b|GNU Free Documentation|공공누리",
    re.IGNORECASE,
)


def find_copyright(article: Article) -> Copyright | None:
    """Return what a page says about who owns it; None where it says nothing."""
    notice = pair(article, "copyright") or ""
    given = _license(article)
    named = of_work(article, "copyrightHolder.name", "copyrightHolder")
    if not (notice or given or named):
        return None
    years = _YEAR.findall(of_work(article, "copyrightYear") or notice)
    return Copyright(
        notice=notice,
        holder=named or _holder(notice) or None,
        year=max(map(int, years)) if years else None,
        license=given,
        is_reserved=bool(notice or named) and not (_is_open(given or "") or _is_open(notice)),
        engine=ENGINE,
    )


def _license(article: Article) -> str | None:
    """Return the licence that a page names: in its head, in its data, by a link to it."""
    said = pair(article, "license") or of_work(article, "license", "license.url")
    linked = (link.url for link in article.links if "license" in link.rel.split())
    return said or next(linked, None)


def _is_open(said: str) -> bool:
    """Return whether a licence lets anyone use a page, under whatever conditions."""
    address = said.lower()
    return any(name in address for name in _OPEN) or _OPEN_WORDS.search(said) is not None


def _holder(notice: str) -> str:
    """Return what a notice leaves when sign, years and the usual words are taken away."""
    name = _TAIL.sub("", _SPAN.sub(" ", _SIGNS.sub(" ", notice)))
    return " ".join(name.split()).strip(" .,;:-–—|·•©®™")[:MAX_HOLDER_CHARS]
