"""Every package says what comes in, what goes out and what it must never do."""

from __future__ import annotations

import ast

import pytest

from tests.architecture.tree import PACKAGE, Module, modules


@pytest.mark.parametrize("module", modules(), ids=lambda module: module.name)
def test_modules_have_a_docstring(module: Module) -> None:
    """A module opens with what it decides."""
    assert ast.get_docstring(module.tree)


def test_every_folder_with_code_is_a_package() -> None:
    """A folder without `__init__.py` would be left out by the layers' check."""
    folders = {module.path.parent for module in modules()}
    assert [
        folder.relative_to(PACKAGE).as_posix()
        for folder in folders
        if not (folder / "__init__.py").exists()
    ] == []


def test_the_package_is_typed() -> None:
    """Type checkers of others read our annotations."""
    assert (PACKAGE / "py.typed").exists()
