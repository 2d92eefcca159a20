"""Documents: kept by tenant and by collection, gone with their pages and their jobs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from geomi.adapters.store.rows import MAX_NAME_BYTES
from geomi.errors import StoreError
from geomi.model.index.document import (
    MAX_LISTED,
    CollectionCounts,
    DocumentFilter,
    DocumentRow,
    DocumentState,
)
from geomi.model.site import Takedown
from geomi.ports.store import Store
from tests.contracts.suites.handles import Stores
from tests.contracts.suites.keeping import keep
from tests.contracts.suites.material import START_S, job, page, url
from tests.support.waiting import waits

__all__ = ["TestDocuments", "document"]

ALL = DocumentFilter()
INDEXED, SKIPPED, FAILED = DocumentState.INDEXED, DocumentState.SKIPPED, DocumentState.FAILED
TAKEDOWN = Takedown("acme", "Acme", "they asked", at_s=5.0, jobs=1, pages=1)
LONGEST = "é" * (MAX_NAME_BYTES // 2)


def document(
    name: str = "1",
    *,
    collection: str = "docs",
    host: str = "a.test",
    job: str = "job",
    state: DocumentState = INDEXED,
    chunks: int = 3,
) -> DocumentRow:
    """Return what was understood of the page of the same name."""
    found = url(f"/{name}", host)
    return DocumentRow(
        id=name,
        url_hash=found.url_hash,
        url=found.url,
        title="문서 A",
        collection=collection,
        site=host,
        job=job,
        capture=2**53,
        version="v1",
        state=state,
        reason="good",
        detail="it reads well",
        page_type="article",
        language="ko",
        quality=7.25,
        chunks=chunks,
        analysis='{"요약":"\\u0000"}'.encode(),
        updated_at_s=START_S,
        chunk_tokens=900,
        empty_chunks=1,
        repeated_chunks=2,
        smallest_chunk=50,
        chunk_digests=b"\x00\xff" * 12,
    )


NAMED = (
    document(LONGEST + "x"),
    document("2", collection=LONGEST + "x"),
    document("2", host=LONGEST + "x"),
    document("2", job=LONGEST + "x"),
)
# Four documents that differ in everything a filter looks at, and which of them it means.
MANY = (
    document("1"),
    document("2", collection="blog", state=SKIPPED, chunks=0),
    document("3", host="b.test", job="other", state=FAILED, chunks=0),
    document("4", collection="blog", host="b.test", chunks=5),
)
FILTERS = [
    (ALL, "1234"),
    (DocumentFilter(collection="docs"), "13"),
    (DocumentFilter(site="b.test"), "34"),
    (DocumentFilter(job="job"), "124"),
    (DocumentFilter(state=SKIPPED), "2"),
    (DocumentFilter(collection="blog", state=INDEXED), "4"),
    (DocumentFilter(collection="docs", site="b.test"), "3"),
    (DocumentFilter(site="b.test", job="other"), "3"),
    (DocumentFilter("blog", "b.test", "job", INDEXED), "4"),
    (DocumentFilter("blog", "b.test", "other"), ""),
    (DocumentFilter(collection="doc"), ""),
]


async def ids(store: Store, which: DocumentFilter = ALL) -> str:
    """Return the ids of some documents."""
    return "".join(row.id for row in await store.documents.list(which, after="", limit=99))


class TestDocuments:
    """A document is what was understood last, and is where its collection, site and job say."""

    @waits
    async def test_a_document_comes_back_as_it_went_in(self, stores: Stores) -> None:
        documents = stores("local").documents
        bare = replace(document("2"), quality=None, analysis=b"", title="", language="")
        await documents.put([])
        await documents.put([document("1"), bare])
        assert await documents.get("1") == document("1")
        assert await documents.get("2") == bare
        assert await documents.get("3") is None
        await documents.put([bare])  # a column of nothing but NULL
        assert await documents.list(ALL, after="", limit=9) == [document("1"), bare]

    @waits
    async def test_the_last_one_under_an_id_holds(self, stores: Stores) -> None:
        store = stores("local")
        after = replace(document("1", collection="blog", state=FAILED, chunks=0), capture=9)
        await store.documents.put([document("2"), document("1")])
        await store.documents.put([document("1"), replace(after, version="v2"), after])
        assert await store.documents.get("1") == after
        assert await ids(store, DocumentFilter(collection="docs")) == "2"
        assert await store.documents.known(["1", "2", "3", "1"]) == {
            "1": (9, "v1"),
            "2": (2**53, "v1"),
        }
        assert await store.documents.known([]) == {}

    @pytest.mark.parametrize("too_long", NAMED, ids=["id", "collection", "site", "job"])
    @waits
    async def test_a_name_too_long_for_a_key_lets_none_in(
        self, stores: Stores, too_long: DocumentRow
    ) -> None:
        store = stores("local")
        with pytest.raises(StoreError, match=f" has {MAX_NAME_BYTES + 1} bytes"):
            await store.documents.put([document("1"), too_long, document("3")])
        assert await ids(store) == ""

    @waits
    async def test_names_may_be_as_long_as_keys_allow(self, stores: Stores) -> None:
        documents = stores("local").documents
        longest = replace(document(LONGEST, collection=LONGEST, job=LONGEST), site=LONGEST)
        await documents.put([longest])
        assert await documents.get(LONGEST) == longest

    @waits
    async def test_tenants_have_nothing_in_common(self, stores: Stores) -> None:
        store, stranger = stores("local"), stores("stranger")
        theirs = replace(document("1"), title="theirs")
        await store.documents.put([document("1"), document("2")])
        await stranger.documents.put([theirs])
        assert await store.documents.get("1") == document("1")
        assert await stranger.documents.get("2") is None
        assert await stranger.documents.known(["1", "2"]) == {"1": (2**53, "v1")}
        assert await stranger.documents.collections() == [CollectionCounts("docs", 1, 0, 0, 3)]
        assert await stranger.documents.drop(["2"]) == 0
        assert await store.documents.delete(ALL) == 2
        assert await stranger.documents.list(ALL, after="", limit=9) == [theirs]

    @waits
    async def test_pages_of_a_list_follow_one_another(self, stores: Stores) -> None:
        store = stores("local")
        names = ["B", "a", "a/b", "ä", "가", "𐀀"]  # as their bytes are ordered
        await store.documents.put([document(name) for name in reversed(names)])
        found: list[str] = []
        while some := await store.documents.list(ALL, after=found[-1] if found else "", limit=4):
            found += [row.id for row in some]
        assert found == names
        docs = DocumentFilter(collection="docs")
        rest = await store.documents.list(docs, after="a", limit=2)
        assert [row.id for row in rest] == ["a/b", "ä"]

    @waits
    async def test_a_list_has_a_limit_of_its_own(self, stores: Stores) -> None:
        store = stores("local")
        await store.documents.put([document(f"{n:04}") for n in range(MAX_LISTED + 1)])
        found = await store.documents.list(ALL, after="", limit=MAX_LISTED + 1)
        assert len(found) == MAX_LISTED
        (last,) = await store.documents.list(ALL, after=found[-1].id, limit=MAX_LISTED + 1)
        assert last.id == f"{MAX_LISTED:04}"
        assert await store.documents.list(ALL, after="", limit=0) == []
        assert await store.documents.list(ALL, after="", limit=-1) == []

    @pytest.mark.parametrize(("which", "meant"), FILTERS, ids=range(len(FILTERS)))
    @waits
    async def test_a_filter_lists_and_deletes_the_same(
        self, stores: Stores, which: DocumentFilter, meant: str
    ) -> None:
        store = stores("local")
        await store.documents.put(MANY)
        assert await ids(store, which) == meant
        assert await store.documents.delete(which) == len(meant)
        assert await ids(store) == "".join(name for name in "1234" if name not in meant)
        assert await store.documents.delete(which) == 0

    @waits
    async def test_documents_are_dropped_by_their_ids(self, stores: Stores) -> None:
        store = stores("local")
        await store.documents.put(MANY)
        assert await store.documents.drop([]) == 0
        assert await store.documents.drop(["2", "none", "4", "2"]) == 2
        assert await ids(store) == "13"

    @waits
    async def test_collections_are_counted(self, stores: Stores) -> None:
        documents = stores("local").documents
        assert await documents.collections() == []
        await documents.put([*MANY, document("5", collection="Zoo", state=SKIPPED, chunks=0)])
        assert await documents.collections() == [
            CollectionCounts("Zoo", 0, 1, 0, 0),
            CollectionCounts("blog", 1, 1, 0, 5),
            CollectionCounts("docs", 1, 0, 1, 3),
        ]

    @pytest.mark.req("LEG-06")
    @waits
    async def test_what_is_erased_is_in_no_collection(self, stores: Stores) -> None:
        store, stranger = stores("local"), stores("stranger")
        await keep(store, page(url("/0")), page(url("/1")))
        gone = document("0")
        copy = replace(gone, id="copy", collection="blog", job="another")
        unvisited = document("2")  # its page was forgotten before
        await store.documents.put([gone, copy, unvisited, document("1")])
        await stranger.documents.put([gone])
        await store.providers.erase(TAKEDOWN, [gone.url_hash, unvisited.url_hash])
        assert await ids(store) == "1"
        assert await ids(stranger) == "0"

    @waits
    async def test_documents_are_forgotten_with_their_job(self, stores: Stores) -> None:
        store, stranger = stores("local"), stores("stranger")
        await keep(store, page(url("/1")))
        await store.jobs.create(job("other"))
        await store.documents.put(MANY)
        await stranger.documents.put([document("1")])
        await store.jobs.delete("job")
        assert await ids(store) == "3"
        assert await ids(stranger) == "1"

    @waits
    async def test_a_lost_capture_leaves_what_was_understood(self, durable_stores: Stores) -> None:
        store = durable_stores("local")
        await keep(store, page(url("/0")))
        await store.documents.put([document("0")])
        assert await store.segments.requeue(["segment-1"]) == 1
        assert await store.documents.get("0") == document("0")
