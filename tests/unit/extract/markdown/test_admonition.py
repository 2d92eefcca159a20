"""Notes, tips and warnings."""

from __future__ import annotations

import pytest

from geomi.extract.markdown import notes as room
from tests.unit.extract.markdown.written import write


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        (
            '<div class="admonition note"><p class="admonition-title">To know</p><p>x</p></div>',
            "> **To know**\n>\n> x",
        ),
        ('<div class="tip custom-block"><p>x</p></div>', "> **Tip**\n>\n> x"),
        ('<div class="theme-admonition theme-admonition-info">x</div>', "> **Info**\n>\n> x"),
        ('<div class="callout">x</div>', "> x"),
        ('<div class="warning"><b>Warning</b> x</div>', "> **Warning** x"),
        ('<aside class="starlight-aside starlight-aside--tip">x</aside>', "> **Tip**\n>\n> x"),
        (
            '<div class="markdown-alert markdown-alert-caution">'
            '<p class="markdown-alert-title"><svg></svg>Caution</p><p>x</p></div>',
            "> **Caution**\n>\n> x",
        ),
        (
            '<div class="theme-admonition theme-admonition-tip"><div class="admonitionHeading_x">'
            "tip</div><div><p>x</p></div></div>",
            "> **Tip**\n>\n> x",
        ),
        ('<p class="note">x</p>', "x"),
        ('<div class="footnote">x</div>', "x"),
    ],
)
def test_a_note_is_a_quotation_with_a_label(html: str, expected: str) -> None:
    assert write(f"<p><code>a</code></p>{html}") == f"`a`\n\n{expected}"


@pytest.mark.parametrize(
    ("inner", "expected"),
    [
        ("<pre>x\ny</pre>", "**Note**\n\n```\nx\ny\n```"),
        ("<h3>Note</h3><p>x</p>", "### Note\n\nx"),
    ],
)
def test_what_must_be_copied_is_not_quoted(inner: str, expected: str) -> None:
    assert write(f'<p><code>a</code></p><div class="note">{inner}</div>') == f"`a`\n\n{expected}"


@pytest.mark.parametrize(("extra", "mark"), [(0, "> "), (1, "")])
def test_a_long_note_is_no_note(extra: int, mark: str) -> None:
    words = "x" * (room.MAX_NOTE_CHARS + extra)
    assert write(f'<p><code>{words}</code></p><div class="callout">{words}</div>').endswith(
        f"\n{mark}{words}"
    )


def test_notes_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "MAX_ADMONITIONS", 1)
    notes = '<pre>a</pre><div class="callout">x</div><div class="callout">y</div>'
    assert write(notes).endswith("> x\n\ny")
