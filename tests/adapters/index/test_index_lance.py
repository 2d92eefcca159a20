"""What an index in LanceDB has to do beside the contract."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest

from geomi.adapters.bucket_url import read_bucket_url
from geomi.adapters.index import chunk_words, lance_table
from geomi.adapters.index.lance import LanceIndex, open_lance_index
from geomi.errors import StoreError
from geomi.model.index.search import IndexCounts, IndexScope, KeptText
from tests.conftest import missing_part
from tests.contracts.suites.documents import document, embed, found, towards
from tests.support.waiting import waits

if find_spec("lancedb") is None:
    missing_part("no lancedb: pip install '.[lance]'")

pytestmark = pytest.mark.slow  # the package alone takes seconds to come up

MANIFEST = "latest_version_hint.json"


@contextmanager
def opened(folder: Path) -> Iterator[LanceIndex]:
    """Open an index and close it again."""
    index = open_lance_index(folder, tenant="local")
    try:
        yield index
    finally:
        index.close()


def files(folder: Path) -> set[Path]:
    """Return every file that may hold some of a text."""
    return {path for path in folder.rglob("*") if path.is_file() and path.name != MANIFEST}


@waits
async def test_no_file_outlives_a_scrub(tmp_path: Path) -> None:
    """Files are compressed: only one that is new is known to hold nothing of what was deleted."""
    with opened(tmp_path) as index:
        made = [document(f"d{at}", f"page number{at}") for at in range(100)]
        await index.put(made)
        await embed(index, made[1], towards(1, 0))
        await index.delete(IndexScope.DOCUMENT, "d7")
        before = files(tmp_path)
        await index.scrub()
        assert not before & files(tmp_path)
        assert await index.count() == IndexCounts(documents=99, chunks=99, vectors=1)
        assert (await found(index, "number8"))[0] == "d8"


@waits
async def test_an_index_of_older_tokens_is_made_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever updates geomi finds what was indexed before; what was not kept stays as it was."""
    with monkeypatch.context() as past:
        past.setattr(lance_table, "VERSION", 0)
        past.setattr(chunk_words, "tokens", lambda text: [f"old{word}" for word in text.split()])
        with opened(tmp_path) as index:
            await index.put([document("one", "some words", title="Name")])
            await index.put([document("two", "other words", kept=KeptText.PREVIEW)])
            assert await found(index, "words") == []
    monkeypatch.setattr(lance_table, "RENEWED_AT_ONCE", 1)
    with opened(tmp_path) as index:
        assert await found(index, "words") == ["one"]
        assert await found(index, "name") == ["one"]
        assert await found(index, "oldsome") == []
        assert await found(index, "oldother") == ["two"]
        assert (await index.count()).chunks == 2


@waits
async def test_many_rows_are_brought_into_the_word_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are found before and after."""
    monkeypatch.setattr(lance_table, "MAX_UNINDEXED_ROWS", 5)
    with opened(tmp_path) as index:
        for at in range(8):
            await index.put([document(f"d{at}", f"page number {at}")])
            assert len(await found(index, "number")) == at + 1


@waits
async def test_a_bucket_that_cannot_be_reached(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the client says becomes a message of ours, without a key."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key-of-tests")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hush")
    monkeypatch.setenv("AWS_MAX_RETRIES", "0")
    bucket = read_bucket_url("s3://pages/index?endpoint=http://127.0.0.1:9&region=us-east-1")
    index = open_lance_index(bucket, tenant="local")
    with pytest.raises(StoreError, match="s3://pages/index` cannot be used") as caught:
        await index.count()
    assert "hush" not in caught.value.message
