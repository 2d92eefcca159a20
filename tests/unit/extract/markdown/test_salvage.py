"""What pruning would take although it is content."""

from __future__ import annotations

import pytest

from geomi.extract.markdown import writer as room
from tests.unit.extract.markdown.written import write

TASKS = "<ul><li><input type=checkbox disabled checked> a<li><input type=Checkbox disabled> b</ul>"


def test_a_task_list_keeps_its_boxes() -> None:
    assert write(TASKS) == "- [x] a\n- [ ] b"


@pytest.mark.parametrize(
    "html",
    [
        "<ul><li><input type=checkbox> a</ul>",
        "<ul><li><input type=radio disabled> a</ul>",
    ],
)
def test_a_box_of_a_form_is_none(html: str) -> None:
    assert write(html) == "- a"


def test_an_aside_that_is_a_note_stays_and_any_other_goes() -> None:
    html = "<p>text of <code>x</code></p><aside class=note>a</aside><aside class=related>b</aside>"
    assert write(html) == "text of `x`\n\n> **Note**\n>\n> a"


def test_only_so_many_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "MAX_BOXES", 1)
    monkeypatch.setattr(room, "MAX_ASIDES", 0)
    assert write(TASKS) == "- [x] a\n- b"
    assert write("<p>long text</p><aside class=note>a</aside>") == "long text"
