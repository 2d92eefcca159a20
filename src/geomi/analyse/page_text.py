"""Read a page's text once, in the form that all parts of the analysis need.

Markdown becomes a list of passages: headings, paragraphs, items, rows of tables, code. The analysis
reads only these passages, so it can analyse a page that was crawled long ago from its record alone.
Marks of emphasis, images and the targets of links are removed: a decision must not depend on the
form of the markdown. Reading never raises, and stops at its limits of characters and passages.

Terms are the words with a meaning, in English and Korean. Small words are left out, and
Korean words lose the particles at their end, so that `거미가` and `거미를` are one term. There
is no dictionary: a term is a word of the page.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum, auto
from typing import NamedTuple

# What stands behind the first of these in a title is mostly the name of the site.
_SPLIT = re.compile(r"\s[|·•»–—:-]\s")
MAX_PASSAGES = 5000
MAX_LEVEL = 6
_FENCES = ("```", "~~~")
_ITEM = re.compile(r"(?:[-*+]|\d{1,4}[.)]) {1,4}")
_RULE = frozenset("-*_| :=")
_IMAGE = re.compile(r"!\[[^\[\]\n]{0,1000}\]\([^()\s]{0,4000}(?: \"[^\"\n]{0,500}\")?\)")
_LINK = re.compile(
    r"\[([^\[\]\n]{0,2000})\]\("
    r"(?:<[^<>\n]{0,4000}>|[^()\s]{0,4000}(?:\([^()\s]{0,200}\)[^()\s]{0,500})?)"
    r"(?: \"[^\"\n]{0,500}\")?\)"
)
_MARK = re.compile(
    r"\*{1,3}|(?<!\w)_{1,2}(?=\S)|(?<=\S)_{1,2}(?!\w)|`{1,3}|~~"
    r"|</?(?:sub|sup|kbd|mark|ins|u|abbr|details|summary)>"
)
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_SIGNS = frozenset("*_`~<\\")
_SPACE = "\u00a0"
MAX_SENTENCE_CHARS = 400
MIN_SENTENCE_CHARS = 20
MAX_SENTENCES = 400
MAX_TERM_CHARS = 20_000
_KOREAN_TERM_CHARS = 2
_TERM = re.compile(r"[^\W\d_가-힣](?:[^\W가-힣]|['+#.-]){1,29}(?<![.'-])|[가-힣]{2,15}")
_ENGLISH = (
    "a about above after again all also am an and any are as at be because been before being below "
    "between both but by can cannot could did do does doing don't down during each even every few "
    "for from further get got had has have having he her here hers him his how however i i'm if in "
    "into is isn't it it's its itself just like made make many may me might more most much must my "
    "need new no nor not now of off on once one only or other our ours out over own per same she "
    "should since so some still such than that that's the their them then there these they this "
    "those through to too under until up upon us use used using very via was way we well were what "
    "when where which while who whom why will with within without would you your yours yes two "
    "first said says see let's you're we're they're can't won't doesn't didn't"
)
_KOREAN = (
    "그리고 그러나 하지만 그래서 또한 또는 그런데 때문에 있는 있다 있습니다 합니다 하는 한다 했다 "
    "했습니다 됩니다 되는 된다 이런 그런 저런 이것 그것 저것 우리 여기 거기 모든 위해 위한 대한 "
    "대해 통해 따라 경우 같은 같이 함께 다른 많은 아주 매우 가장 더욱 모두 정말 이렇게 그렇게 "
    "입니다 아닙니다 없습니다 없는 없다 것입니다 것은 것이 것을 수도 때는 때마다 보다 사이"
)
_STOP_WORDS = frozenset(f"{_ENGLISH} {_KOREAN}".split())
# Longest first: `에서는` is no `는`.
_PARTICLES = (
    "에서는", "으로는", "에게는", "입니다", "이라고", "이라는", "에서", "으로", "에게", "까지",
    "부터", "처럼", "보다", "마다", "하고", "이나", "라고", "라는", "들의", "들을", "들이", "들은",
    "은", "는", "이", "가", "을", "를", "의", "에", "도", "로", "와", "과", "만",
)  # fmt: skip
# A full stop ends a sentence before a space and a capital, a Hangul syllable or a sign of opening;
# after a short title or one letter it does not.
_END = re.compile(r"(?<=[.!?。？！])[\"'”’)]{0,2}\s+(?=[\"'“‘(]?[A-Z0-9가-힣À-Þ])")
_NO_END = re.compile(
    r"(?:\b(?:Mr|Mrs|Ms|Dr|Prof|St|vs|etc|No|Inc|Ltd|Jr|Sr|Co|Corp|approx|Fig|e\.g|i\.e)|\b[A-Z])\.$"
)


@dataclass(frozen=True, slots=True)
class PageText:
    """What a page says.

    Args:
        passages: all of it, line by line.
        text: the passages without code, one line each.
        headings: those of the passages that are headings.
        terms: the terms of the text in their order.
    """

    passages: Passages
    text: str
    headings: tuple[str, ...]
    terms: tuple[str, ...]

    @property
    def heading(self) -> str:
        """The first heading, which is mostly the page's own; empty where there is none."""
        return self.headings[0] if self.headings else ""


def read_text(markdown: str, max_chars: int) -> PageText:
    """Read markdown up to `max_chars` (C-73)."""
    passages = read_passages(markdown, max_chars)
    text = "\n".join(p.text for p in passages if p.form is not PassageForm.CODE)
    headings = tuple(p.text for p in passages if p.form is PassageForm.HEADING)
    return PageText(passages, text, headings, tuple(terms_of(text)))


def own_title(title: str) -> str:
    """Return a title without the name of its site."""
    return _SPLIT.split(title, maxsplit=1)[0]


class PassageForm(Enum):
    """What a passage is on the page."""

    HEADING = auto()
    PARAGRAPH = auto()
    ITEM = auto()
    ROW = auto()
    CODE = auto()


class TextPassage(NamedTuple):
    """A line of a page without its marks; `level` is that of a heading.

    A tuple, because a page has hundreds. The cells of a row are held apart by ` | `.
    """

    form: PassageForm
    text: str
    level: int = 0


Passages = tuple[TextPassage, ...]


def read_passages(markdown: str, max_chars: int) -> Passages:
    """Take markdown apart; what is longer than `max_chars` is read up to there (C-73)."""
    found: list[TextPassage] = []
    fence = ""
    code: list[str] = []
    for line in markdown[:max_chars].split("\n"):
        if len(found) == MAX_PASSAGES:
            break
        stripped = line.strip()
        if fence:
            if stripped.startswith(fence):
                found.append(TextPassage(PassageForm.CODE, "\n".join(code)))
                fence, code = "", []
            else:
                code.append(line)
        elif stripped.startswith(_FENCES):
            fence = stripped[: len(stripped) - len(stripped.lstrip(stripped[0]))]
        elif stripped and (passage := _passage(stripped)) is not None:
            found.append(passage)
    if code:  # the text ends inside of it
        found.append(TextPassage(PassageForm.CODE, "\n".join(code)))
    return tuple(found)


def cut(text: str, max_chars: int) -> str:
    """Return a text, or as many of its first words as there is room for."""
    return text if len(text) <= max_chars else text[: max_chars - 1].rsplit(" ", 1)[0] + "…"


def _passage(line: str) -> TextPassage | None:
    line = line.lstrip("> ")
    form = PassageForm.PARAGRAPH
    if (item := _ITEM.match(line)) is not None:
        line, form = line[item.end() :], PassageForm.ITEM
    if line[:1] == "#":
        title = line.lstrip("#")
        level = len(line) - len(title)
        if title[:1] == " " and level <= MAX_LEVEL:
            return _made(PassageForm.HEADING, title, level)
    if line[:1] == "|":
        return _made(PassageForm.ROW, line.strip("| ")) if not _RULE.issuperset(line) else None
    return None if _RULE.issuperset(line) else _made(form, line)


def _made(form: PassageForm, text: str, level: int = 0) -> TextPassage | None:
    text = shown(text)
    return TextPassage(form, text, level) if text else None


def shown(line: str) -> str:
    """Return a line of markdown as a reader sees it."""
    # Most lines have none of these, and to look for a sign costs a tenth of a substitution.
    if "](" in line:
        line = _LINK.sub(r"\1", _IMAGE.sub("", line))
    if not _SIGNS.isdisjoint(line):
        line = _MARK.sub("", line)
        line = _ESCAPED.sub(r"\1", line)
    if "  " in line or _SPACE in line:
        line = " ".join(line.replace(_SPACE, " ").split())
    return line.strip()


def terms_of(text: str) -> list[str]:
    """Return the terms of a text in their order; of a long one those of its beginning."""
    text = text[:MAX_TERM_CHARS].lower()
    words = _TERM.findall(text)
    if not text.isascii():
        words = [_stem(word) for word in words]
    # Most words have no apostrophe, and looking for one costs a fraction of a call.
    return [
        word.removesuffix("'s") if "'" in word else word
        for word in words
        if word not in _STOP_WORDS
    ]


def frequencies(terms: Iterable[str]) -> Counter[str]:
    """Count terms; a plural is counted with its singular where the page has both."""
    counts = Counter(terms)
    for plural in [word for word in counts if word.endswith("s") and word[:-1] in counts]:
        counts[plural[:-1]] += counts.pop(plural)
    return counts


def sentences_of(text: str) -> list[str]:
    """Take a paragraph apart."""
    found: list[str] = []
    for part in _END.split(text):
        part = part.strip()
        if found and (_NO_END.search(found[-1]) or len(part) < MIN_SENTENCE_CHARS // 2):
            found[-1] = f"{found[-1]} {part}"
        elif part:
            found.append(part)
    return found[:MAX_SENTENCES]


def _stem(word: str) -> str:
    if not "가" <= word[0] <= "힣":
        return word
    for particle in _PARTICLES:
        if word.endswith(particle) and len(word) - len(particle) >= _KOREAN_TERM_CHARS:
            return word.removesuffix(particle)
    return word
