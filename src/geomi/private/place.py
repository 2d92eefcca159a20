"""Find postal addresses by their form: Korean by road and by lot, American, British.

Rules kept:
- Korean: a road (`로`, `길`) or a village (`동`, `리`, `가`) with its number, behind the name of a
  district that there is. A road may also follow the word `주소`.
- American and British: a number, names with capitals, and a word such as `Street`. A state or a
  postcode behind it makes any such word count; without one, a word that hardly means anything else,
  at the end of its phrase. With a whole postcode a street needs no such word (`28 Eastgate`).
- A post-office box with its number.
- The search starts at numbers, and reads a bounded window around each: the time is linear.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from geomi.model.personal_data import PiiKind, Sighting

BEFORE_CHARS = 60  # what may stand before the road of a Korean address


def places(text: str) -> Iterator[Sighting]:
    """Yield the postal addresses of a text."""
    yield from _western(text)
    if not text.isascii():
        yield from _korean(text)


def _western(text: str) -> Iterator[Sighting]:
    end = 0
    for found in _STREET.finditer(text):
        start = found.start()
        if start < end:
            continue
        is_named = found["named"] is not None
        tail = (_CODED if is_named else _TAIL).match(text, found.end())
        if is_named and tail is None:
            continue
        if tail is None:
            is_sure = found["sure"] is not None or found["box"] is not None
            if not (is_sure and _CLOSED.match(text, found.end())):
                continue
            if found["box"] is None and _COUNTED.search(text, max(0, start - 20), start):
                continue
        end = tail.end() if tail else found.end()
        end -= text[end - 1] == "." and not tail
        yield Sighting(start, end, PiiKind.ADDRESS)


def _korean(text: str) -> Iterator[Sighting]:
    end = 0
    for found in _NUMBERED.finditer(text):
        at = found.start() + 1  # behind the last letter of the road
        if at <= end:
            continue
        number = _NUMBER.match(text, at)
        if number is None:
            continue
        start = _korean_start(text[max(end, at - BEFORE_CHARS) : at], is_road=found[0][0] in "로길")
        if start is None:
            continue
        end = number.end()
        yield Sighting(at - start, end, PiiKind.ADDRESS)


def _korean_start(before: str, *, is_road: bool) -> int | None:
    """Return how far before the number of a house its address begins; None if it is none."""
    words = list(_WORD.finditer(before))
    if not words or words[-1].end() != len(before) or len(words[-1][0]) < 2:
        return None
    at = len(words) - 1
    if at and words[at - 1][0][-1] in "읍면":
        at -= 1
    is_known = False
    first = at
    while first and words[first - 1][0] in _DISTRICTS:
        first, is_known = first - 1, True
    if is_known and first and words[first - 1][0] in _ALL_PROVINCES:
        first -= 1
    if not is_known and not (is_road and at and words[at - 1][0].endswith(_CUES)):
        return None
    return len(before) - words[first].start()


_STATES = (
    "A[KLRZ]|C[AOT]|D[CE]|FL|GA|HI|I[ADLN]|K[SY]|LA|M[ADEINOST]|N[CDEHJMVY]|O[HKR]|PA|RI|S[CD]|"
    "T[NX]|UT|V[AT]|W[AIVY]|PR|Alabama|Alaska|Arizona|Arkansas|California|Colorado|Connecticut|"
    "Delaware|Florida|Georgia|Hawaii|Idaho|Illinois|Indiana|Iowa|Kansas|Kentucky|Louisiana|Maine|"
    "Maryland|Massachusetts|Michigan|Minnesota|Mississippi|Missouri|Montana|Nebraska|Nevada|"
    "New (?:Hampshire|Jersey|Mexico|York)|(?:North|South) (?:Carolina|Dakota)|Ohio|Oklahoma|"
    "Oregon|Pennsylvania|Rhode Island|Tennessee|Texas|Utah|Vermont|(?:West )?Virginia|Washington|"
    "Wisconsin|Wyoming"
)
_SURE = r"Street|St|Avenue|Ave|Road|Rd|Boulevard|Blvd|Lane|Ln|Terrace|Crescent"
_OTHER = (
    r"Drive|Dr|Court|Ct|Place|Pl|Way|Square|Sq|Close|Parkway|Pkwy|Plaza|Gardens|Grove|Mews|Hill|"
    r"Row|Walk|Circle|Cir|Highway|Hwy|Trail|Green|Park|Broadway|Quay|Wharf|Alley|Loop|Rise|View"
)
_NAME = r"(?:[A-Z][A-Za-z.'’-]{0,20}|\d{1,3}(?:st|nd|rd|th))"
_UNIT = r"(?:Flat|Unit|Apt|Apartment|Suite|Ste|Room|Rm|Floor)\.? ?#?[0-9A-Za-z]{1,5}"
_STREET = re.compile(
    rf"(?<![\w.#$£€/-])(?<!\d,)(?:(?P<box>P\. ?O\. Box \d{{1,6}}|P\.?O\.? Box \d{{1,6}}|"
    rf"Post Office Box \d{{1,6}})|(?:{_UNIT}, )?\d{{1,5}}(?:-\d{{1,4}}|[A-Za-z])? "
    rf"(?:(?:{_NAME} ){{1,5}}?(?:(?P<sure>{_SURE})|{_OTHER})\b\.?(?: (?:[NS][EW]?|[EW])\b\.?)?|"
    rf"(?P<named>{_NAME}(?: {_NAME}){{0,2}})(?=,)))"
)
_CITY = r"[A-Z][A-Za-z.'’-]{1,20}(?: [A-Z][A-Za-z.'’-]{1,20}){0,3}?"
_CITIES = (
    rf"(?:,? (?:{_UNIT}|#\w{{1,5}}|\d{{1,3}}(?:st|nd|rd|th) [Ff]loor))?(?:,?[ \n]{_CITY}){{0,3}}?"
)
_POSTCODE = r",? [A-Z]{1,2}\d[A-Z\d]? \d[A-Z]{2}\b"
_CODED = re.compile(rf"{_CITIES}(?:,? (?:{_STATES}),? \d{{5}}(?:-\d{{4}})?\b|{_POSTCODE})")
_TAIL = re.compile(
    rf"{_CITIES}"
    rf"(?:,? (?:{_STATES})\b(?:,? \d{{5}}(?:-\d{{4}})?\b|(?!,? [A-Z][A-Za-z]+,? \d{{5}}))"
    rf"|{_POSTCODE})"
)
# A phrase that continues with a noun speaks of a street's banks or shops.
_CLOSED = re.compile(
    r"\s*(?:[.,;:)\]|\"'”’\n]|\Z)|\s+(?:in|near|on|and|or|is|was|at|for|to|by|from|until|since|"
    r"last|next|now|today)\b"
)
# What is counted, numbered or dated has no house number.
_COUNTED = re.compile(
    r"(?:version|chapter|section|figure|fig\.|page|top|table|step|item|route|part|no\.|the|in|"
    r"since|year|season|episode|level|phase) \Z",
    re.IGNORECASE,
)

_NUMBERED = re.compile(r"[로길동리가] ?(?:산 ?|지하 ?)?(?=\d)")
_DETAIL = (
    r"(?:,? (?:\d{1,4}동 ?)?\d{1,4}호|,? (?:지하 ?)?\d{1,3}층(?: ?\d{1,4}호)?)?"
    r"(?: ?\([가-힣0-9]{2,12}[동리가](?:, ?[^()\n]{1,20})?\))?"
)
# A particle may follow at once; any other letter makes it a count: `3명`, `10분`.
_NUMBER = re.compile(
    r" ?(?:산 ?|지하 ?)?\d{1,5}+(?:(?:번가?|[가나다라마바사])?길 ?\d{1,4}+)?+"
    r"(?:-\d{1,4}+)?+(?:번지|번)?+(?![.,:]\d|%)"
    r"(?:(?=(?:에|으로|로|의|은|는|이고|이며|이다|이라|입니|과|와)(?:[가-힣]|\b))|"
    rf"(?![가-힣A-Za-z]){_DETAIL})"
)
_WORD = re.compile(r"[^\s()\[\],|:：*\"'“”‘’<>~]+")
_CUES = ("주소", "소재지", "배송지", "주소지")

# The names of Korea's provinces, cities, counties and districts, as addresses write them.
# Each with its short name, which alone says little: `서울 3대 맛집`.
_PROVINCES = {
    "서울": "서울시 서울특별시", "부산": "부산시 부산광역시", "대구": "대구시 대구광역시",
    "인천": "인천시 인천광역시", "광주": "광주광역시", "대전": "대전시 대전광역시",
    "울산": "울산시 울산광역시", "세종": "세종시 세종특별자치시", "경기": "경기도",
    "강원": "강원도 강원특별자치도", "충북": "충청북도", "충남": "충청남도",
    "전북": "전라북도 전북특별자치도", "전남": "전라남도", "경북": "경상북도", "경남": "경상남도",
    "제주": "제주도 제주특별자치도",
}  # fmt: skip
_ALL_PROVINCES = frozenset(_PROVINCES).union(*(names.split() for names in _PROVINCES.values()))
# Sejong has no districts: its own name says as much as another city's.
_DISTRICTS = frozenset(
    """
    세종시 세종특별자치시
    종로구 중구 용산구 성동구 광진구 동대문구 중랑구 성북구 강북구 도봉구 노원구 은평구 서대문구
    마포구 양천구 강서구 구로구 금천구 영등포구 동작구 관악구 서초구 강남구 송파구 강동구
    서구 동구 영도구 부산진구 동래구 남구 북구 해운대구 사하구 금정구 연제구 수영구 사상구 기장군
    수성구 달서구 달성군 군위군 미추홀구 연수구 남동구 부평구 계양구 강화군 옹진군 광산구 유성구
    대덕구 울주군
    수원시 장안구 권선구 팔달구 영통구 성남시 수정구 중원구 분당구 의정부시 안양시 만안구 동안구
    부천시 원미구 소사구 오정구 광명시 평택시 동두천시 안산시 상록구 단원구 고양시 덕양구
    일산동구 일산서구 과천시 구리시 남양주시 오산시 시흥시 군포시 의왕시 하남시 용인시 처인구
    기흥구 수지구 파주시 이천시 안성시 김포시 화성시 광주시 양주시 포천시 여주시 연천군 가평군
    양평군
    춘천시 원주시 강릉시 동해시 태백시 속초시 삼척시 홍천군 횡성군 영월군 평창군 정선군 철원군
    화천군 양구군 인제군 고성군 양양군
    청주시 상당구 서원구 흥덕구 청원구 충주시 제천시 보은군 옥천군 영동군 증평군 진천군 괴산군
    음성군 단양군
    천안시 동남구 서북구 공주시 보령시 아산시 서산시 논산시 계룡시 당진시 금산군 부여군 서천군
    청양군 홍성군 예산군 태안군
    전주시 완산구 덕진구 군산시 익산시 정읍시 남원시 김제시 완주군 진안군 무주군 장수군 임실군
    순창군 고창군 부안군
    목포시 여수시 순천시 나주시 광양시 담양군 곡성군 구례군 고흥군 보성군 화순군 장흥군 강진군
    해남군 영암군 무안군 함평군 영광군 장성군 완도군 진도군 신안군
    포항시 경주시 김천시 안동시 구미시 영주시 영천시 상주시 문경시 경산시 의성군 청송군 영양군
    영덕군 청도군 고령군 성주군 칠곡군 예천군 봉화군 울진군 울릉군
    창원시 의창구 성산구 마산합포구 마산회원구 진해구 진주시 통영시 사천시 김해시 밀양시 거제시
    양산시 의령군 함안군 창녕군 남해군 하동군 산청군 함양군 거창군 합천군
    제주시 서귀포시
    """.split()
)
