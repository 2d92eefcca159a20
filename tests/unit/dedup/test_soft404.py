"""Pages that come with status 200 and say that there is nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geomi.dedup import soft404 as room
from geomi.dedup.sketch import sketch
from geomi.dedup.soft404 import Soft404Candidate, Soft404Sign, judge, says_missing

FRAME = "we looked everywhere but the page that you asked for is not on this server any more "
TEMPLATE = sketch(FRAME * 2 + "you asked for /this/one")


def suspect(
    title: str = "Page not found",
    heading: str = "Page not found",
    text: str = "Sorry.",
    status: int = 200,
    path: str = "/some/page",
) -> Soft404Candidate:
    return Soft404Candidate(status, title, heading, len(text), sketch(text), path, text)


@pytest.mark.parametrize(
    "title",
    [
        "404",
        "Not Found",
        "Page not found | Example",
        "Example – 404 Not Found",
        "404 - Page not found",
        "Error 404: Not Found",
        "Oops! That page can't be found.",
        "Oops! That page can’t be found.",
        "This page could not be found",
        "Sorry, the page you are looking for does not exist",
        "404 Not Found · GitHub",
        "페이지를 찾을 수 없습니다",
        "요청하신 페이지를 찾을수 없습니다.",
        "404 오류 | 예제",
        "존재하지 않는 페이지입니다",
    ],
)
def test_titles_that_say_so(title: str) -> None:
    assert says_missing(title)


@pytest.mark.parametrize(
    "title",
    [
        "",
        "How to fix a 404 Not Found error",
        "Fix: page not found after update",
        "404 pages that we love",
        "Peugeot 404 - Wikipedia",
        "ModuleNotFoundError",
        "Command not found in bash",
        "404 페이지 만들기",
        "찾을 수 없는 파일 복구하기",
        "x" * room.MAX_TITLE_CHARS + " | Not Found",
    ],
)
def test_titles_that_do_not(title: str) -> None:
    assert not says_missing(title)


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        (suspect(), Soft404Sign.APOLOGY),
        (suspect(text="x" * room.MAX_APOLOGY_CHARS), Soft404Sign.APOLOGY),
        (suspect(text="x" * (room.MAX_APOLOGY_CHARS + 1)), None),
        (suspect(heading="Welcome"), None),
        (suspect(title="Example"), Soft404Sign.APOLOGY),
        (suspect(title="Example", heading="404"), Soft404Sign.APOLOGY),
        (suspect(title="Example", text="x" * (room.MAX_APOLOGY_CHARS + 1)), None),
        (suspect(path="/404/some/page"), Soft404Sign.APOLOGY),
        (suspect(path="/shop/error/7", text="Page not found"), Soft404Sign.APOLOGY),
        (suspect(path="/404", text=""), Soft404Sign.APOLOGY),
        (suspect(path="/item/14042", text="It is gone."), Soft404Sign.APOLOGY),
        (suspect(status=404), None),
        (suspect(heading="", text=FRAME * 2 + "you asked for /another"), Soft404Sign.TEMPLATE),
        (suspect("Example", "", text=FRAME * 2 + "you asked for /another"), None),
        (suspect(heading="", text="an explanation of what the status 404 means " * 20), None),
    ],
)
def test_a_page_must_say_so_and_look_like_it(
    page: Soft404Candidate, expected: Soft404Sign | None
) -> None:
    assert judge(page, [TEMPLATE]) == expected


@pytest.mark.parametrize(
    "page",
    [
        suspect(
            "404 Not Found errors in nginx explained", "404 Not Found errors in nginx explained"
        ),
        suspect("404 Not Found", "404 Not Found", "A status of HTTP.", path="/status/404"),
        suspect("HTTP", "404 Not Found", "The resource does not exist.", path="/codes/404.html"),
        suspect("Not found - Glossary", "Not found", "What it means.", path="/glossary/not-found"),
        suspect("Not Found", "Not Found", "Why do I see it?", path="/t/%6Eot_found-on-login/77"),
        suspect("404 오류", "404 오류", "오류의 뜻.", path="/용어/찾을-수-없음"),
        suspect("404 오류", "404 오류", "뜻.", path="/docs/http-errors?id=4"),
        suspect("404", "404", "The Peugeot 404 is a large family car. " * 12, path="/wiki/Peugeot"),
        suspect("Page not found", "Page not found", "Albums of that name. " * 30, path="/music"),
        suspect("Not Found", "Reviews of the film", "It is about a page.", path="/films/7"),
    ],
    ids=lambda page: page.path,
)
def test_pages_about_it_are_pages(page: Soft404Candidate) -> None:
    assert judge(page, [TEMPLATE]) is None


def test_only_a_few_templates_are_compared() -> None:
    page = suspect(heading="", text=FRAME * 2 + "you asked for /another")
    others = [sketch(f"other {number}") for number in range(room.MAX_TEMPLATES)]
    assert judge(page, [*others[1:], TEMPLATE]) is Soft404Sign.TEMPLATE
    assert judge(page, [*others, TEMPLATE]) is None


def test_every_phrase_has_a_hint() -> None:
    assert all(any(hint in phrase for hint in room._HINTS) for phrase in room._PHRASES)


@given(st.text(), st.text())
def test_any_title_is_judged(title: str, heading: str) -> None:
    judge(suspect(title, heading), [])
