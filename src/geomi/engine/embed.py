"""Give chunks their vectors, behind the words by which they can be found already (C-80).

Of each document only chunks without a vector are embedded, in batches of 25 (EMB-01), each kept
before the next is asked for: whoever is interrupted goes on where it was. Documents in a language
that the embedder does not know get none. What is embedded is what a reader sees of a chunk, its
text below the page's title and the headings above it.
"""

from __future__ import annotations

from collections.abc import Sequence

from geomi.engine.enrich.search import understands
from geomi.model.chunk import Chunk
from geomi.model.search import ChunkKey, Document
from geomi.ports.index import Index
from geomi.ports.models import BATCH, Embedder
from geomi.text.signs import whole_signs


async def embed(index: Index, embedder: Embedder, documents: Sequence[Document]) -> int:
    """Embed the chunks of documents that are in an index; return how many vectors were kept."""
    waiting = [
        (ChunkKey(document.id, chunk.id), material(document, chunk))
        for document in documents
        for chunk in await _without_vector(index, embedder, document)
    ]
    kept = 0
    for start in range(0, len(waiting), BATCH):
        keys, texts = zip(*waiting[start : start + BATCH], strict=True)
        vectors = await embedder.embed(texts)
        kept += await index.vectors.put(embedder.name, keys, vectors)
    return kept


def material(document: Document, chunk: Chunk) -> str:
    """Return what a chunk's vector is made of."""
    above = " › ".join(filter(None, dict.fromkeys((document.title, *chunk.headings))))
    return whole_signs(f"{above}\n\n{chunk.text}".strip())


async def _without_vector(index: Index, embedder: Embedder, document: Document) -> list[Chunk]:
    language = document.language
    is_known = language in embedder.languages if language else _seems_known(embedder, document)
    if not is_known:
        return []
    lacking = set(await index.vectors.lacking(embedder.name, document.id))
    return [chunk for chunk in document.chunks if chunk.id in lacking]


def _seems_known(embedder: Embedder, document: Document) -> bool:
    return any(understands(embedder, chunk.text) for chunk in document.chunks[:1])
