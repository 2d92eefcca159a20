"""Rows of a table from the fields of a dataclass, by name, and back."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

import pytest

from geomi.adapters.store.mapping import ColumnKind, RowMapper
from geomi.errors import StoreError


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


@dataclass(frozen=True)
class Place:
    """A group of columns."""

    segment: str
    offset: int


@dataclass(frozen=True)
class Note:
    """What a column keeps as JSON."""

    text: str
    marks: tuple[int, ...] = ()


@dataclass(frozen=True)
class Thing:
    """A row with every kind of field."""

    id: str
    digest: bytes
    count: int
    share: float
    is_kept: bool
    colour: Colour
    words: tuple[str, ...]
    note: Note
    place: Place
    other: Place | None = None
    seen_s: float | None = None
    shade: Colour | None = None
    extra: int = 7


PREFIXES = {"place": "", "other": "other_"}
THINGS = RowMapper(Thing, "things", prefixes=PREFIXES, without=frozenset({"extra"}))
FULL = Thing(
    "a",
    b"\x00\xff",
    3,
    0.5,
    True,
    Colour.RED,
    ("x", "y"),
    Note("ü", (1, 2)),
    Place("s", 1),
    Place("t", 2),
    4.0,
    Colour.BLUE,
)
BARE = replace(FULL, other=None, seen_s=None, shade=None, words=(), note=Note(""))


class TestColumns:
    def test_a_field_is_a_column_and_a_group_has_a_prefix(self) -> None:
        assert THINGS.names == (
            "id", "digest", "count", "share", "is_kept", "colour", "words", "note", "segment",
            "offset", "other_segment", "other_offset", "seen_s", "shade",
        )  # fmt: skip

    def test_a_statement_gets_them_where_it_asks(self) -> None:
        places = RowMapper(Place, "places")
        filled = {
            "columns": "segment, offset",
            "values": ":segment, :offset",
            "marks": "?, ?",
            "updates": "segment = excluded.segment, offset = excluded.offset",
            "arrays": "%(segment)b::text[], %(offset)b::bigint[]",
        }
        for asked, expected in filled.items():
            assert places.fill(f"a /* {asked} */ b") == f"a {expected} b"
        assert places.fill("SELECT 1 /* conditions */") == "SELECT 1 /* conditions */"

    def test_whole_columns_have_the_types_of_their_fields(self) -> None:
        types = [part.partition("::")[2] for part in THINGS.fill("/* arrays */").split(", ")]
        assert types == [
            "text[]", "bytea[]", "bigint[]", "float8[]", "boolean[]", "text[]", "text[]", "text[]",
            "text[]", "bigint[]", "text[]", "bigint[]", "float8[]", "text[]",
        ]  # fmt: skip

    @pytest.mark.parametrize("hint", [set, dict[str, str], complex], ids=str)
    def test_a_field_that_no_column_can_keep_is_refused(self, hint: Any) -> None:
        kind: Any = dataclass(type("Odd", (), {"__annotations__": {"field": hint}}))
        with pytest.raises((KeyError, TypeError)):
            RowMapper(kind, "odd")

    def test_a_column_that_is_not_there_names_no_row(self) -> None:
        with pytest.raises(ValueError, match="not in tuple"):
            RowMapper(Place, "places", named_by="name")


class TestValues:
    @pytest.mark.parametrize("thing", [FULL, BARE], ids=["full", "bare"])
    def test_a_value_comes_back_as_it_went_in(self, thing: Thing) -> None:
        assert THINGS.read(tuple(THINGS.row(thing))) == thing
        assert THINGS.values(thing) == dict(zip(THINGS.names, THINGS.row(thing), strict=True))

    def test_a_database_that_has_no_truth_gives_it_back(self) -> None:
        with closing(sqlite3.connect(":memory:")) as db:
            db.execute(THINGS.fill("CREATE TABLE things (/* columns */)"))
            insert = THINGS.fill("INSERT INTO things (/* columns */) VALUES (/* values */)")
            db.execute(insert, THINGS.values(FULL))
            (row,) = db.execute(THINGS.fill("SELECT /* columns */ FROM things")).fetchall()
        assert row[THINGS.names.index("is_kept")] == 1
        assert THINGS.read(row) == FULL
        assert THINGS.read(row).is_kept is True

    def test_words_and_parts_are_kept_as_text(self) -> None:
        values = THINGS.values(FULL)
        assert values["colour"] == "red"
        assert type(values["colour"]) is str
        assert (values["words"], values["note"]) == ('["x","y"]', '{"text":"ü","marks":[1,2]}')

    def test_a_whole_number_is_a_time_too(self) -> None:
        assert THINGS.values(replace(FULL, share=1, seen_s=2))["seen_s"] == 2.0
        row = THINGS.row(FULL)
        row[THINGS.names.index("seen_s")] = 9
        assert type(THINGS.read(tuple(row)).seen_s) is float

    def test_a_group_that_is_missing_is_null_in_all_its_columns(self) -> None:
        values = THINGS.values(BARE)
        assert (values["other_segment"], values["other_offset"]) == (None, None)

    def test_a_field_without_a_column_keeps_its_default(self) -> None:
        assert THINGS.read(tuple(THINGS.row(replace(FULL, extra=9)))).extra == 7

    def test_a_column_may_keep_something_else_than_its_field(self) -> None:
        kinds = {"offset": ColumnKind(str, int, str)}
        places = RowMapper(Place, "places", kinds=kinds)
        assert places.row(Place("s", 255)) == ["s", "255"]
        assert places.read(("s", "255")) == Place("s", 255)
        assert places.fill("/* arrays */").endswith("%(offset)b::text[]")


class TestDamage:
    @pytest.mark.parametrize(
        ("column", "value"),
        [
            ("colour", "green"),
            ("words", "no JSON"),
            ("words", "[1]"),
            ("note", "{}"),
            ("share", "much"),
        ],
    )
    def test_a_row_that_cannot_be_read_is_named(self, column: str, value: str) -> None:
        row = THINGS.row(FULL)
        row[THINGS.names.index(column)] = value
        with pytest.raises(StoreError, match="row `a` of table `things`"):
            THINGS.read(tuple(row))

    def test_it_is_named_by_another_column_than_the_first(self) -> None:
        things = RowMapper(
            Thing, "things", named_by="count", prefixes=PREFIXES, without=frozenset({"extra"})
        )
        row = things.row(FULL)
        row[things.names.index("colour")] = "green"
        with pytest.raises(StoreError, match="row `3` of table `things`"):
            things.read(tuple(row))
