"""A bucket of an S3 server: whole files go in and are verified, ranges of bytes come out.

Rules kept:
- Nothing is dialled but the operator's own server: the URL names it, or the usual `AWS_*`
  variables, from which the credentials come as well.
- What was sent is not believed: the file counts as kept when the server says its size and MD5, or,
  where its ETag is something else (encryption, for one), when it was read back.
- Nothing is overwritten: a name that is taken has to hold the same bytes.
- No credential gets into a message: servers repeat parts of a request in their answers, so that of
  an answer only the code of its error is told.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path

import obstore
from obstore.exceptions import AlreadyExistsError, BaseError
from obstore.store import S3Store

from geomi.adapters.bucket_url import BucketUrl
from geomi.adapters.machine.disk import refusal
from geomi.errors import BytesMissing, StoreError

MIB = 1024 * 1024
CHUNK_BYTES = MIB
# A segment of 32 MiB at 1 Mbit/s; a connection is there at once or not at all.
REQUEST_S = 300.0
CONNECT_S = 10.0
# How long a request is tried again before whoever asked is told: long enough for a server that
# restarts, short enough for a person who waits for a crawl to end.
PATIENCE_S = 60.0
# The client counts tries beside the time, and gives up after either: ten, its own choice, are over
# in two seconds. Waits double up to the longest, so that these are never reached.
LONGEST_PAUSE_S = 2.0
MAX_TRIES = 1000

_DENIED = re.compile(r"status code: 40[13]\b")
_KEY_HINT = "check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and their permissions there"
_PLACE_HINT = "check the bucket, AWS_ENDPOINT_URL and AWS_REGION"
_CODE = re.compile(r"<Code>([A-Za-z0-9]{1,80})</Code>")


class Bucket:
    """Files under one prefix of a bucket.

    Args:
        patience_s: for how long a failing request is tried again.
    """

    def __init__(self, url: BucketUrl, *, patience_s: float = PATIENCE_S) -> None:
        self._url = url
        named = {
            name: value
            for name, value in (("aws_endpoint_url_s3", url.endpoint), ("region", url.region))
            if value
        }
        with self._refusing(str(url)):
            self._store = S3Store(
                url.bucket,
                prefix=url.prefix or None,
                client_options={
                    "allow_http": True,  # the endpoint says itself whether it is http or https
                    "timeout": timedelta(seconds=REQUEST_S),
                    "connect_timeout": timedelta(seconds=CONNECT_S),
                },
                retry_config={
                    "max_retries": MAX_TRIES,
                    "retry_timeout": timedelta(seconds=patience_s),
                    "backoff": {"max_backoff": timedelta(seconds=LONGEST_PAUSE_S)},
                },
                **named,  # type: ignore[arg-type]  # names of its options
            )

    def __str__(self) -> str:
        return str(self._url)

    async def keep(self, name: str, path: Path) -> None:
        """Send a file and return once the bucket is known to hold all of it."""
        data = await asyncio.to_thread(path.read_bytes)
        with self._refusing(name):
            with suppress(AlreadyExistsError):  # sent before, and the answer was lost
                await obstore.put_async(self._store, name, data, mode="create", use_multipart=False)
            if not await self._holds(name, data):
                raise StoreError(
                    f"`{name}` in {self} is not what was sent to it",
                    hint="geomi keeps the file; find out who else writes to that bucket",
                )

    async def range(self, name: str, start: int, length: int) -> bytes:
        """Return bytes of a file; fewer where it ends before."""
        with self._refusing(name):
            found = await obstore.get_range_async(self._store, name, start=start, length=length)
            return found.to_bytes()

    async def fetch(self, name: str, path: Path) -> None:
        """Copy a file to the disk."""
        with self._refusing(name), path.open("wb") as file:
            answer = await obstore.get_async(self._store, name)
            async for chunk in answer.stream(min_chunk_size=CHUNK_BYTES):
                file.write(chunk)

    async def sizes(self, folder: str) -> dict[str, int]:
        """Return the files in a folder with their sizes; a folder that is not there has none."""
        return {name: size async for name, size in self.walk(folder)}

    async def walk(self, folder: str) -> AsyncIterator[tuple[str, int]]:
        """Name the files in a folder with their sizes, in the order of the server."""
        with self._refusing(folder):
            async for chunk in obstore.list(self._store, folder or None):
                for found in chunk:
                    yield found["path"], found["size"]

    async def size(self, name: str) -> int:
        """Return how many bytes a file has."""
        with self._refusing(name):
            return (await obstore.head_async(self._store, name))["size"]

    async def remove(self, folder: str) -> None:
        """Remove every file in a folder."""
        await self.drop(list(await self.sizes(folder)))

    async def put(self, name: str, data: bytes) -> None:
        """Send what need not be verified, in place of what had the name before."""
        with self._refusing(name):
            await obstore.put_async(self._store, name, data, use_multipart=False)

    async def get(self, name: str) -> bytes:
        """Return a whole file."""
        with self._refusing(name):
            answer = await obstore.get_async(self._store, name)
            return bytes(await answer.bytes_async())

    async def get_within(self, name: str, max_bytes: int) -> tuple[int, bytes | None]:
        """Return a file's size, and the file where it is no larger than that."""
        with self._refusing(name):
            answer = await obstore.get_async(self._store, name)
            size = answer.meta["size"]
            return size, bytes(await answer.bytes_async()) if size <= max_bytes else None

    async def add(self, name: str, data: bytes) -> bool:
        """Send a file that is not there yet; False where it is.

        Where an answer was lost and the file was sent again, it is there already: ours.
        """
        with self._refusing(name):
            try:
                await obstore.put_async(self._store, name, data, mode="create", use_multipart=False)
            except AlreadyExistsError:
                return False
        return True

    async def drop(self, names: Sequence[str]) -> None:
        """Remove files; a missing one is not an error."""
        with self._refusing(str(self._url)):
            if names:
                await obstore.delete_async(self._store, list(names))

    async def _holds(self, name: str, data: bytes) -> bool:
        """Whether a file begins with these bytes, by its ETag or by reading it back."""
        held = await obstore.head_async(self._store, name)
        digest = await asyncio.to_thread(_md5, data)
        if held["size"] == len(data) and (held["e_tag"] or "").strip('"') == digest:
            return True
        if held["size"] < len(data):
            return False
        answer = await obstore.get_async(self._store, name, options={"range": (0, len(data))})
        sent, seen = memoryview(data), 0
        async for chunk in answer.stream(min_chunk_size=CHUNK_BYTES):
            if sent[seen : seen + len(chunk)] != memoryview(chunk):
                return False
            seen += len(chunk)
        return seen == len(data)

    @contextmanager
    def _refusing(self, name: str) -> Iterator[None]:
        """Say in our words what the server, or the way to it, has refused."""
        try:
            yield
        except FileNotFoundError:
            raise BytesMissing(f"`{name}` is missing in {self}") from None
        except OSError as error:
            raise refusal(error, Path(name)) from error
        except BaseError as error:
            hint = _KEY_HINT if _DENIED.search(str(error)) else _PLACE_HINT
            raise StoreError(f"{self} cannot be used: {_reason(error)}", hint=hint) from None


def _md5(data: bytes) -> str:
    return hashlib.md5(data, usedforsecurity=False).hexdigest()


def _reason(error: BaseException) -> str:
    """Take the code out of a server's answer, or what kept us from getting one."""
    text = str(error)
    if found := _CODE.search(text):
        return found[1]
    first = text.partition("\n")[0].partition("<")[0]
    return first.rpartition(" - ")[2].strip(" :") or type(error).__name__
