"""Find telephone numbers in a run of digits, by the forms that people write.

Rules kept:
- With `+` and a country code a number of any country counts (E.164: at most 15 digits). Numbers of
  North America and Korea must have the local form.
- Without it, the forms of Korea, North America, Britain, France, Japan and Australia count, with
  the separators that people there write. A Korean mobile number needs none.
- Right after a word such as `tel`, `phone`, `전화` or `☎`, any grouping counts that is not a date.
  After a word for an office, such as `office` or `고객센터`, a number counts if it begins with a
  single 0 or has the form of a Korean service number.
- After a word for another thing, such as an order, a part or an account, only `+` counts.
- Digits that are separated by spaces alone are a table rather than a number.
- Short service numbers (`119`, `1588-1234`) count only after such a word: they belong to no person.
- An extension is part of its number, and so is the end of a row of lines (`02-123-4567~8`).
- Digits that are written as words (`공일공`) do not count.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from geomi.model.personal_data import PiiKind, Sighting
from geomi.private.digits import END, START, Run, before, only_digits
from geomi.private.number_context import names_answering_service, names_other, names_phone

MIN_NATIONAL_DIGITS, MIN_LOCAL_DIGITS, MAX_DIGITS = 7, 9, 15
GAP_CHARS = 4  # between two columns of figures


def phones(run: Run) -> Iterator[Sighting]:
    """Yield the telephone numbers of a run; some may be found in more than one form."""
    has_prefix = _PREFIX.search(run.text, run.body, run.end) is not None
    for found in _INTERNATIONAL.finditer(run.text, run.body) if has_prefix else ():
        if _is_international(run.text, found):
            yield _sighting(run, found)
    for found in _LOCAL.finditer(run.text, run.body) if run.digits >= MIN_LOCAL_DIGITS else ():
        if _is_local(run.text, found):
            yield _sighting(run, found)
    words = run.text[: run.start].removesuffix("(")
    named = _ANY.match(run.text, len(words))
    if named is None and len(words) < run.start:  # `(555-0142)`
        named = _ANY.match(run.text, run.start)
    if named is not None and _is_told(run.text, words, named["number"]):
        yield _sighting(run, named)


def _sighting(run: Run, found: re.Match[str]) -> Sighting:
    return Sighting(run.offset + found.start(), run.offset + found.end(), PiiKind.PHONE)


def _is_international(text: str, found: re.Match[str]) -> bool:
    if found[0].startswith("0") and _is_in_row(text, found):
        return False
    if found["korea"] or found["america"]:
        return found["america"] is None or _is_american(only_digits(found["america"]))
    digits = only_digits(found["world"].replace("(0)", ""))
    code = next((size for size in (1, 2, 3) if digits[:size] in _CODES), 0)
    head = len(_HEAD.match(found["world"])[0])  # type: ignore[index]  # it begins with a digit
    if not code or head < code or len(digits) > MAX_DIGITS:
        return False
    return len(digits) - code >= MIN_NATIONAL_DIGITS


def _is_local(text: str, found: re.Match[str]) -> bool:
    if found["mobile"]:
        return True
    # `031-2024-0007호` is the number of a document.
    if names_other(before(text, found.start())) or text.startswith("호", found.end()):
        return False
    if found["us"] and not _is_american(only_digits(found["us"])):
        return False
    number = found[0]
    is_spaced = " " in number and not any(sign in number for sign in "-.()/")
    return not (is_spaced and _is_in_row(text, found))


def _is_told(text: str, words: str, number: str) -> bool:
    """Return whether the words before a number tell that it is one, and it is no date."""
    digits = len(only_digits(number))
    if digits < MIN_NATIONAL_DIGITS or _DATE.match(number):
        return False
    if names_phone(words):
        return True
    # Elsewhere `ARS` is a currency, and `1500-1800` are hours or years.
    is_service = _SERVICE.fullmatch(number) and _HANGUL.search(text)
    is_national = digits >= MIN_LOCAL_DIGITS and _TRUNK.match(number)
    return bool(is_service or is_national) and names_answering_service(words)


def _is_american(digits: str) -> bool:
    """Return whether an area and an exchange can be dialled: neither begins with 0 or 1."""
    return min(digits[0], digits[3]) >= "2" and digits[1:3] != "11"


def _is_in_row(text: str, found: re.Match[str]) -> bool:
    left = before(text, found.start()).rstrip(" ")
    right = text[found.end() : found.end() + GAP_CHARS].lstrip(" ")
    return left[-1:].isdigit() or right[:1].isdigit()


_S = r"(?: ?\\?[-.] ?| )"  # between two groups: `-`, `.`, ` - `, `. `, or a space
_FOURS = rf"\d{{3,4}}{_S}\d{{4}}"
_INWARD = r"(?i:x|ext(?:ension|n)?|내선(?:번호)?)[.:]? ?"
_EXTENSION = rf"(?:[,;]? ?{_INWARD}\d{{1,5}}| ?\({_INWARD}\d{{1,5}}\))?"

_PREFIX = re.compile(r"[+]|%2B|00")
_KOREAN_AREA = r"(?:2|[3-6][1-5]|70|80|50\d?)"
_INTERNATIONAL = re.compile(
    r"(?:(?<![0-9A-Za-z_])\+ ?|%2B|(?<![0-9A-Za-z_.+-])00 ?)(?:"
    rf"(?P<korea>82{_S}?\)?{_S}?(?:\(0\) ?|0)?(?:10{_S}?\d{{4}}{_S}?\d{{4}}"
    rf"|(?:1[16-9]|{_KOREAN_AREA}){_S}?{_FOURS}|(?:1[16-9]|{_KOREAN_AREA})\d{{7,8}}))"
    rf"|1{_S}?(?P<america>\(?\d{{3}}\)?{_S}?\d{{3}}{_S}?\d{{4}})"
    rf"|(?P<world>[2-9](?:[ .()/-]{{0,3}}\d){{6,14}})){_EXTENSION}(?![0-9A-Za-z_])(?!-\d)"
)
_HEAD = re.compile(r"\d+")

_LOCAL = re.compile(
    rf"(?:{START}|(?<=%2B))(?:"
    rf"(?P<mobile>010\d{{8}}|82-0?1[016-9]-\d{{3,4}}-\d{{4}}"
    rf"|01[016-9]{_S}\d{{3,4}}{_S}?\d{{4}}"
    rf"|010(?P<sign> ?[_·/~] ?)\d{{4}}(?P=sign)\d{{4}}|\(01[016-9]\) ?{_FOURS})"
    rf"|(?P<korea>(?:0{_KOREAN_AREA}(?:{_S}|\) ?)|\(0{_KOREAN_AREA}\)[ -]?){_FOURS})"
    rf"|(?:1[-. ])?(?P<us>(?:\(\d{{3}}\\?\) ?[-.]? ?|\d{{3}}{_S})\d{{3}}{_S}\d{{4}})"
    r"|(?P<uk>(?:02\d|\(02\d\))[ -]?\d{4}[ -]\d{4}|07\d{3}[ -]\d{3}[ -]?\d{3}"
    r"|(?:01(?:\d1|1[3-8])|\(01(?:\d1|1[3-8])\)|0[38]\d\d)[ -]\d{3}[ -]\d{4}"
    r"|(?:01\d{3}|\(01\d{3}\))[ -]\d{5,6})"
    r"|(?P<france>0[1-9](?P<gap>[ .-])\d\d(?P=gap)\d\d(?P=gap)\d\d(?P=gap)\d\d)"
    r"|(?P<japan>0[36]-\d{4}-\d{4}|0[5789]0-\d{4}-\d{4}|0\d{2}-\d{3}-\d{4})"
    r"|(?P<australia>\(0[2378]\) ?\d{4} ?\d{4}|04\d\d[ -]\d{3}[ -]\d{3})"
    rf")(?:~\d{{1,4}}|{_EXTENSION}){END}"
)
_AREA = r"(?:\(\d{2,5}\)|\d{2,5}\)?)"
# Pairs at the end are written in much of Europe, where no hours can be taken for them; `-0` there
# is a firm's own line.
_ANY = re.compile(
    rf"(?P<number>{_AREA}(?: ?/ ?|[ .-])(?:\d{{2,3}}[ .]){{1,4}}\d\d(?![ .-]{{1,2}}\d)"
    rf"|(?:{_AREA}{_S}|(?=\(?0){_AREA} ?/ ?)(?:\d{{2,5}}{_S}){{0,3}}\d{{3,8}}(?:-\d{{1,2}})?"
    rf"|\d{{8,12}}){_EXTENSION}{END}"
)
_TRUNK = re.compile(r"\(?0[1-9]\d{0,3}\)?[ /-]")
_SERVICE = re.compile(rf"1[568]\d\d{_S}\d{{4}}")
_HANGUL = re.compile(r"[가-힣]")
_DATE = re.compile(r"(?:19|20)\d\d(?:[-./ ]{1,2}\d{1,2}){2}|\d{1,2}[-./]\d{1,2}[-./](?:19|20)\d\d")

# E.164 country codes, 2 and 3 digits; `1` and `82` are read by their own forms.
_CODES = frozenset(
    "20 27 30 31 32 33 34 36 39 40 41 43 44 45 46 47 48 49 51 52 53 54 55 56 57 58 60 61 62 63 64 "
    "65 66 7 81 84 86 90 91 92 93 94 95 98 211 212 213 216 218 220 221 222 223 224 225 226 227 228 "
    "229 230 231 232 233 234 235 236 237 238 239 240 241 242 243 244 245 246 248 249 250 251 252 "
    "253 254 255 256 257 258 260 261 262 263 264 265 266 267 268 269 290 291 297 298 299 350 351 "
    "352 353 354 355 356 357 358 359 370 371 372 373 374 375 376 377 378 380 381 382 383 385 386 "
    "387 389 420 421 423 500 501 502 503 504 505 506 507 508 509 590 591 592 593 594 595 596 597 "
    "598 599 670 672 673 674 675 676 677 678 679 680 681 682 683 685 686 687 688 689 690 691 692 "
    "850 852 853 855 856 880 886 960 961 962 963 964 965 966 967 968 970 971 972 973 974 975 976 "
    "977 992 993 994 995 996 998".split()
)
