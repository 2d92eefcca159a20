"""Statements as each database wants them."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from importlib import resources

import pytest

from geomi.adapters.store.mapping import RowMapper
from geomi.adapters.store.session import Statement
from geomi.adapters.store.statements import for_postgres, statements, table_statements

FILES = sorted(
    file.name.removesuffix(".sql")
    for file in resources.files("geomi.adapters.store").joinpath("sql").iterdir()
)


@dataclass(frozen=True)
class Refused:
    """A row of the table whose statements have a twin that takes whole columns."""

    url_hash: bytes
    reason: str


class TestValues:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("SELECT :name, :until_s", "SELECT %(name)s, %(until_s)s"),
            ("VALUES (:a, :a)", "VALUES (%(a)s, %(a)s)"),
            ("SELECT :names::text[]", "SELECT %(names)s::text[]"),
            ("SELECT count(*)::bigint", "SELECT count(*)::bigint"),
            ("LIKE '%' || :part || '%'", "LIKE '%%' || %(part)s || '%%'"),
            ("unnest(%(url)b::text[])", "unnest(%(url)b::text[])"),
        ],
        ids=["values", "twice", "cast", "no-value", "percent", "array"],
    )
    def test_values_are_named_as_the_driver_of_postgresql_wants_them(
        self, text: str, expected: str
    ) -> None:
        assert for_postgres(text) == expected

    def test_the_conditions_of_a_filter_are_put_in_for_each_database(self) -> None:
        text = "SELECT id FROM jobs WHERE tenant = :tenant /* conditions */"
        asked = Statement(text, for_postgres(text)).narrowed(["state", "site"])
        assert asked.sqlite.endswith(":tenant AND state = :state AND site = :site")
        assert asked.postgres.endswith("%(tenant)s AND state = %(state)s AND site = %(site)s")


class TestFiles:
    @pytest.mark.parametrize("name", FILES)
    def test_each_statement_says_what_it_does(self, name: str) -> None:
        found = statements("store", name)
        assert found
        for text in found.values():
            assert text.startswith("-- ")
            assert sqlite3.complete_statement(text + ";")


class TestTwins:
    def test_a_text_of_its_own_is_taken_for_postgresql(self) -> None:
        locking = table_statements("jobs")["lock"]
        assert "FOR UPDATE" not in locking.sqlite
        assert locking.postgres.endswith("WHERE id = %(job)s AND tenant = %(tenant)s FOR UPDATE")

    def test_every_other_statement_has_one_text(self) -> None:
        shared = table_statements("jobs")["begin"]
        assert shared.postgres == for_postgres(shared.sqlite)

    def test_columns_are_put_into_both_texts(self) -> None:
        put = table_statements("refusals", RowMapper(Refused, "blocked_urls"))["put"]
        assert "(tenant, url_hash, reason) VALUES (:tenant, :url_hash, :reason)" in put.sqlite
        assert "unnest(%(tenant)s::text[], %(url_hash)b::bytea[], %(reason)b::text[])" in (
            put.postgres
        )

    def test_a_file_of_one_database_is_taken_as_it_is(self) -> None:
        assert "%(" in statements("store.postgres", "settle")["visited"]
