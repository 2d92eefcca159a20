"""Find the type of a page, one of eight (ANA-02), with a confidence, and finer types.

The model in `kinds` distinguishes seven page kinds, and each belongs to one type: articles and
documentation are `article`, products `product`, collections and listings `navigation`, services
`landing`, and the threads of a forum `other`. `policy`, `contact` and `faq` have rules. The rules
come first, because the model was not trained on these labels. A host's front page is `landing`
unless it is clearly a listing, a product or documentation. If the model is unsure, the page's
structured data decides. No instruction in the text of a page can change its type.

A rule needs two things: the heading or URL names the page in a few words, and the text agrees. So
a guide *about* privacy policies stays an article. `FAQPage` in structured data is not a proof: of
70 such pages, 32 were articles with some questions at their end. Each rule returns the type, with
a confidence that grows with the evidence, or nothing.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from geomi.analyse.fields.structured_data import pair
from geomi.analyse.kinds import tell_kinds, version
from geomi.analyse.page_text import PageText, PassageForm, Passages, own_title
from geomi.model.index.analysis import Classification, Engine, PageType
from geomi.model.page import Article
from geomi.url.parse import parse

MAX_NAME_WORDS = 7  # a heading that is a name, not a sentence
MAX_BODY_CHARS = 20_000
MAX_CONTACT_WORDS = 900
MAX_QUESTION_CHARS = 200
MIN_QUESTIONS = 2  # on a page that says it has some
MIN_UNNAMED_QUESTIONS = 4
MIN_UNNAMED_SHARE = 0.6
MIN_POLICY_SIGNS = 2
MAX_COMPARED_CHARS = 40  # of a product's name; headings add sizes and colours
_ARTICLES = frozenset(("Article", "NewsArticle", "BlogPosting", "Recipe", "ScholarlyArticle"))
_POLICY = re.compile(
    r"\b(?:privacy (?:policy|notice|statement)|cookies? (?:policy|notice)|terms (?:of|and|&) \w+"
    r"|terms|legal notice|(?:refund|returns?|cancellation|shipping|acceptable use|security)"
    r" (?:and \w+ )?policy|user agreement|license agreement|disclaimer|imprint|impressum|privacy)\b"
    r"|개인정보 ?(?:처리|취급) ?방침|이용 ?약관|쿠키 ?정책|운영 ?정책|법적 ?고지"
    r"|환불 ?(?:규정|정책)|청소년 ?보호 ?정책",
    re.IGNORECASE,
)
_POLICY_BODY = re.compile(
    r"\b(?:personal (?:data|information)|third part(?:y|ies)|we (?:may )?(?:collect|process|share)"
    r"|you agree|liabilit|governing law|terminat|warrant(?:y|ies)|effective date|last updated"
    r"|your rights|gdpr|ccpa|cookies|hereby|at our (?:sole )?discretion|refunds?\b|intellectual)"
    r"|개인정보|제3자|수집|보유 ?기간|동의|약관|회원은|책임을|시행일|파기|정보주체",
    re.IGNORECASE,
)
_CONTACT = re.compile(
    r"\b(?:contact(?: us)?|get in touch|reach us|write to us|find us|locations? and hours)\b"
    r"|문의(?:하기)?|연락처|오시는 ?길|찾아오시는 ?길|고객 ?센터",
    re.IGNORECASE,
)
_ABOUT = re.compile(
    r"^about$|\b(?:about us|who we are|our (?:story|team|people|mission)|meet the team)\b"
    r"|회사 ?소개|기업 ?소개|소개합니다|인사말",
    re.IGNORECASE,
)
_REACHED = re.compile(
    r"[\w.+-]{1,64}@[\w-]{1,63}\.[\w.-]{2,63}|\+?\d[\d() .-]{7,16}\d|\b(?:telephone|phone|fax"
    r"|e-?mail|opening hours|address|street|your (?:name|message|email))\b"
    r"|전화|팩스|이메일|주소|영업 ?시간",
    re.IGNORECASE,
)
_FAQ = re.compile(
    r"\bf\.?a\.?q\.?s?\b|\bfrequently[ -]asked\b|\bquestions (?:and|&) answers\b|\bq ?& ?a\b"
    r"|\bquestions (?:people|you|customers|we)\b|\bcommon questions\b"
    r"|자주 ?(?:묻는|하는) ?질문|질문과 ?답변|묻고 ?답하기",
    re.IGNORECASE,
)
_ASKED = re.compile(r"[?？][\"”'’)]?$|^(?:Q|질문)\s?\d{0,3}\s?[.:)]", re.IGNORECASE)
_FRONT = re.compile(
    r"/(?:[a-z]{2}(?:[-_][a-z]{2})?/?)?(?:(?:index|home|default|main)(?:\.\w{2,5})?)?/?"
)
_JOINTS = re.compile(r"[-_+]")
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


@dataclass(frozen=True, slots=True)
class RuleFinding:
    """What a rule found, how sure it is, and by what."""

    page_type: PageType
    confidence: float
    reasoning: str


_FRONT_PAGE = RuleFinding(PageType.LANDING, 0.7, "the front page of its host")


def find_purpose(url: str, article: Article, reading: PageText) -> RuleFinding | None:
    """Return what a page is by the rules, if one of them holds."""
    naming = _naming(url, article, reading)
    body = reading.text[:MAX_BODY_CHARS]
    return (
        _policy(naming, body) or _faq(naming, article, reading) or _contact(naming, article, body)
    )


def find_claim(article: Article, reading: PageText) -> RuleFinding | None:
    """Return what a page's structured data says it is, where that can be believed.

    On WCXB 37 of 41 pages that are headed by the name of their `Product` are products, and 178 of
    186 that claim to be an article are articles.
    """
    name = (pair(article, "Product.name", "ProductGroup.name") or "").lower()[:MAX_COMPARED_CHARS]
    if name and name in f"{reading.heading} {article.title}".lower():
        return RuleFinding(
            PageType.PRODUCT, 0.9, "its heading is the product of its structured data"
        )
    if claimed := _ARTICLES.intersection(article.types):
        return RuleFinding(PageType.ARTICLE, 0.85, f"its structured data says {min(claimed)}")
    return None


def is_front_page(url: str) -> bool:
    """Return whether a URL is the front door of a host, in whatever language."""
    place = parse(url)
    return place is not None and not place.query and _FRONT.fullmatch(place.path) is not None


def questions_of(passages: Passages) -> list[int]:
    """Return where questions stand that the text below them answers."""
    return [
        number
        for number, passage in enumerate(passages[:-1])
        if passage.form is not PassageForm.CODE
        and len(passage.text) <= MAX_QUESTION_CHARS
        and _ASKED.search(passage.text)
        and (passage.form is PassageForm.HEADING or not _ASKED.search(passages[number + 1].text))
    ]


@dataclass(frozen=True, slots=True)
class _Naming:
    """What a page calls itself: its heading, the own part of its title, the end of its path."""

    heading: str
    title: str
    path: str

    def says(self, name: re.Pattern[str]) -> int:
        """Return by how many of them a name is said; long headings are sentences, not names."""
        return sum(
            name.search(text) is not None
            for text in (self.heading, self.title, self.path)
            if len(text.split()) <= MAX_NAME_WORDS
        )


def _naming(url: str, article: Article, reading: PageText) -> _Naming:
    """Collect what a page calls itself."""
    place = parse(url)
    segments = [part for part in (place.path if place else "").split("/") if part]
    last = segments[-1].partition(".")[0] if segments else ""
    return _Naming(reading.heading, own_title(article.title), _JOINTS.sub(" ", last))


def _policy(naming: _Naming, body: str) -> RuleFinding | None:
    if not (said := naming.says(_POLICY)):
        return None
    signs = len({match.lower() for match in _POLICY_BODY.findall(body)})
    if signs >= MIN_POLICY_SIGNS:
        confidence = min(0.97, 0.62 + 0.1 * said + 0.03 * min(signs, 6))
        return RuleFinding(
            PageType.POLICY, confidence, f"named a policy, {signs} signs in its text"
        )
    return None


def _faq(naming: _Naming, article: Article, reading: PageText) -> RuleFinding | None:
    said = naming.says(_FAQ)
    asked = questions_of(reading.passages)
    headings = reading.headings[1:]  # the first is the title
    share = sum(_ASKED.search(text) is not None for text in headings) / max(len(headings), 1)
    is_claimed = bool({"FAQPage", "QAPage"}.intersection(article.types))
    if said and len(asked) >= MIN_QUESTIONS:
        confidence = min(0.97, 0.72 + 0.08 * said + 0.05 * is_claimed + 0.04 * (share > 0.5))
        return RuleFinding(PageType.FAQ, confidence, f"named a FAQ, {len(asked)} questions")
    if is_claimed and len(asked) >= MIN_UNNAMED_QUESTIONS and share >= MIN_UNNAMED_SHARE:
        return RuleFinding(PageType.FAQ, 0.75, f"{share:.0%} of its headings are questions")
    if "QAPage" in article.types:
        return RuleFinding(PageType.FAQ, 0.7, "its structured data is one question with answers")
    return None


def _contact(naming: _Naming, article: Article, body: str) -> RuleFinding | None:
    if article.words > MAX_CONTACT_WORDS:
        return None
    if said := naming.says(_CONTACT):
        reached = len({match.lower() for match in _REACHED.findall(body)})
        confidence = min(0.95, 0.6 + 0.1 * said + 0.05 * min(reached, 3))
        if reached or said > 1:
            return RuleFinding(PageType.CONTACT, confidence, "named a contact page")
    if (said := naming.says(_ABOUT)) and not article.published_at:
        return RuleFinding(
            PageType.CONTACT, min(0.9, 0.55 + 0.1 * said), "named a page about its owner"
        )
    return None


def classify(url: str, article: Article, reading: PageText) -> Classification:
    """Return the type of a page."""
    return judge(tell_kinds(url, article, reading), url, article, reading)


def judge(
    kinds: Mapping[str, float], url: str, article: Article, reading: PageText
) -> Classification:
    """Return the type of a page by how likely each kind is, and by the rules."""
    likely: defaultdict[PageType, float] = defaultdict(float)
    for kind, share in kinds.items():
        likely[TYPES[kind]] += share
    page_type = max(likely, key=likely.__getitem__)
    purpose = find_purpose(url, article, reading)
    is_landing = page_type is PageType.LANDING
    if purpose is None and not is_landing and is_front_page(url) and not _is_clear(kinds):
        purpose = _FRONT_PAGE
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
    """Return whether a page is clearly one that leads elsewhere, sells one thing or explains."""
    leads = kinds["listing"] + kinds["collection"]
    return max(leads, kinds["product"], kinds["documentation"], kinds["forum"]) >= MIN_FRONT


def _by_rule(purpose: RuleFinding, article: Article) -> Classification:
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
