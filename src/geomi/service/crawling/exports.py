"""Export a crawl as one ZIP file in the layout of a knowledge base (STO-01, STO-02).

The file lies on the disk of the data directory and has no name there: it is gone with its reader.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO
from zipfile import ZIP_DEFLATED, ZipFile

from geomi.adapters.machine.disk import refusal
from geomi.app.use.outputs import write_knowledge_base
from geomi.errors import StoreFull, WrongState
from geomi.service.crawling import crawls
from geomi.service.service import TenantService
from geomi.settings.compliance import same_archive

MAX_EXPORT_BYTES = 2 * 1024**3
CHUNK_BYTES = 256 * 1024
LEVEL = 1  # pages become a quarter at it, and a fifth at the best


@dataclass(frozen=True, slots=True)
class CrawlExport:
    """A crawl as one file, to be read once."""

    file: IO[bytes]
    size: int

    def chunks(self) -> Iterator[bytes]:
        """Read the file to its end, and let go of it."""
        with self.file:
            while chunk := self.file.read(CHUNK_BYTES):
                yield chunk


async def export_crawl(desk: TenantService, job_id: str) -> CrawlExport:
    """Pack the committed pages of a crawl, with their analyses so far."""
    job = await crawls.find(desk, job_id)
    same_archive(job, desk.home.settings)
    root = desk.home.root
    try:
        with desk.exports.taken(), ExitStack() as held:
            file = held.enter_context(TemporaryFile(dir=root))
            with ZipFile(file, "w", ZIP_DEFLATED, compresslevel=LEVEL) as packed:

                def place(name: str, data: bytes) -> None:
                    _refuse_beyond(desk, file.tell() + len(data))
                    packed.writestr(name, data)

                await write_knowledge_base(desk.home, job, place)
            size = file.tell()
            file.seek(0)
            held.pop_all()  # the reader closes the file
    except OSError as error:
        raise refusal(error, Path(root)) from error
    return CrawlExport(file, size)


def _refuse_beyond(desk: TenantService, size: int) -> None:
    if size > MAX_EXPORT_BYTES:
        raise WrongState(
            f"the crawl has more than {MAX_EXPORT_BYTES:,} bytes, which is the limit of an export",
            hint="`geomi export -f kb --to DIR` on the server writes any crawl",
        )
    if not desk.world.disk.has_space():
        raise StoreFull("the disk has no room for an export", hint="make room, then ask again")
