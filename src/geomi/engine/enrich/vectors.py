"""Give chunks their vectors, after their words are indexed (EMB-04, C-80).

Only chunks without a vector are embedded, in batches of 25 (EMB-01). Each batch is stored before
the next is requested, so an interrupted process goes on where it was. Documents in a language that
the embedder does not know get none. The vector is made of what a reader sees of a chunk: its text
below the page's title and the headings above it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from geomi.engine.enrich.document import DocumentMaker
from geomi.engine.enrich.follower import ReadCapture
from geomi.engine.enrich.search import understands
from geomi.engine.visit.preview_text import SpooledTexts
from geomi.engine.visit.record import read_line
from geomi.engine.world import World
from geomi.errors import ModelError
from geomi.model.index.chunk import Chunk
from geomi.model.index.document import DocumentState
from geomi.model.index.language_model import FREE, CostLine, ModelPrice, ModelPurpose
from geomi.model.index.search import ChunkKey, IndexDocument
from geomi.ports.index import Index
from geomi.ports.models import BATCH, Embedder, OnAnswer, unheard
from geomi.text.encoding import replace_surrogates


@dataclass(frozen=True, slots=True)
class EmbedderPrice:
    """What an embedder stands in the ledger under, and what it costs.

    Args:
        provider: who runs it, such as `bedrock`, or the address of a server.
    """

    provider: str
    model: str
    price: ModelPrice = FREE


LOCAL = EmbedderPrice("local", "embedder")  # of one that runs here


class JobEmbedder:
    """What is done with the documents of one job."""

    def __init__(
        self,
        world: World,
        index: Index,
        embedder: Embedder,
        way: DocumentMaker,
        desk: SpooledTexts,
        price: EmbedderPrice = LOCAL,
    ) -> None:
        self._world = world
        self._desk = desk
        self._price = price
        self._index = index
        self._embedder = embedder
        self._way = way
        self.name = f"embed {embedder.name} {way.version}"

    async def on(self, read: Sequence[ReadCapture]) -> None:
        """Embed the new chunks of a batch; its whole texts are not needed after that."""
        for capture, record in read:
            row = await self._world.store.documents.get(self._way.name(capture))
            if row is None or row.capture != capture.seq or row.state is not DocumentState.INDEXED:
                continue
            if (whole := await self._desk.whole(record)) is not None:
                document = self._way.document(capture, read_line(whole), row.page_type)
                await self._embed(document)
        await self._desk.clear(read)

    async def _embed(self, document: IndexDocument) -> None:
        """Embed a document, and enter every answer in the ledger, also where a later one failed."""
        tokens: list[int] = []
        failures = 0
        try:
            await embed_documents(self._index, self._embedder, [document], tokens.append)
        except ModelError:
            failures = 1
            raise
        finally:
            if tokens or failures:
                await self._enter(tokens, failures)

    async def _enter(self, tokens: Sequence[int], failures: int) -> None:
        day = datetime.fromtimestamp(self._world.clock.wall_s(), UTC).date().isoformat()
        line = CostLine(
            job=self._way.job,
            day=day,
            purpose=ModelPurpose.EMBED,
            provider=self._price.provider,
            model=self._price.model,
            calls=len(tokens) + failures,
            failures=failures,
            tokens_in=sum(tokens),
            tokens_out=0,
            micros=sum(self._price.price.of(many, 0) for many in tokens),
        )
        await self._world.store.costs.add([line])


async def embed_documents(
    index: Index,
    embedder: Embedder,
    documents: Sequence[IndexDocument],
    on_answer: OnAnswer = unheard,
) -> int:
    """Embed the chunks of documents that are in an index; return how many vectors were kept."""
    waiting = [
        (ChunkKey(document.id, chunk.id), embedded_text(document, chunk))
        for document in documents
        for chunk in await _without_vector(index, embedder, document)
    ]
    kept = 0
    for start in range(0, len(waiting), BATCH):
        keys, texts = zip(*waiting[start : start + BATCH], strict=True)
        vectors = await embedder.embed(texts, on_answer=on_answer)
        kept += await index.vectors.put(embedder.name, keys, vectors)
    return kept


def embedded_text(document: IndexDocument, chunk: Chunk) -> str:
    """Return the text that a chunk's vector is computed from."""
    above = " › ".join(filter(None, dict.fromkeys((document.title, *chunk.headings))))
    return replace_surrogates(f"{above}\n\n{chunk.text}".strip())


async def _without_vector(index: Index, embedder: Embedder, document: IndexDocument) -> list[Chunk]:
    language = document.language
    is_known = language in embedder.languages if language else _seems_known(embedder, document)
    if not is_known:
        return []
    lacking = set(await index.vectors.lacking(embedder.name, document.id))
    return [chunk for chunk in document.chunks if chunk.id in lacking]


def _seems_known(embedder: Embedder, document: IndexDocument) -> bool:
    return any(understands(embedder, chunk.text) for chunk in document.chunks[:1])
