"""Import a published list of the most visited domains into the store (PRI-06).

The file is read twice: first to its end, so that a broken one changes nothing, then into the store
in small transactions, so that no crawl waits for it.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from io import BufferedReader
from itertools import islice
from pathlib import Path

from geomi.engine.world import World
from geomi.errors import ConfigError
from geomi.frontier.priority import LAST_RANK, read_rank

MAX_NAMES = LAST_RANK
MAX_LINE_BYTES = 300  # a name has 253 at most
MAX_LIST_BYTES = 512 * 1024 * 1024  # inflated; a million names take 22 MB
PER_WRITE = 10_000  # about 30 ms in SQLite

GZIP = b"\x1f\x8b"
RANKS_FORM = "each line is `rank,domain`, as in the lists of Tranco and Umbrella"


async def import_ranks(world: World, path: Path) -> int:
    """Put a list in place of the one before; return how many domains have a rank now."""
    if not sum(1 for _ in read_ranks(path)):
        raise ConfigError(f"`{path}` has no domain", hint=RANKS_FORM)
    edition = int(world.clock.wall_s() * 1000)
    ranks = read_ranks(path)
    while part := list(islice(ranks, PER_WRITE)):
        await world.store.ranks.put(part, edition=edition)
    await world.store.ranks.keep_only(edition)
    return await world.store.ranks.count()


def read_ranks(path: Path) -> Iterator[tuple[str, int]]:
    """Yield (domain, rank) of every line; a heading is passed over, anything else is refused."""
    for number, line in enumerate(_lines(path), 1):
        if number > MAX_NAMES:
            raise ConfigError(f"`{path}` has more than {MAX_NAMES:,} lines")
        found = read_rank(line)
        if found is not None:
            yield found
        elif line.strip() and not (number == 1 and not line[0].isdigit()):
            raise ConfigError(
                f"`{path}`, line {number}: `{line.strip()[:80]}` is not a rank", hint=RANKS_FORM
            )


def _lines(path: Path) -> Iterator[str]:
    size = 0
    try:
        with _opened(path) as file:
            while line := file.readline(MAX_LINE_BYTES + 1):
                size += len(line)
                if len(line) > MAX_LINE_BYTES:
                    raise ConfigError(
                        f"`{path}` has a line of more than {MAX_LINE_BYTES} bytes", hint=RANKS_FORM
                    )
                if size > MAX_LIST_BYTES:
                    raise ConfigError(f"`{path}` has more than {MAX_LIST_BYTES >> 20} MiB")
                yield line.decode("utf-8", "replace")
    except (OSError, EOFError, zlib.error) as error:
        what = getattr(error, "strerror", None) or str(error)
        raise ConfigError(f"`{path}` cannot be read: {what}") from error


def _opened(path: Path) -> gzip.GzipFile | BufferedReader:
    with path.open("rb") as file:
        is_packed = file.read(len(GZIP)) == GZIP
    return gzip.open(path) if is_packed else path.open("rb")
