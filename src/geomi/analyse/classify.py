"""The one type of a page out of eight (ANA-02), how sure that is, and finer types.

The model of `kinds.py` tells seven kinds, and each belongs to one type: articles and documentation
are `article`, products `product`, collections and listings `navigation`, services `landing`, and a
forum's threads `other`. For `policy`, `contact` and `faq` there are rules (`purpose.py`), which
come first because the model has never seen such a label. A host's front page is `landing` unless it
is rather a listing, a product or documentation, and where the model is unsure, what the structured
data of a page claims decides. Nothing that the text of a page asks for can change its type.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping

from geomi.analyse.kinds import tell_kinds, version
from geomi.analyse.purpose import Purpose, find_claim, find_purpose, is_front_page
from geomi.analyse.reading import Reading
from geomi.model.index.analysis import Classification, Engine, PageType
from geomi.model.page import Article

RULES = Engine("rules", "purpose-1")
# Below this no type is likely: of pages so unsure less than half are told right (`kinds.json`).
MIN_CONFIDENCE = 0.35
# Where the model is less sure than this, it is right in 6 cases of 10: what the page's structured
# data claims is right more often.
SURE = 0.7
# A front page is what its kind says only where that is clear.
MIN_FRONT = 0.5
DIGITS = 3
MAX_SUBTYPES = 4

TYPES: Mapping[str, PageType] = {
    "article": PageType.ARTICLE,
    "documentation": PageType.ARTICLE,
    "product": PageType.PRODUCT,
    "collection": PageType.NAVIGATION,
    "listing": PageType.NAVIGATION,
    "service": PageType.LANDING,
    "forum": PageType.OTHER,
}
_FRONT = Purpose(PageType.LANDING, 0.7, "the front page of its host")
_SUBTYPES = (
    ("how-to", re.compile(r"\bhow to\b|는 (?:방법|법)(?![가-힣])|따라 ?하기", re.IGNORECASE)),
    ("tutorial", re.compile(r"\btutorial|\bstep[ -]by[ -]step\b|튜토리얼|입문", re.IGNORECASE)),
    (
        "guide",
        re.compile(r"\bguide\b|\bgetting started\b|\bquick ?start\b|가이드|안내서", re.IGNORECASE),
    ),
    ("review", re.compile(r"\breviews?\b|리뷰|사용기", re.IGNORECASE)),
)
_CLAIMED = {
    "NewsArticle": "news",
    "ReportageNewsArticle": "news",
    "BlogPosting": "blog",
    "Recipe": "recipe",
    "HowTo": "how-to",
    "TechArticle": "documentation",
}


def classify(url: str, article: Article, reading: Reading) -> Classification:
    """Return the type of a page."""
    return judge(tell_kinds(url, article, reading), url, article, reading)


def judge(
    kinds: Mapping[str, float], url: str, article: Article, reading: Reading
) -> Classification:
    """Return the type of a page by how likely each kind is, and by the rules."""
    likely: defaultdict[PageType, float] = defaultdict(float)
    for kind, share in kinds.items():
        likely[TYPES[kind]] += share
    page_type = max(likely, key=likely.__getitem__)
    purpose = find_purpose(url, article, reading)
    is_landing = page_type is PageType.LANDING
    if purpose is None and not is_landing and is_front_page(url) and not _is_clear(kinds):
        purpose = _FRONT
    if purpose is None and likely[page_type] < SURE:
        purpose = find_claim(article, reading)
    if purpose is not None:
        return _by_rule(purpose, article)
    if likely[page_type] < MIN_CONFIDENCE:
        page_type = PageType.OTHER
    kind = max(kinds, key=kinds.__getitem__)
    return Classification(
        page_type=page_type,
        confidence=round(likely[page_type], DIGITS),
        subtypes=_subtypes(page_type, kind, article),
        reasoning=f"its layout, words and URL are those of kind `{kind}` ({kinds[kind]:.2f})",
        engine=Engine("kinds", version()),
    )


def _is_clear(kinds: Mapping[str, float]) -> bool:
    """Say whether a page is clearly one that leads elsewhere, sells one thing or explains."""
    leads = kinds["listing"] + kinds["collection"]
    return max(leads, kinds["product"], kinds["documentation"], kinds["forum"]) >= MIN_FRONT


def _by_rule(purpose: Purpose, article: Article) -> Classification:
    return Classification(
        page_type=purpose.page_type,
        confidence=round(purpose.confidence, DIGITS),
        subtypes=_subtypes(purpose.page_type, "", article),
        reasoning=purpose.reasoning,
        engine=RULES,
    )


def _subtypes(page_type: PageType, kind: str, article: Article) -> tuple[str, ...]:
    found: dict[str, None] = {}
    if kind and kind != page_type:
        found[kind] = None
    if page_type is PageType.ARTICLE:
        found |= dict.fromkeys(_CLAIMED[name] for name in article.types if name in _CLAIMED)
        found |= dict.fromkeys(name for name, sign in _SUBTYPES if sign.search(article.title))
    return tuple(found)[:MAX_SUBTYPES]
