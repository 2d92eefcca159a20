"""Find names of people where something says that they are names.

Rules kept:
- A title says it: `Mr.`, `Dr.`, `Prof.` before a name with capitals; `님`, `씨`, `교수` after a
  Korean name of a family name and two syllables; `성명:` before one.
- The text of a `mailto:` link is a name if its words are, and if the address has the last of them,
  or the first and an initial. The first alone is no sign: `blue@` is the box of `Blue Ocean`.
- A page declares names: the author, the people of its structured data, and whom its links write to.
  They are found wherever the text has them whole.
- A name that nothing declares is not found: no rule tells `Grace Hopper` from `Visual Studio`.
- Every search begins at a title or a sign and reads a bounded window: the time is linear.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from geomi.model.personal_data import PiiKind, Sighting
from geomi.private.name_words import (
    BEFORE_JA,
    COMMON_WORDS,
    FAMILY_NAMES,
    FIRST_SYLLABLES,
    LAST_SYLLABLES,
    LONG_FAMILY_NAMES,
    NO_NAME,
    NOT_IN_NAME,
    NOT_LAST,
    NOT_TITLED,
    TOPICS,
)

MAX_KNOWN = 50  # names that one page declares
MAX_NAME_CHARS = 60
LINK_CHARS = 80  # of a link's text
ADDRESS_CHARS = 64


def people(text: str, known: frozenset[str] = frozenset()) -> Iterator[Sighting]:
    """Yield the names in a text.

    Args:
        known: names that its page declares.
    """
    yield from _titled(text)
    if "](mailto:" in text:
        yield from _linked(text)
    if not text.isascii():
        yield from _korean(text)
    if known:
        for found in _any_of(known).finditer(text):
            yield _sighting(*found.span())


def declared(
    names: Iterable[str], text: str, mail_links: Iterable[tuple[str, str]] = ()
) -> frozenset[str]:
    """Return which of the names that a page declares are names of people, with those it links.

    Args:
        mail_links: text and address of its links to write to; those of markdown stand in the text.
    """
    linked = [text[place.start : place.end] for place in _linked(text)]
    linked += (name for label, address in mail_links if _is_told(name := _bare(label), address))
    found = (_bare(part) for name in (*names, *linked) for part in name.split(",")[:MAX_KNOWN])
    return frozenset([name for name in found if is_name(name)][:MAX_KNOWN])


def is_name(text: str) -> bool:
    """Return whether a text can be the whole name of a person."""
    if _HANGUL.fullmatch(text):
        return _is_korean(text)
    words = text.split(" ")
    return (
        len(text) <= MAX_NAME_CHARS
        and _WHOLE.fullmatch(text) is not None
        and not any(word.strip(".,").lower() in NO_NAME for word in words)
    )


def _titled(text: str) -> Iterator[Sighting]:
    for title in _TITLE.finditer(text):
        found = _NAME.match(text, title.end())
        if found is None or found[0].split(" ")[0].split("-")[0] in NOT_TITLED:
            continue
        name = _POSSESSIVE.sub("", _until_common(found[0]))
        if " " not in name and (
            title["loose"]
            or (title["english"] and not _GOES_ON.match(text, found.start() + len(name)))
        ):
            continue
        if title["doctor"] and _DRIVE.search(text, max(0, title.start() - 40), title.start()):
            continue
        if len(name.strip(". ")) > 1:
            yield _sighting(found.start(), found.start() + len(name))


def _until_common(words: str) -> str:
    """Return the words of a name up to one that begins a sentence or a title."""
    kept: list[str] = []
    for word in words.split(" "):
        if word in NOT_IN_NAME:
            break
        kept.append(word)
    return " ".join(kept)


def _linked(text: str) -> Iterator[Sighting]:
    for sign in _MAILTO.finditer(text):
        before = text[max(0, sign.start() - LINK_CHARS) : sign.start()]
        opened = before.rfind("[")
        label = before[opened + 1 :]
        name = _bare(label)
        address = text[sign.end() : sign.end() + ADDRESS_CHARS + 1]
        if opened >= 0 and _is_told(name, address):
            start = sign.start() - len(label) + label.index(name)
            yield _sighting(start, start + len(name))


def _is_told(name: str, address: str) -> bool:
    """Return whether the text of a link is a name, and the address that it writes to says so."""
    if not is_name(name):
        return False
    if _HANGUL.fullmatch(name):
        return True
    local = _LOCAL.match(address)
    words = name.lower().translate(_UNMARKED).split()
    if local is None:
        return False
    box = local[0].lower()
    return words[-1] in box or _UNJOINED.sub("", box) == words[0] + words[-1][0]


def _korean(text: str) -> Iterator[Sighting]:
    for found in _HONOURED.finditer(text):
        if _is_korean(found[1]) and not (found[2] not in _POLITE and found[1][:2] in TOPICS):
            yield _sighting(*found.span(1))
    for found in _LABELLED.finditer(text):
        if _is_korean(found[1]):
            yield _sighting(*found.span(1))


def _is_korean(name: str) -> bool:
    """Return whether a family name and two syllables are a name, and no common word."""
    if name in COMMON_WORDS or name[-1] in NOT_LAST:
        return False
    if name[:2] in LONG_FAMILY_NAMES:
        return len(name) in (3, 4)
    if len(name) != 3 or name[0] not in FAMILY_NAMES:
        return False
    if name[1] not in FIRST_SYLLABLES or name[2] not in LAST_SYLLABLES:
        return False
    return name[2] != "자" or name[1] in BEFORE_JA


def _bare(name: str) -> str:
    """Return a name without titles before it and degrees after it."""
    name = " ".join(name.split())
    while title := _TITLE.match(name):
        name = name[title.end() :]
    return name.partition(",")[0].strip()


@lru_cache(maxsize=64)
def _any_of(names: frozenset[str]) -> re.Pattern[str]:
    """Return what finds whole names; in Korean a particle follows at once."""
    listed = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
    return re.compile(rf"(?<!\w)(?:{listed})(?![A-Za-z0-9_])")


def _sighting(start: int, end: int) -> Sighting:
    return Sighting(start, end, PiiKind.NAME)


_CAPITAL = "A-ZÀ-ÖØ-ÞŁŚŠŽČĆĐŘ"
_PART = (
    rf"(?:[{_CAPITAL}]\.|(?:[DO]['’]|Mc|Mac)?[{_CAPITAL}][^\W\d_]+(?:[-’'][{_CAPITAL}]?[^\W\d_]+)*)"
)
_LINK_WORD = r"(?:van der|van den|van|von|de la|de|del|della|di|da|dos|du|la|le|bin|al|el|ter)"
_NAME = re.compile(rf"(?:{_LINK_WORD} )?{_PART}(?: (?:{_LINK_WORD} )?{_PART}){{0,3}}")
_WHOLE = re.compile(rf"{_PART}(?: (?:{_LINK_WORD} )?{_PART}){{1,3}}")
_TITLE = re.compile(
    r"\b(?:(?P<english>(?:Mr|Mrs|Ms|Mx|Prof|(?P<doctor>Dr))\b\.?|Miss|Sir|Dame|Doctor)|(?P<loose>Rev|Hon|Capt|Lt|Col|"
    r"Gen|Sgt|Sen|Rep|Gov)\.|Professor|Herrn?|Frau|Mme|Mlle|Monsieur|Madame|"
    r"Señora?|Signora?) (?:(?:Dr|Prof)\.? )*"
)
# A house on a drive: `12 Elm Dr. Suite 4`.
_DRIVE = re.compile(r"\d (?:[A-Z][\w.'-]* ){1,4}\Z")
# What a single name is followed by; a noun makes it a brand, as in `Dr. Oetker pizza`.
_GOES_ON = re.compile(
    r"\s*(?:[.,;:)\]|\"”!?/]|\Z)|\s+(?:will|is|was|has|had|would|could|can|may|should|must|did|does|"
    r"said|says|who|put|spoke|told|wrote|left|came|went|made|took|gave|teaches|works|lives|"
    r"yesterday|today|tomorrow|und|et|y|\w+ed)\b"
)
_UNMARKED = {ord(sign): None for sign in "'’"} | {ord("."): " ", ord("-"): " "}
_POSSESSIVE = re.compile(r"['’]s?\Z")
_MAILTO = re.compile(r"\]\(mailto:")
_UNJOINED = re.compile(r"[._\d-]+")
_LOCAL = re.compile(rf"[^@)\s?]{{1,{ADDRESS_CHARS}}}")

_HANGUL = re.compile("[가-힣]+")
_POLITE = ("님", "씨")
_AFTER = (
    "님|씨|교수|기자|박사|변호사|대표이사|대표|팀장|부장|과장|차장|실장|선생님|작가|감독|의원|"
    "원장|회장|사장|장관|이사|연구원|판사|검사|목사|군수|시장"
)
_PARTICLES = (
    "이|가|은|는|을|를|의|에게|에|께서|께|과|와|도|입니다|이다|이고|이라|에서|한테|로|으로|님|"
    "이신|인|처럼|만|측"
)
# The polite endings may be glued to the name, the others stand apart from it.
_HONOURED = re.compile(
    rf"(?<![가-힣])([가-힣]{{3,4}}?)(?: ?(?=[님씨])| )({_AFTER})"
    rf"(?:(?:{_PARTICLES})(?![가-힣])|(?![가-힣]))"
)
_LABELLED = re.compile(
    r"(?:성명|이름|성함|담당자|작성자|예금주|대표자|신청인|수신인|발신인|글쓴이)"
    r"(?: ?[:：] ?| )\**([가-힣]{3,4})(?![가-힣])"
)
