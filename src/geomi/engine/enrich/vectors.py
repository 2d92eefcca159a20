"""Give the chunks of a job's documents their vectors, after their words are indexed (EMB-04,
C-80).

Only chunks without a vector are embedded, in batches of 25 (EMB-01). Each batch is stored before
the next is requested, so an interrupted process goes on where it was. Documents in a language that
the embedder does not know get none. The vector is made of what a reader sees of a chunk: its text
below the page's title and the headings above it.
"""

from __future__ import annotations

from collections.abc import Sequence

from geomi.engine.embed import embed
from geomi.engine.enrich.document import Understanding
from geomi.engine.enrich.follower import Follower, Read
from geomi.engine.visit.preview_text import Desk
from geomi.engine.visit.record import read_line
from geomi.engine.world import World
from geomi.model.document import DocumentState
from geomi.model.job import CrawlJob
from geomi.ports.index import Index
from geomi.ports.models import Embedder


def vectoring(world: World, index: Index, embedder: Embedder, job: CrawlJob) -> Follower:
    """Return what gives the documents of a job their vectors."""
    way = Understanding(job)
    work = Vectoring(world, index, embedder, way, Desk(world, job))
    return Follower(world, job.id, f"embed {embedder.name} {way.version}", work.on)


class Vectoring:
    """What is done with the documents of one job."""

    def __init__(
        self, world: World, index: Index, embedder: Embedder, way: Understanding, desk: Desk
    ) -> None:
        self._world = world
        self._desk = desk
        self._index = index
        self._embedder = embedder
        self._way = way

    async def on(self, read: Sequence[Read]) -> None:
        """Embed what is new in a batch; nobody needs its whole texts after that."""
        for capture, record in read:
            row = await self._world.documents.get(self._way.name(capture))
            if row is None or row.capture != capture.seq or row.state is not DocumentState.INDEXED:
                continue
            if (whole := await self._desk.whole(record)) is not None:
                document = self._way.document(capture, read_line(whole), row.page_type)
                await embed(self._index, self._embedder, [document])
        await self._desk.clear(read)
