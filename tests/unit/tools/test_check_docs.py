"""Documents that point nowhere are noticed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools import check_docs


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[a](b.md)", "link to `b.md`: no such file"),
        ("[a](a.md#nowhere)", "link to `a.md#nowhere`: no such heading"),
        ("`" + "tools/nothing.py`", "`" + "tools/nothing.py` does not exist"),
        ("see /" + "home/someone/file", "names a directory of one machine"),
        ("TO" + "DO", "leaves something open; finish it or write an issue"),
    ],
)
def test_problems(text: str, problem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each kind of slip is named with its place."""
    assert _check(text, tmp_path, monkeypatch) == [f"a.md:1: {problem}"]


@pytest.mark.parametrize(
    "text",
    [
        "# A title, here\n[a](a.md#a-title-here) [b](#a-title-here)",
        "[out](https://example.com/x.md) and `a.md` and `engine/visit/road.py`",
        "`sql/NAME.sql` and `../shared/corpus/a.md`",
        "```\n[not a link](x.md)\n```",
    ],
)
def test_fine(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What leads somewhere is left alone."""
    assert _check(text, tmp_path, monkeypatch) == []


def test_paths_in_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A comment keeps up with the files too; brackets in code are no links."""
    text = "rows[0](b)  # see `" + "tools/nothing.py`"
    problems = _check(text, tmp_path, monkeypatch, name="a.py")
    assert problems == ["a.py:1: `" + "tools/nothing.py` does not exist"]


def _check(
    text: str, folder: Path, monkeypatch: pytest.MonkeyPatch, *, name: str = "a.md"
) -> list[str]:
    monkeypatch.setattr(check_docs, "ROOT", folder)
    path = folder / name
    path.write_text(text, "utf-8")
    return list(check_docs.check(path))
