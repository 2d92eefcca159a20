"""The census counts what lies in the package, and leaves the judgement to its reader."""

from __future__ import annotations

from pathlib import Path

from tools.census import MANY_MODULES, census


def test_rooms_packages_and_sizes(tmp_path: Path) -> None:
    """An `__init__.py` has lines and is no module."""
    (tmp_path / "url").mkdir()
    (tmp_path / "url" / "__init__.py").write_text("1\n")
    for number in range(MANY_MODULES):
        (tmp_path / "url" / f"m{number}.py").write_text("1\n" * number)
    (tmp_path / "errors.py").write_text("1\n" * 100)
    lines = list(census(tmp_path))
    assert lines[0] == "14 files, 167 lines; 13 modules, median 6 lines, p90 64"
    assert lines[lines.index("\nlargest modules") + 1] == "    100  errors.py"
    assert lines[lines.index("\nlines of each room") :] == [
        "\nlines of each room",
        "    100  errors.py",
        "     67  url",
    ]
    assert f"{MANY_MODULES:7}  url" in lines
