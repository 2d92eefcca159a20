"""The glossary has one meaning for each word, and knows every class that a page meets on its road.

Read `docs/glossary.md`: a table of words with the classes that carry them, and after it a list of
classes whose names need no entry.
"""

from __future__ import annotations

import ast
import re

import pytest

from tests.architecture.tree import PACKAGE, Module, modules

GLOSSARY = PACKAGE.parents[1] / "docs" / "glossary.md"
ROAD = "engine/visit/road.py"
CODE = re.compile(r"`([A-Z]\w+)`")
ROW = re.compile(r"^\| (?P<word>[^|]+) \| (?P<meaning>[^|]+) \|(?P<classes>[^|]*)\|$", re.MULTILINE)


def test_the_words_are_in_alphabetical_order() -> None:
    words = _words(_text())
    assert len(words) > 100
    assert words == sorted(words)


def test_each_word_has_one_entry() -> None:
    words = _words(_text())
    assert sorted(words) == sorted(set(words))


def test_each_class_stands_once() -> None:
    named = CODE.findall(_class_cells(_text())) + CODE.findall(_plain(_text()))
    assert sorted(named) == sorted(set(named))


def test_every_class_on_the_road_is_explained() -> None:
    """A class that `Road` imports is in the table, or its name is listed as plain."""
    met = _imported_classes(_module(ROAD))
    assert len(met) > 10
    known = set(CODE.findall(_class_cells(_text()) + _plain(_text())))
    assert met - known == set()


def test_every_class_that_the_glossary_names_exists() -> None:
    """A class that was renamed takes its entry along."""
    named = set(CODE.findall(_class_cells(_text()) + _plain(_text())))
    defined = {
        node.name
        for module in modules()
        for node in ast.walk(module.tree)
        if isinstance(node, ast.ClassDef)
    }
    assert named - defined == set()


@pytest.mark.parametrize(
    ("line", "words", "classes"),
    [
        ("| claim | to lease hosts | |", ["claim"], []),
        ("| host | name and port | `HostState`, `HostView` |", ["host"], ["HostState", "HostView"]),
        ("| word | meaning | in the code |", [], []),
        ("|---|---|---|", [], []),
        ("Text about `HostState`.", [], []),
    ],
)
def test_what_counts_as_an_entry(line: str, words: list[str], classes: list[str]) -> None:
    assert _words(line) == words
    assert CODE.findall(_class_cells(line)) == classes


def _text() -> str:
    return GLOSSARY.read_text("utf-8")


def _words(text: str) -> list[str]:
    return [word for row in ROW.finditer(text) if (word := row["word"].casefold()) != "word"]


def _class_cells(text: str) -> str:
    return "\n".join(row["classes"] for row in ROW.finditer(text))


def _plain(text: str) -> str:
    return text.partition("## Plain names")[2]


def _module(name: str) -> Module:
    return next(module for module in modules() if module.name == name)


def _imported_classes(module: Module) -> set[str]:
    """Return the classes that a module imports from the package; constants are in capitals."""
    return {
        alias.name
        for node in module.tree.body
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("geomi.")
        for alias in node.names
        if alias.name[0].isupper() and not alias.name.isupper()
    }
