"""A tenant's LanceDB table: how it is opened, what a row holds, how rows are asked for.

A row is one chunk, and is named by all that its vectors were made of: where that is the same, the
row stays with them, else it is another row. Our own tokens are a column of their own, which LanceDB
indexes as they are.

Many machines may write at once. A commit that another overtook is made once more from the latest
state: whatever is written names its rows, so that doing it twice is doing it once.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from random import random
from typing import Any, TypeVar

from geomi.adapters.bucket_url import BucketUrl
from geomi.adapters.index.chunk_words import body_words, head_words, headings_text, kept_text
from geomi.errors import StoreBusy, StoreError
from geomi.model.index.chunk import Chunk
from geomi.model.index.search import Filters, IndexDocument, KeptText
from geomi.search.tokens import VERSION
from geomi.text.encoding import replace_surrogates
from geomi.text.identifiers import sha256_hex

T = TypeVar("T")

WORDS = "words"
# Rows outside of the word index make searches slower; bringing them in rewrites parts of it.
MAX_UNINDEXED_ROWS = 5_000
RENEWED_AT_ONCE = 1_000
MAX_TOLD_CHARS = 200
# LanceDB merges again by itself where another was faster; this is for what it leaves to us, such as
# two columns that are added at once.
MAX_TRIES = 20
PAUSE_S = 0.1

_TEXTS = (
    "row", "document", "chunk", "url", "title", "collection", "site", "job", "page_type",
    "language", "kept", "headings", "text", WORDS, "tokenizer",
)  # fmt: skip
_WHOLE = ("tokens", "position", "rules")
_OVERTAKEN = "commit conflict"


class TenantTable:
    """One table, opened when it is first needed, and created if it is missing."""

    def __init__(self, place: Path | BucketUrl, tenant: str) -> None:
        self._uri = str(place)
        self._options = _client_options(place) if isinstance(place, BucketUrl) else {}
        self._name = f"chunks-{sha256_hex(tenant)[:32]}"
        self._opening = asyncio.Lock()
        self._table: Any = None

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[Any]:
        """Lend the table as everybody's last commit left it; its driver's errors become ours."""
        try:
            yield await self._latest()
        except (OSError, RuntimeError, ValueError) as error:
            (first, *_) = str(error).splitlines() or [type(error).__name__]
            kind = StoreBusy if _OVERTAKEN in first else StoreError
            raise kind(
                f"the index `{self._uri}` cannot be used: {first[:MAX_TOLD_CHARS]}",
                hint="check the directory, or the bucket, its endpoint and the AWS_* variables",
            ) from error

    async def write(self, work: Callable[[Any], Awaitable[T]]) -> T:
        """Do some work on the table, once more where another writer was faster."""
        for tried in range(MAX_TRIES):
            try:
                async with self.opened() as table:
                    return await work(table)
            except StoreBusy:
                await asyncio.sleep(PAUSE_S * (tried + 1) * random())
        async with self.opened() as table:
            return await work(table)

    def close(self) -> None:
        """Close the table."""
        if self._table is not None:
            self._table.close()

    async def _latest(self) -> Any:
        async with self._opening:
            if self._table is None:
                import lancedb

                database = await lancedb.connect_async(self._uri, storage_options=self._options)
                self._table = await _made(database, self._name)
            else:
                await self._table.checkout_latest()
            return self._table


async def put_rows(table: Any, *, documents: Sequence[IndexDocument]) -> None:
    """Write the chunks of documents in place of those before, in one merge."""
    rows = [_row(one, chunk) for one in documents for chunk in one.chunks]
    named = among("document", [one.id for one in documents])
    merge = table.merge_insert("row").when_matched_update_all().when_not_matched_insert_all()
    await merge.when_not_matched_by_source_delete(named).execute(_columns(rows))
    await keep_indexed(table)


async def keep_indexed(table: Any) -> None:
    """Bring rows into the word index once there are many outside of it."""
    stats = await table.index_stats(f"{WORDS}_idx")
    if stats is not None and stats.num_unindexed_rows > MAX_UNINDEXED_ROWS:
        await table.optimize()


async def index_words(table: Any, *, replace: bool) -> None:
    """Make the index of words; the tokens are ours and stay as they are."""
    from lancedb.index import FTS

    tokens = FTS(
        base_tokenizer="whitespace", with_position=True, max_token_length=None,
        lower_case=False, stem=False, remove_stop_words=False, ascii_folding=False,
    )  # fmt: skip
    await table.create_index(WORDS, config=tokens, replace=replace)


def condition(filters: Filters) -> str | None:
    """Write filters as SQL; None where nothing is asked for."""
    lists = {
        "collection": filters.collections, "site": filters.sites,
        "page_type": filters.page_types, "language": filters.languages,
    }  # fmt: skip
    parts = [among(column, values) for column, values in lists.items() if values]
    if filters.since_s is not None:
        parts.append(f"date_s >= {float(filters.since_s)!r}")
    if filters.until_s is not None:
        parts.append(f"date_s < {float(filters.until_s)!r}")
    return " AND ".join(parts) or None


def among(column: str, values: Iterable[str]) -> str:
    """Write a condition; LanceDB binds no parameters, so that quotation marks are doubled."""
    quoted = ", ".join("'" + value.replace("'", "''") + "'" for value in sorted(values))
    return f"{column} IN ({quoted})"


def _client_options(bucket: BucketUrl) -> dict[str, str]:
    """Return the URL's options of a bucket's server; the rest comes from `AWS_*` variables."""
    named = {"aws_endpoint": bucket.endpoint, "aws_region": bucket.region}
    options = {name: value for name, value in named.items() if value}
    return {**options, "allow_http": str(bucket.endpoint.startswith("http://")).lower()}


async def _made(database: Any, name: str) -> Any:
    """Open a table; of several that make it at once one is first, and the others have it."""
    try:
        table = await database.open_table(name)
    except ValueError:
        with suppress(ValueError):
            await database.create_table(name, schema=_schema())
        table = await database.open_table(name)
    if not await table.list_indices():
        with suppress(RuntimeError):
            await index_words(table, replace=False)
        await table.checkout_latest()
    await _renew_words(table)
    return table


async def _renew_words(table: Any) -> None:
    """Compute the words of every chunk again if the rules of tokens have changed.

    Where a text was not kept there is nothing to make them of: those stay until the page is put
    again.
    """
    import pyarrow as pa

    stale = f"rules <> {VERSION}"
    needed = ["row", "title", "headings", "kept", "text", WORDS]
    while await table.count_rows(stale):
        rows = await table.query().where(stale).select(needed).limit(RENEWED_AT_ONCE).to_list()
        words = [
            row[WORDS]
            if row["kept"] == KeptText.PREVIEW
            else _words(row["title"], row["headings"], row["text"], KeptText.FULL)
            for row in rows
        ]
        rules = pa.array([VERSION] * len(rows), pa.int32())
        renewed = pa.table({"row": [row["row"] for row in rows], WORDS: words, "rules": rules})
        await table.merge_insert("row").when_matched_update_all().execute(renewed)


def _row(document: IndexDocument, chunk: Chunk) -> dict[str, object]:
    headings, title = headings_text(chunk), replace_surrogates(document.title)
    made_of = (document.id, chunk.id, title, headings, document.kept.value)
    return {
        "row": sha256_hex(json.dumps(made_of)), "document": document.id, "chunk": chunk.id,
        "url": chunk.url or document.url, "title": title, "collection": document.collection,
        "site": document.site, "job": document.job, "page_type": document.page_type,
        "language": document.language, "kept": document.kept.value, "headings": headings,
        "text": kept_text(chunk.text, document.kept),
        WORDS: _words(title, headings, chunk.text, document.kept),
        "tokenizer": chunk.tokenizer, "tokens": chunk.tokens, "position": chunk.position,
        "rules": VERSION, "date_s": document.date_s,
    }  # fmt: skip


def _words(title: str, headings: str, text: str, kept: KeptText) -> str:
    return f"{head_words(title, headings, kept)} {body_words(text, kept)}"


def _schema() -> Any:
    import pyarrow as pa

    texts = [pa.field(name, pa.string()) for name in _TEXTS]
    numbers = [pa.field(name, pa.int32()) for name in _WHOLE]
    return pa.schema([*texts, *numbers, pa.field("date_s", pa.float64())])


def _columns(rows: list[dict[str, object]]) -> Any:
    import pyarrow as pa

    return pa.Table.from_pylist(rows, schema=_schema())
