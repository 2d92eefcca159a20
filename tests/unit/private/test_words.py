"""What the words before a number, the signs in it and what follows it decide."""

from __future__ import annotations

import pytest

from geomi.model.personal_data import PiiKind
from geomi.private.detect import find
from tests.unit.private.test_detect import ALL


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0113 496 0018 in Leeds", "0113 496 0018"),
        ("(0118) 496 0018", "(0118) 496 0018"),
        ("Call us at 4155552671", "4155552671"),
        ("ring them on 4155552671", "4155552671"),
        ("my number is 4155552671", "4155552671"),
        ("Her number: 4155552671", "4155552671"),
        ("call us now at 4155552671", "4155552671"),
        ("콜센터는 1588-1234", "1588-1234"),
        ("예약: 1899.1234", "1899.1234"),
        ("상담 (1644-1234)", "1644-1234"),
        ("Tel (030) 901820", "(030) 901820"),
        ("Tel (555-0142)", "555-0142"),
        ("ARS 1544-1234 (연중무휴)", "1544-1234"),
        ("문의처 1577-1234", "1577-1234"),
        ("+44 20 7946 0321 extension 5", "+44 20 7946 0321 extension 5"),
        ("+82-2-123-4567, ext. 12", "+82-2-123-4567, ext. 12"),
        ("020 7946 0321 Ext 12345", "020 7946 0321 Ext 12345"),
        ("02-123-4567 (내선번호 204)", "02-123-4567 (내선번호 204)"),
        ("Telefon 030 901820 x12", "030 901820 x12"),
        ("02-123-4567~9 (대표)", "02-123-4567~9"),
        ("010_1234_5678", "010_1234_5678"),
        ("010 · 1234 · 5678", "010 · 1234 · 5678"),
        ("010・1234・5678", "010・1234・5678"),
        ("010/1234/5678", "010/1234/5678"),
        ("010～1234～5678", "010～1234～5678"),
        ("Handy 0171 3920 055", "0171 3920 055"),
        ("Telefon: 030/23125-118", "030/23125-118"),
        ("Tel. 030 226343-0", "030 226343-0"),
        ("Fax. 030/226 343 55", "030/226 343 55"),
        ("Tel. 044 555 01 23, Zürich", "044 555 01 23"),
        ("Tel. 030 / 269 97- 361", "030 / 269 97- 361"),
        ("Tel.: 09 555 09 505.", "09 555 09 505"),
        ("Tel: 02-123-4567 09-18", "02-123-4567"),
        ("Phone 415 555 2671 24 hours", "415 555 2671"),
        ("Móvil: 612 345 678", "612 345 678"),
        ("Front desk 09 555 0142", "09 555 0142"),
        ("시설관리 02-123-4567", "02-123-4567"),
    ],
)
def test_a_telephone_number_is_found(text: str, number: str) -> None:
    assert _found(text) == [(PiiKind.PHONE, number)]


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("SS# 087-46-2915", "087-46-2915"),
        ("SS#087-46-2915", "087-46-2915"),
        ("Soc. Sec. # 087 46 2915", "087 46 2915"),
        ("Social Security #: 087462915", "087462915"),
        ("SS No. 087 46 2915", "087 46 2915"),
        ("사회보장번호는 087 46 2915", "087 46 2915"),
    ],
)
def test_a_social_security_number_is_found(text: str, number: str) -> None:
    assert _found(text) == [(PiiKind.SSN, number)]


@pytest.mark.parametrize(
    "text",
    [
        "rooms 412 55 3907 were sold",
        "Total 120 45 2019",
        "Member # 087-46-2915",
        "SS 087 46 2915 sailed",
        "We reach 4155552671 people",
        "my order number is 4155552671",
        "at 4155552671",
        "call of the one with whom we spoke at 4155552671",
        "ARS 1500-2000 a night",
        "Reception 1500-1800",
        "예약번호 1588-1234",
        "the years 1588-1634",
        "Office 0012 3456 789",
        "관리번호 031-2024-0007",
        "문서번호: 02-2024-0007",
        "관리 031-202-0007호",
        "010_1234-5678_1",
        "010_1234_5678.png",
        "img_010_1234_5678",
        "공일공-1234-5678",
    ],
)
def test_another_number_is_left(text: str) -> None:
    assert _found(text) == []


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("Maestro 6759649826438453", "6759649826438453"),
        ("debit card no. 6759649826438453", "6759649826438453"),
        ("Card no. 4111111111111111", "4111111111111111"),
        ("no. 4111111111111111", ""),
        ("카드번호는 6759649826438453", "6759649826438453"),
        ("5018 0000 0000 0009", "5018 0000 0000 0009"),
        ("5018 0000 0000 0008", ""),  # not the sum
        ("/216/144/6759649826438453", ""),
        ("card 675964982643", ""),  # too short to tell from others
        ("card 6859649826438452", ""),
    ],
)
def test_a_card_is_told_by_its_sum_its_form_and_its_word(text: str, number: str) -> None:
    assert _found(text) == ([(PiiKind.CREDIT_CARD, number)] if number else [])


def _found(text: str) -> list[tuple[PiiKind, str]]:
    return [(place.kind, text[place.start : place.end]) for place in find(text, ALL)]
