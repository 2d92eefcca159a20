"""Find the page kind (article, forum, product, …) from a page's layout, its words and its URL.

The kind comes from a linear model over facts, words, and the verdict of the layout alone
(`Article.kinds`, where the page's blocks were weighed). The model also learned from pages whose
text or layout was hidden. So it can tell a page in a language it has never read, or one whose
content was found by a selector, by the rest. `tools/train_page_kinds.py` wrote the weights in
`kinds.json`, and beside them their scores on domains they never saw.

Facts are numbers that hold in any language: how long, how many links, prices, dates, questions.
Words carry their place, because `forum` in a host name is another thing than in a text. The
places: `h:` host, without the name that its owner registered, which a model would learn by heart;
`p:` path, `l:` its last part, `u:` how the path is built, `q:` names in the query; `t:` title,
`d:` description, `o:` headings, `x:` the first words of the text, `a:` texts of links; `k:` keys
of its metadata, `c:` types it claims to be (schema.org, OpenGraph). All of it is bounded.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources

import numpy as np
import orjson
from numpy.typing import NDArray

from geomi.analyse.page_text import PageText, PassageForm
from geomi.model.page import Article
from geomi.url.host import registrable_domain
from geomi.url.parse import Url, parse

# Below one in a thousand a layout says no more than "hardly".
LEAST_LIKELY = 1e-3
# Weights are stored as whole hundredths.
SCALE = 100
MAX_TEXT_CHARS = 20_000  # what is counted in
MAX_OPENING_CHARS = 2000  # what words are taken of (ANA-05)
MAX_HEADINGS = 40
MAX_LINKS = 400
MAX_LINK_CHARS = 25  # a longer text of a link is a title of its own
MAX_LINE_CHARS = 300
MAX_SEGMENTS = 12
MAX_SEGMENT_CHARS = 100
MAX_KEY_CHARS = 60
LONG_CHARS = 150
SHORT_CHARS = 30
FACTS = (
    "chars", "words", "passages", "headings", "items", "rows", "codes", "prices", "dates",
    "questions", "longest", "links", "links_inside", "links_outside", "links_below", "link_chars",
    "share_items", "share_headings", "share_rows", "share_codes", "share_prices", "share_dates",
    "share_long", "share_short",
    "often_question", "often_exclaimed", "often_you", "often_we", "often_i", "often_said",
    "depth", "last_chars", "last_hyphens", "title_chars", "has_date", "has_author", "confidence",
)  # fmt: skip
_LOGGED = FACTS.index("share_items")
_DIGIT = re.compile(r"\d")
_WORD = re.compile(r"[a-z]{2,20}|[가-힣]{2,10}")
_PRICE = re.compile(r"[$€£¥₩] ?\d|\d ?(?:[€₩원]|USD\b|EUR\b|GBP\b|KRW\b)")
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\.?"
_DATE = re.compile(
    rf"\b{_MONTH} \d{{1,2}},? \d{{4}}|\b\d{{1,2}} {_MONTH} \d{{4}}|\b\d{{4}}-\d\d-\d\d\b"
    r"|\b\d{1,2}/\d{1,2}/\d{2,4}\b|\b\d{4}[.년] ?\d{1,2}[.월] ?\d{1,2}",
    re.IGNORECASE,
)
_DENSE = re.compile("[\u1100-\u11ff\u3040-\u30ff\u3400-\u9fff가-힣]")
_YOU = frozenset("you your yours".split())
_WE = frozenset("we our us".split())
_I = frozenset("i my me i'm i've".split())
_SAID = frozenset("wrote said posted reply replies ago quote".split())
_YEAR = re.compile(r"/(?:19|20)\d\d/")
_NUMBER = re.compile(r"\d{4,}")
_NAMES = re.compile(r"(?:^|&)([a-z_]{1,30})=")
_NOWHERE = Url("", "", "", 0, "/", "")
Facts = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class _Model:
    kinds: tuple[str, ...]
    words: Mapping[str, int]  # the row of each
    weights: NDArray[np.float32]  # facts, then layout, then words, then one row always added
    means: NDArray[np.float32]  # of facts and layout
    scales: NDArray[np.float32]
    version: str


def tell_kinds(url: str, article: Article, reading: PageText) -> dict[str, float]:
    """Return how likely each kind is; together they are 1."""
    model = _model()
    told = np.concatenate((read_facts(url, article, reading), layout_of(article, model.kinds)))
    scaled = (told - model.means) / model.scales
    if not article.kinds:
        scaled[len(FACTS) :] = 0.0  # the mean: it says nothing
    found = read_words(url, article, reading)
    # In order, so that the sum is always the same.
    rows = sorted(row for word in found if (row := model.words.get(word)) is not None)
    numbers = len(scaled)
    weights = model.weights
    total = scaled @ weights[:numbers] + weights[numbers:-1][rows].sum(axis=0) + weights[-1]
    likely = np.exp(total - total.max())
    return dict(zip(model.kinds, (likely / likely.sum()).tolist(), strict=True))


def layout_of(article: Article, kinds: tuple[str, ...]) -> Facts:
    """Return what the layout says of each kind, as logarithms."""
    said = dict(article.kinds)
    return np.log([max(said.get(kind, 0.0), LEAST_LIKELY) for kind in kinds]).astype(np.float32)


def version() -> str:
    """Return the digest of the weights: what they say changes with them."""
    return _model().version


@cache
def _model() -> _Model:
    stored = orjson.loads(resources.files(__package__).joinpath("kinds.json").read_bytes())
    kinds = tuple(stored["kinds"])
    rows = [stored["facts"][name] for name in FACTS] + [stored["layout"][kind] for kind in kinds]
    weights = [row["weights"] for row in rows] + [*stored["words"].values(), stored["always"]]
    return _Model(
        kinds=kinds,
        words={word: row for row, word in enumerate(stored["words"])},
        weights=(np.array(weights, np.float32) / SCALE).astype(np.float32),
        means=np.array([row["mean"] for row in rows], np.float32),
        scales=np.array([row["scale"] for row in rows], np.float32),
        version=stored["version"],
    )


def read_facts(url: str, article: Article, reading: PageText) -> Facts:
    """Return what is counted, in the order of `FACTS`."""
    passages, here = reading.passages, _address(url)
    sample = reading.text[:MAX_TEXT_CHARS]
    numbered = "\n".join(line for line in sample.split("\n") if _DIGIT.search(line))
    prices, dates = len(_PRICE.findall(numbered)), len(_DATE.findall(numbered))
    density = 1.0 + _dense_share(sample)
    lengths = np.array([len(p.text) for p in passages] or [0]) * density
    forms = [p.form for p in passages]
    counts = [
        *map(
            forms.count, (PassageForm.HEADING, PassageForm.ITEM, PassageForm.ROW, PassageForm.CODE)
        ),
        prices,
        dates,
    ]
    headings, items, rows, codes = counts[:4]
    told = np.array(
        (
            *(len(reading.text) * density, article.words * density, len(passages)),
            *counts,
            *(sample.count("?"), lengths.max()),
            *_links(here, article),
            *(n / len(lengths) for n in (items, headings, rows, codes, prices, dates)),
            *((lengths > LONG_CHARS).mean(), (lengths < SHORT_CHARS).mean()),
            *_rates(sample),
            *_named(here, article),
        ),
        np.float32,
    )
    told[:_LOGGED] = np.log2(1 + told[:_LOGGED])
    return told


def read_words(url: str, article: Article, reading: PageText) -> set[str]:
    """Return the words of a page, each with its place."""
    headings = reading.headings[:MAX_HEADINGS]
    found = _url_words(_address(url))
    found |= _placed("t:", article.title[:MAX_LINE_CHARS])
    found |= _placed("d:", article.description[:MAX_LINE_CHARS])
    found |= _placed("o:", "\n".join(text[:MAX_LINE_CHARS] for text in headings))
    found |= _placed("x:", reading.text[:MAX_OPENING_CHARS])
    texts = (link.text for link in article.links[:MAX_LINKS])
    found |= {f"a:{text.lower()}" for text in texts if len(text) <= MAX_LINK_CHARS}
    return found | _claims(article)


def _dense_share(sample: str) -> float:
    """Return which share of a text is in scripts whose signs say twice as much as a letter."""
    return 0.0 if sample.isascii() else len(_DENSE.findall(sample)) / len(sample)


def _address(url: str) -> Url:
    """Return a URL's parts; what is none, such as the name of a file, has none."""
    return parse(url) or _NOWHERE


def _links(here: Url, article: Article) -> tuple[int, ...]:
    """Count the links: all, those to the same origin and to others, those below the page."""
    origin = here.href.removesuffix(here.target) + "/" if here.href else ""
    inside = [link.url for link in article.links if origin and link.url.startswith(origin)]
    folder = origin + here.path.strip("/") + "/"
    below = sum(url.startswith(folder) for url in inside) if len(here.path) > 1 else 0
    total = len(article.links)
    return total, len(inside), total - len(inside), below, sum(len(n.text) for n in article.links)


def _rates(sample: str) -> tuple[float, ...]:
    """Return how often is asked and exclaimed (of 1000 characters), and who speaks (of 100)."""
    chars = max(len(sample), 1) / 1000
    counted = Counter(sample.lower().split())
    words = max(counted.total(), 1) / 100
    spoken = (sum(counted[word] for word in group) / words for group in (_YOU, _WE, _I, _SAID))
    return (sample.count("?") / chars, sample.count("!") / chars, *spoken)


def _named(here: Url, article: Article) -> tuple[float, ...]:
    segments = _segments(here)
    last = segments[-1] if segments else ""
    return (
        len(segments),
        len(last),
        last.count("-"),
        len(article.title[:MAX_LINE_CHARS]),
        bool(article.published_at),
        bool(article.author),
        article.confidence,
    )


def _url_words(here: Url) -> set[str]:
    """Return the words of a URL and how its path is built."""
    found = _placed("h:", here.host.removesuffix(registrable_domain(here.host)))
    *folders, last = _segments(here) or [""]
    found |= _placed("p:", " ".join(folders)) | _placed("l:", last)
    found |= {f"q:{name}" for name in _NAMES.findall(here.query.lower()[:MAX_LINE_CHARS])}
    found.add(f"u:depth{min(len(folders) + bool(last), 5)}")
    found.add(f"u:hyphens{min(last.count('-'), 6)}")
    signs = {
        "u:number": _NUMBER.search(last) is not None,
        "u:year": _YEAR.search(here.path) is not None,
        "u:folder": here.path.endswith("/"),
        f"u:.{last.rpartition('.')[2][:6]}": "." in last,
    }
    return found | {name for name, is_so in signs.items() if is_so}


def _segments(here: Url) -> list[str]:
    return [part[:MAX_SEGMENT_CHARS] for part in here.path.lower().split("/") if part][
        :MAX_SEGMENTS
    ]


def _claims(article: Article) -> set[str]:
    """Return which types a page claims to be, and which facts it says about itself."""
    found = {f"c:{name.lower()}" for name in article.types}
    for key, value in article.metadata:
        found.add(f"k:{key[:MAX_KEY_CHARS]}")
        if key == "og:type":
            found.add(f"c:og:{value[:MAX_KEY_CHARS].lower()}")
    return found


def _placed(place: str, text: str) -> set[str]:
    return {place + word for word in _WORD.findall(text.lower())}
