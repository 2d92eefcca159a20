"""Import a rank list from a file or a URL, and keep one from a URL up to date (PRI-06).

The file is read twice: first to its end, so that a broken one changes nothing, then into the store
in small transactions, so that no crawl waits for it. What comes from a URL is a file first. A list
whose URL says that it has not changed is not read again.
"""

from __future__ import annotations

import asyncio
import gzip
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import cache
from io import BufferedReader, FileIO, RawIOBase
from itertools import chain, islice
from pathlib import Path
from typing import IO, cast

from pydantic import TypeAdapter

from geomi.app.directory import DataDirectory
from geomi.engine.host.download import download
from geomi.errors import ConfigError
from geomi.fetch.request import is_sendable, modified, unless_changed
from geomi.fetch.response import NOT_MODIFIED
from geomi.frontier.priority import LAST_RANK
from geomi.frontier.rank_list import HEADINGS, RankColumns, is_same_form, rank_columns
from geomi.model.named_value import SYSTEM
from geomi.model.site import RankKind, RankList
from geomi.settings.layers import resolve_under_profile, settings_layer
from geomi.url.parse import Url
from geomi.url.parse import parse as parse_url

NAMESPACE, NAME = "ranks", "list"
REFRESH_S = 86_400.0  # lists are published once a day
MAX_NAMES = LAST_RANK
MAX_FILE_BYTES = 256 * 1024 * 1024  # as it comes; the largest list that is published has 80 MB
MAX_LINE_BYTES = 600  # a name has 253 at most; Majestic has it twice in a line
MAX_LIST_BYTES = 512 * 1024 * 1024  # inflated; a million names take 22 MB
MAX_DIRECTORY_BYTES = 1024 * 1024  # of a zip file, which zipfile reads at once
PER_WRITE = 10_000  # about 30 ms in SQLite

GZIP, ZIP = b"\x1f\x8b", b"PK\x03\x04"
ENCRYPTED = 1  # a flag of a file in a zip file
# What the readers of the three forms raise; zipfile knows some methods of compression only by name,
# and raises NotImplementedError for them.
_UNREADABLE = (OSError, EOFError, zlib.error, zipfile.BadZipFile, NotImplementedError)
RANKS_FORM = "geomi reads the lists of Tranco, Umbrella, Majestic and CrUX: plain, .gz or .zip"


async def import_ranks(
    home: DataDirectory, source: str, *, kind: RankKind | None = None
) -> RankList:
    """Put the list of a file or a URL in place of the one before.

    Args:
        kind: what the list must be; None recognises it.
    """
    url = _url_of(source)
    if url is not None:
        return await _fetch(home, url, kind, None)
    now_s, file = home.world.clock.wall_s(), RankFile(Path(source), source, kind)
    found, many = await _put(home, file)
    return await _keep(home, RankList(file.place, found, many, now_s, now_s))


async def refresh_ranks(home: DataDirectory) -> RankList:
    """Ask the URL of the list in force whether there is a newer one, and import that."""
    held = await stored_list(home)
    if held is None:
        raise ConfigError("there is no rank list yet", hint="geomi ranks import URL")
    url = _url_of(held.origin)
    if url is None:
        raise ConfigError(
            f"the rank list came from the file `{held.origin}`, which geomi does not watch",
            hint="geomi ranks import URL",
        )
    # Written first: a server that fails is not asked again before its day is over.
    held = await _keep(home, replace(held, checked_at_s=home.world.clock.wall_s()))
    return await _fetch(home, url, held.kind, held)


async def refresh_due_ranks(home: DataDirectory) -> bool:
    """Refresh a list that has a URL and was not asked for within a day; say whether it was."""
    held = await stored_list(home)
    if held is None or _url_of(held.origin) is None:
        return False
    if 0 <= home.world.clock.wall_s() - held.checked_at_s < REFRESH_S:
        return False
    await refresh_ranks(home)
    return True


async def stored_list(home: DataDirectory) -> RankList | None:
    """Return where the list in force came from; None before the first import."""
    named = await home.store.open_for(SYSTEM).named_values.get(NAMESPACE, NAME)
    return _adapter().validate_json(named.body) if named else None


@dataclass(frozen=True, slots=True)
class RankFile:
    """A file that holds a rank list.

    Args:
        origin: where it came from, as people know it.
        kind: what the list must be; None recognises it.
    """

    path: Path
    origin: str
    kind: RankKind | None = None

    @property
    def place(self) -> str:
        """The whole path."""
        return str(self.path.resolve())

    def read(self) -> tuple[RankKind, Iterator[tuple[str, int]]]:
        """Recognise the list, and yield (domain, rank) of each line; anything else is refused."""
        lines = self._lines()
        first = next(lines, "")
        columns = rank_columns(first, self.origin)
        if self.kind is not None and not is_same_form(self.kind, columns.kind):
            wanted = ",".join(HEADINGS.get(self.kind, ("rank", "domain")))
            raise ConfigError(
                f"`{self.origin}` is no list of {self.kind}: it begins `{first.strip()[:80]}`",
                hint=f"a list of {self.kind} has the columns {wanted}",
            )
        return self.kind or columns.kind, self._ranks(chain([first], lines), columns)

    def _ranks(self, lines: Iterator[str], columns: RankColumns) -> Iterator[tuple[str, int]]:
        for number, line in enumerate(lines, 1):
            if number > MAX_NAMES:
                raise ConfigError(f"`{self.origin}` has more than {MAX_NAMES:,} lines")
            if not line.strip() or (number == 1 and columns.has_heading):
                continue
            found = columns.read(line)
            if found is None:
                told = f"`{self.origin}`, line {number}: `{line.strip()[:80]}` is not a rank"
                raise ConfigError(told, hint=RANKS_FORM)
            yield found

    def _lines(self) -> Iterator[str]:
        size = 0
        try:
            if self.path.stat().st_size > MAX_FILE_BYTES:
                raise ConfigError(f"`{self.origin}` has more than {MAX_FILE_BYTES >> 20} MiB")
            with _opened(self.path) as file:
                while line := file.readline(MAX_LINE_BYTES + 1):
                    size += len(line)
                    if len(line) > MAX_LINE_BYTES:
                        told = f"`{self.origin}` has a line of more than {MAX_LINE_BYTES} bytes"
                        raise ConfigError(told, hint=RANKS_FORM)
                    if size > MAX_LIST_BYTES:
                        most = f"{MAX_LIST_BYTES >> 20} MiB when inflated"
                        raise ConfigError(f"`{self.origin}` has more than {most}")
                    yield line.decode("utf-8", "replace")
        except _UNREADABLE as error:
            what = getattr(error, "strerror", None) or str(error)
            told = f"`{self.origin}` cannot be read: {what}"
            raise ConfigError(told, hint=RANKS_FORM) from error


async def _put(home: DataDirectory, file: RankFile) -> tuple[RankKind, int]:
    """Read a whole list, and then into the store; a thread reads, as a service works meanwhile."""
    kind, ranks = await asyncio.to_thread(file.read)
    if not await asyncio.to_thread(lambda: sum(1 for _ in ranks)):
        raise ConfigError(f"`{file.origin}` has no domain", hint=RANKS_FORM)
    table, edition = home.store.ranks, int(home.world.clock.wall_s() * 1000)
    _, ranks = file.read()
    while part := await asyncio.to_thread(lambda: list(islice(ranks, PER_WRITE))):
        await table.put(part, edition=edition)
    await table.keep_only(edition)
    return kind, await table.count()


async def _fetch(
    home: DataDirectory, url: Url, kind: RankKind | None, held: RankList | None
) -> RankList:
    config = resolve_under_profile([settings_layer(home.settings)]).config
    conditions = {}
    if held is not None:
        conditions[held.final_url] = unless_changed(held.etag, held.last_modified)
    with tempfile.NamedTemporaryFile(prefix="geomi-") as file:
        fetched = await download(
            home.world, config, url, file.write, conditions, max_bytes=MAX_FILE_BYTES
        )
        now_s = home.world.clock.wall_s()
        if fetched.status == NOT_MODIFIED and held is not None:
            return await _keep(home, replace(held, checked_at_s=now_s))
        file.flush()
        found, many = await _put(home, RankFile(Path(file.name), url.href, kind))
    etag, date = fetched.header("etag"), modified(fetched)
    return await _keep(
        home,
        RankList(
            origin=url.href,
            kind=found,
            domains=many,
            imported_at_s=now_s,
            checked_at_s=now_s,
            final_url=fetched.url,
            etag=etag if is_sendable(etag) else "",
            last_modified=date if is_sendable(date) else "",
        ),
    )


async def _keep(home: DataDirectory, held: RankList) -> RankList:
    named_values = home.store.open_for(SYSTEM).named_values
    body = _adapter().dump_json(held)
    if not await named_values.add(NAMESPACE, NAME, body):
        named = await named_values.get(NAMESPACE, NAME)
        if named is not None:  # another import was faster
            await named_values.change(replace(named, body=body))
    return held


def _url_of(source: str) -> Url | None:
    """Return the URL that a source is; None for the path of a file."""
    if not source.lower().startswith(("http://", "https://")):
        return None
    url = parse_url(source)
    if url is None or "@" in source.partition("://")[2].partition("/")[0]:
        raise ConfigError(
            f"`{source[:200]}` is no URL of a list", hint="give it without a password"
        )
    return url


@cache
def _adapter() -> TypeAdapter[RankList]:
    return TypeAdapter(RankList)


@contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    with ExitStack() as stack:
        file: IO[bytes] = stack.enter_context(_SmallReads(path))
        begins = file.read(len(ZIP))
        file.seek(0)
        if begins == ZIP:
            packed = stack.enter_context(zipfile.ZipFile(file))
            file = stack.enter_context(packed.open(_list_in(packed)))
        elif begins.startswith(GZIP):
            file = cast("IO[bytes]", stack.enter_context(gzip.GzipFile(fileobj=file)))
        yield cast("IO[bytes]", BufferedReader(cast("RawIOBase", file)))


def _list_in(packed: zipfile.ZipFile) -> zipfile.ZipInfo:
    inside = [one for one in packed.infolist() if one.filename.lower().endswith(".csv")]
    if len(inside) != 1:
        raise zipfile.BadZipFile(f"it holds {len(inside)} .csv files, not one")
    if inside[0].flag_bits & ENCRYPTED:
        raise zipfile.BadZipFile("it is encrypted")
    return inside[0]


class _SmallReads(FileIO):
    """A file of which nobody gets much at once, such as the directory of a million names."""

    def read(self, size: int | None = -1, /) -> bytes:
        if size is not None and size > MAX_DIRECTORY_BYTES:
            raise zipfile.BadZipFile(f"its directory has more than {MAX_DIRECTORY_BYTES >> 20} MiB")
        return super().read(size)
