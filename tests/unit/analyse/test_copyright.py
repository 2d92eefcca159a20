"""Who claims a page."""

from __future__ import annotations

import pytest

from geomi.analyse.copyright import find_copyright
from geomi.model.page import PageLink
from tests.unit.analyse.made import article


@pytest.mark.req("LEG-13")
@pytest.mark.parametrize(
    ("notice", "holder", "year"),
    [
        ("© 2025 Geomi Silk Works.", "Geomi Silk Works", 2025),
        (
            "Copyright © 2006-2023 The Wood Whisperer Inc. All rights reserved",
            "The Wood Whisperer Inc",
            2023,
        ),
        ("© Jobber 2025", "Jobber", 2025),
        ("저작권자 © 나무신문 무단전재 및 재배포 금지", "나무신문", None),
        ("© 2025", None, 2025),
    ],
)
def test_a_notice_has_a_holder_and_a_year(
    notice: str, holder: str | None, year: int | None
) -> None:
    found = find_copyright(article("x", metadata=(("copyright", notice),)))
    assert found is not None
    assert (found.holder, found.year, found.is_reserved) == (holder, year, True)


@pytest.mark.req("LEG-13")
@pytest.mark.parametrize(
    "metadata",
    [
        (("copyright", "© 2025 Seo"), ("license", "https://creativecommons.org/licenses/by/4.0/")),
        (("copyright", "© 2025 Seo, CC BY-SA 4.0"),),
        (
            ("ld:Article.copyrightHolder.name", "Seo"),
            ("ld:Article.license", "https://www.kogl.or.kr/open/"),
        ),
    ],
)
def test_an_open_licence_reserves_nothing(metadata: tuple[tuple[str, str], ...]) -> None:
    found = find_copyright(article("x", metadata=metadata))
    assert found is not None
    assert not found.is_reserved


def test_a_link_may_lead_to_the_licence() -> None:
    link = PageLink("https://creativecommons.org/licenses/by/4.0/", "CC", "license nofollow")
    found = find_copyright(article("x", metadata=(("copyright", "© 2025 Seo"),), links=(link,)))
    assert found is not None
    assert (found.license, found.is_reserved) == (link.url, False)


def test_the_licence_of_a_picture_is_not_that_of_the_page() -> None:
    pairs = (("ld:ImageObject.license", "https://creativecommons.org/licenses/by/4.0/"),)
    assert find_copyright(article("x", metadata=pairs)) is None


def test_structured_data_names_holder_and_year() -> None:
    pairs = (
        ("ld:Article.copyrightHolder.name", "Silk Works"),
        ("ld:Article.copyrightYear", "2019"),
    )
    found = find_copyright(article("x", metadata=pairs))
    assert found is not None
    assert (found.holder, found.year, found.license) == ("Silk Works", 2019, None)


def test_no_notice_is_none() -> None:
    assert find_copyright(article("© in the text is the author's affair")) is None
