"""Copyright notices at the end of a page."""

from __future__ import annotations

import pytest

from geomi.extract.dom import parse_html
from geomi.extract.metadata import MAX_NOTICE_CHARS, find_notice, read_metadata


def claimed(html: str) -> dict[str, str]:
    pairs = dict(read_metadata(parse_html(html.encode(), "text/html")).pairs)
    return {name: pairs[name] for name in ("copyright", "license") if name in pairs}


@pytest.mark.req("LEG-13")
@pytest.mark.parametrize(
    ("html", "notice"),
    [
        (
            "<main>x</main><footer><p>&copy; 2025 Silk Works. We rest.</p></footer>",
            "© 2025 Silk Works.",
        ),
        ("<body><p>x</p><div id=f>Copyright 2024 Seo</div>", "Copyright 2024 Seo"),
        ('<meta name=copyright content="Seo"><footer>© 2020 x</footer>', "Seo"),
        (
            "<footer>저작권자 © 나무신문 무단전재 및 재배포 금지</footer>",
            "저작권자 © 나무신문 무단전재 및 재배포 금지",
        ),
        (
            "<footer>© 2025 Seo. All rights reserved. Terms</footer>",
            "© 2025 Seo. All rights reserved",
        ),
        ("<footer>Silk Works, all rights reserved</footer>", "Silk Works, all rights reserved"),
        ("<footer><a>Copyright</a> © 2025 Seo | Terms</footer>", "Copyright © 2025 Seo"),
        ("<p>(c) 2025 Seo</p><p>Copyright</p>", "(c) 2025 Seo"),
    ],
)
def test_a_notice_is_found(html: str, notice: str) -> None:
    assert claimed(html) == {"copyright": notice}


@pytest.mark.parametrize(
    "html",
    [
        "<p>The copyright page of a book.</p>",
        "<footer>Contact</footer>",
        "<footer>무단</footer>",
        "",
        "<frameset>",
    ],
)
def test_no_notice(html: str) -> None:
    assert claimed(html) == {}


@pytest.mark.req("LEG-13")
def test_a_licence_is_what_the_head_links_to() -> None:
    html = '<link rel="license nofollow" href="https://creativecommons.org/licenses/by/4.0/">'
    assert claimed(html) == {"license": "https://creativecommons.org/licenses/by/4.0/"}


def test_a_notice_has_a_limit() -> None:
    assert len(find_notice("© 2025 " + "x" * 500)) <= MAX_NOTICE_CHARS
