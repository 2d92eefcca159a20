"""What every index of chunks has to do, whatever it is made of.

An `Indexes` opener comes in as the fixture `indexes`; each call opens the same index for one
tenant. `vectors.py` has what concerns vectors alone, `forgetting.py` what an index may not keep.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from geomi.model.index.search import NO_FILTERS, ChunkKey, Filters, IndexCounts, IndexScope
from geomi.search.tokens import parse_query
from tests.contracts.suites.documents import (
    FILLER,
    Indexes,
    document,
    embed,
    found,
    nearest,
    towards,
)
from tests.support.waiting import waits

__all__ = ["TestFilters", "TestWords"]


class TestWords:
    """Chunks are found by their words."""

    @pytest.mark.req("IDX-01", "IDX-05")
    @waits
    async def test_the_best_match_comes_first(self, indexes: Indexes) -> None:
        index = indexes("local")
        await index.put(
            [
                document("once", f"A database. {FILLER * 5}"),
                document("often", "Database queries: how a database answers queries."),
                document("never", FILLER),
            ]
        )
        assert await found(index, "database queries") == ["often", "once"]
        assert await found(index, "database", limit=1) == ["often"]
        assert await found(index, "absent") == []
        assert await found(index, "…") == []
        assert await index.count() == IndexCounts(documents=3, chunks=3, vectors=0)

    @pytest.mark.parametrize(
        ("text", "query"),
        [
            ("데이터베이스를 검색하는 방법", "데이터베이스 검색"),
            ("全文検索の仕組み", "検索"),
            ("数据库连接失败", "连接"),
            ("Call `DiffExecutor::run_target` first", "executor"),
            ("snake_case_names are whole", "snake_case_names"),
            ("Größe und Maß", "grosse größe"),
            ("Настройка сервера", "сервера"),
        ],
        ids=["korean", "japanese", "chinese", "identifier", "underscores", "german", "russian"],
    )
    @waits
    async def test_every_script_is_found(self, indexes: Indexes, text: str, query: str) -> None:
        index = indexes("local")
        await index.put([document("other", FILLER), document("this", text)])
        assert await found(index, query) == ["this"]

    @waits
    async def test_titles_and_headings_are_found_too(self, indexes: Indexes) -> None:
        index = indexes("local")
        await index.put(
            [
                document("headed", f"# Guide\n\n## Installation\n\n{FILLER * 60}"),
                document("titled", FILLER, title="Installation"),
                document("other", FILLER),
            ]
        )
        names = await found(index, "installation")
        assert set(names) == {"headed", "titled"}
        assert names.count("headed") > 1  # each part of a long section stands under its heading

    @waits
    async def test_a_phrase_has_to_stand_in_order(self, indexes: Indexes) -> None:
        index = indexes("local")
        await index.put(
            [
                document("phrase", "The quick brown fox jumps."),
                document("words", "The brown and quick fox jumps, brown, quick."),
            ]
        )
        assert await found(index, '"quick brown"') == ["phrase"]
        assert await found(index, '"quick brown" "jumps high"') == []
        assert set(await found(index, "quick brown")) == {"phrase", "words"}

    @pytest.mark.parametrize(
        "query", ['a" OR b', "NEAR(a b)", "a*", "head:a", "^a", "'; DROP TABLE words; --", "AND"]
    )
    @waits
    async def test_a_query_is_words_and_no_program(self, indexes: Indexes, query: str) -> None:
        index = indexes("local")
        await index.put([document("one", "a b c")])
        assert len(await found(index, query)) <= 1
        assert await found(index, "b") == ["one"]

    @pytest.mark.req("IDX-02")
    @waits
    async def test_a_passage_knows_where_it_comes_from(self, indexes: Indexes) -> None:
        index = indexes("local")
        one = document("one", "# Guide\n\nSome text.")
        await index.put([one])
        key = ChunkKey("one", one.chunks[0].id)
        gone = ChunkKey("one", "gone")
        (passage,) = await index.read([gone, key])
        assert (passage.key, passage.url, passage.title) == (key, one.url, one.title)
        assert (passage.headings, passage.text) == (("Guide",), "# Guide\n\nSome text.")
        assert (passage.collection, passage.site, passage.date_s) == ("main", "a.test", 100.0)
        assert (passage.page_type, passage.language) == ("article", "en")

    @waits
    async def test_a_chunk_may_be_of_another_page_than_its_document(self, indexes: Indexes) -> None:
        """Put again, the same text may come from elsewhere."""
        index, one = indexes("local"), document("one", "Some text.")
        for origin, shown in (("https://b.test/x", "https://b.test/x"), ("", one.url)):
            chunks = tuple(replace(chunk, url=origin) for chunk in one.chunks)
            await index.put([replace(one, chunks=chunks)])
            (passage,) = await index.read([ChunkKey("one", one.chunks[0].id)])
            assert passage.url == shown

    @waits
    async def test_passages_come_in_the_order_asked_for(self, indexes: Indexes) -> None:
        index = indexes("local")
        made = [document(f"d{at}", f"text number {at}") for at in range(5)]
        await index.put(made)
        keys = [ChunkKey(one.id, one.chunks[0].id) for one in reversed(made)]
        assert [passage.key for passage in await index.read(keys)] == keys

    @waits
    async def test_a_document_that_is_put_again_replaces_itself(self, indexes: Indexes) -> None:
        index = indexes("local")
        await index.put([document("one", "before it was edited"), document("two", "another")])
        await index.put([document("one", "after all", url="https://a.test/new")])
        assert await found(index, "edited") == []
        assert await found(index, "after") == ["one"]
        (match,) = await index.match(parse_query("after"), NO_FILTERS, limit=10)
        (passage,) = await index.read([match.key])
        assert passage.url == "https://a.test/new"
        assert await index.count() == IndexCounts(documents=2, chunks=2, vectors=0)

    @waits
    async def test_a_new_title_replaces_the_old_one(self, indexes: Indexes) -> None:
        index = indexes("local")
        await index.put([document("one", FILLER, title="Yesterday")])
        await index.put([document("one", FILLER, title="Today")])
        assert await found(index, "yesterday") == []
        assert await found(index, "today") == ["one"]

    @waits
    async def test_a_document_that_has_lost_all_its_chunks_is_gone(self, indexes: Indexes) -> None:
        index = indexes("local")
        await index.put([document("one", "some words"), document("two", "other words")])
        await index.put([document("one", ""), document("never", "")])
        assert await found(index, "words") == ["two"]
        assert await index.count() == IndexCounts(documents=1, chunks=1, vectors=0)

    @waits
    async def test_half_a_sign_is_no_obstacle(self, indexes: Indexes) -> None:
        index = indexes("local")
        broken = "a broken \ud83d sign"
        await index.put([document("one", f"# {broken}\n\n{broken}", title=broken)])
        (match,) = await index.match(parse_query("broken \ud83d"), NO_FILTERS, limit=10)
        (passage,) = await index.read([match.key])
        assert passage.title == "a broken ? sign"
        await index.delete(IndexScope.DOCUMENT, "one")
        assert await found(index, "broken") == []

    @waits
    async def test_a_tenant_sees_nothing_of_another(self, indexes: Indexes) -> None:
        mine, theirs = indexes("local"), indexes("Other/Tenant 고객")
        one = document("one", "a secret of mine")
        await mine.put([one])
        await embed(mine, one, towards(1, 0))
        assert await found(theirs, "secret") == []
        assert await nearest(theirs, towards(1, 0)) == []
        assert await theirs.read([ChunkKey("one", one.chunks[0].id)]) == []
        assert await theirs.delete(IndexScope.TENANT, "") == 0
        assert await found(mine, "secret") == ["one"]


class TestFilters:
    """Filters narrow both ways of searching alike."""

    @pytest.mark.req("IDX-05")
    @pytest.mark.parametrize(
        ("filters", "names"),
        [
            (NO_FILTERS, {"a", "b", "c"}),
            (Filters(collections=("main",)), {"a", "b"}),
            (Filters(sites=("b.test",)), {"b"}),
            (Filters(sites=("a.test", "b.test")), {"a", "b", "c"}),
            (Filters(page_types=("faq",)), {"c"}),
            (Filters(languages=("ko", "ja")), {"b"}),
            (Filters(since_s=200.0), {"b", "c"}),
            (Filters(until_s=200.0), {"a"}),
            (Filters(since_s=200.0, until_s=300.0, sites=("b.test",)), {"b"}),
            (Filters(sites=("nobody.test",)), set()),
            (Filters(sites=("' OR 1 = 1 --",)), set()),
        ],
        ids="none collection site sites type languages since until all nobody quoted".split(),
    )
    @waits
    async def test_filters(self, indexes: Indexes, filters: Filters, names: set[str]) -> None:
        index = indexes("local")
        made = [
            document("a", "shared words, a"),
            document("b", "shared words, b", site="b.test", language="ko", date_s=200.0),
            document(
                "c", "shared words, c", collection="side", page_type="faq", date_s=300.0
            ),
        ]  # fmt: skip
        await index.put(made)
        for one in made:
            await embed(index, one, towards(1, 1))
        assert set(await found(index, "shared", filters)) == names
        assert set(await nearest(index, towards(1, 0), filters)) == names

    @waits
    async def test_what_filters_let_through_is_found_behind_any_number(
        self, indexes: Indexes
    ) -> None:
        index = indexes("local")
        made = [document(f"d{at}", "needle " * 5, site="other.test") for at in range(30)]
        made.append(document("this", f"needle {FILLER * 5}"))
        await index.put(made)
        for one in made:
            await embed(index, one, towards(1, 0) if one.id != "this" else towards(0, 1))
        ours = Filters(sites=("a.test",))
        assert await found(index, "needle", ours, limit=1) == ["this"]
        assert await nearest(index, towards(1, 0), ours, limit=1) == ["this"]
