"""Decide whether a page with status 200 is a soft 404: it says that there is nothing.

Two conditions must hold. First, the title or the first heading says so in words that mean nothing
else: without site name, apologies and the word "page", only a phrase of the lists below is left.
"How to fix a 404" is an article. Second, one of these is true:

- The page repeats a page that this host sends with status 404 or 410.
- The heading says so, there is hardly any other text, and the page is not about it. An entry of a
  glossary is short, too, and `/status/404` describes the status: a page is about it if its URL
  names it and its text says something else than sorry to its reader.

Both rules are careful rather than complete: a page that is wrongly called missing is lost, and a
soft 404 that is overlooked is only one more thin page.

The lists have English and Korean. A page in another language counts only if it says "404".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import unquote

from geomi.dedup.sketch import similarity

# An error page repeats the address that was asked for, so copies of it differ more than copies of
# an article; below one half it would be the site's frame alone.
MIN_TEMPLATE_SIMILARITY = 0.6
# Explanations of the error begin at a few hundred words; an apology and a search box end before.
MAX_APOLOGY_CHARS = 400
# A host has one error page, perhaps one a section or language.
MAX_TEMPLATES = 4
MAX_TITLE_CHARS = 200
MAX_PATH_CHARS = 2000

_OK = 200
_SEPARATORS = str.maketrans(dict.fromkeys("|–—·•»«<>/", "\n"))
_PUNCTUATION = str.maketrans(dict.fromkeys("!?.,:;…'\"’‘“”()[]", " "))
_NUMBER = "404"
_NAMED_NUMBER = re.compile(r"(?<![0-9])404(?![0-9])")
# What an error page says to its reader, and a description of the error does not.
_APOLOGIES = (
    "sorry", "apologi", "oops", "you are looking for", "you're looking for", "you’re looking for",
    "you were looking for", "you requested", "you asked for", "go back", "back to ", "home page",
    "homepage", "check the address", "check the url", "try again", "죄송", "홈으로", "돌아가",
    "다시 확인",
)  # fmt: skip
_TOPICS = ("missing", "error", "오류", "에러")
_FILLERS = frozenset(
    "oops sorry error http status code page the this that url file you are looking for requested "
    "we re is was 죄송합니다 오류 에러 요청하신 요청한 해당 페이지 페이지를 페이지가 이 찾으시는 "
    "주소의 문서를".split()
)
# One of these is in every phrase: nearly all titles are done with here.
_HINTS = (_NUMBER, "found", "exist", "없", "않")
# Without blanks: Korean writers set them differently, and fillers leave holes.
_PHRASES = frozenset(
    (
        "notfound",
        "couldnotbefound",
        "cannotbefound",
        "cantbefound",
        "doesnotexist",
        "doesntexist",
        "nolongerexists",
        "찾을수없습니다",
        "찾을수없음",
        "찾을수없어요",
        "존재하지않습니다",
        "존재하지않는",
        "존재하지않는페이지입니다",
        "없는페이지입니다",
    )
)


class Soft404Sign(StrEnum):
    """What gives a soft 404 away."""

    TEMPLATE = "says that nothing was found, and repeats the error page of its host"
    APOLOGY = "says that nothing was found, and nothing else"


@dataclass(frozen=True, slots=True)
class Soft404Candidate:
    """A page that may be a soft 404.

    Args:
        heading: its first heading.
        text_chars: the length of its main text, of which `sketch` is made however short it is.
        path: path and query of its address.
        text: its main text, or the beginning of it.
    """

    status: int
    title: str
    heading: str
    text_chars: int
    sketch: bytes
    path: str = ""
    text: str = ""


def judge(page: Soft404Candidate, templates: Sequence[bytes]) -> Soft404Sign | None:
    """Say what gives a page away as a soft 404, or None.

    Args:
        templates: sketches of pages that its host sent with status 404 or 410.
    """
    if page.status != _OK:
        return None
    titled, headed = says_missing(page.title), says_missing(page.heading)
    if not (titled or headed):
        return None
    for template in templates[:MAX_TEMPLATES]:
        if similarity(page.sketch, template) >= MIN_TEMPLATE_SIMILARITY:
            return Soft404Sign.TEMPLATE
    is_short = page.text_chars <= MAX_APOLOGY_CHARS
    return Soft404Sign.APOLOGY if headed and is_short and not _is_about_it(page) else None


def says_missing(title: str) -> bool:
    """Return whether a title or heading means that a page was not found, and nothing else."""
    lower = title[:MAX_TITLE_CHARS].lower()
    if not any(hint in lower for hint in _HINTS):
        return False
    return any(map(_is_phrase, lower.replace(" - ", "\n").translate(_SEPARATORS).split("\n")))


def _is_about_it(page: Soft404Candidate) -> bool:
    """Whether a page means the error: its address names it, and its text does not apologise."""
    text = page.text[:MAX_APOLOGY_CHARS].lower().strip()
    says_more = text not in ("", page.heading.lower().strip(), page.title.lower().strip())
    return says_more and not any(word in text for word in _APOLOGIES) and _names_it(page.path)


def _names_it(path: str) -> bool:
    """Whether an address names the error or something missing; `/item/40412` does not."""
    plain = unquote(path[:MAX_PATH_CHARS]).lower()
    letters = "".join(filter(str.isalnum, plain))
    is_named = _NAMED_NUMBER.search(plain) is not None
    return is_named or any(word in letters for word in (*_TOPICS, *_PHRASES))


def _is_phrase(part: str) -> bool:
    words = part.replace("n't", "nt").replace("n’t", "nt").translate(_PUNCTUATION).split()
    rest = [word for word in words if word not in _FILLERS]
    spoken = "".join(word for word in rest if word != _NUMBER)
    return spoken in _PHRASES or rest == [_NUMBER]
