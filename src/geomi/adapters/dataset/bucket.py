"""A dataset in a bucket of an S3 server: a file is there as a whole, or not at all, by itself."""

from __future__ import annotations

from collections.abc import AsyncIterator

from geomi.adapters.blob.bucket import Bucket
from geomi.adapters.dataset.keys import checked_key, checked_prefix, too_large, writable_key
from geomi.errors import BytesMissing
from geomi.ports.dataset import DatasetFile


class BucketDataset:
    """`ports.dataset.Dataset` under one prefix of a bucket."""

    def __init__(self, bucket: Bucket, name: str) -> None:
        self._bucket = bucket
        self._name = name

    @property
    def name(self) -> str:
        """The dataset's URL, with its server where one is named: queues go by it."""
        return self._name

    async def list(self, prefix: str) -> AsyncIterator[DatasetFile]:
        """Name the files whose keys begin with a prefix, those of a folder in order."""
        folder, _, start = checked_prefix(prefix).rpartition("/")
        empty: DatasetFile | None = None
        async for key, size in self._bucket.walk(folder):
            if not key.startswith(f"{folder}/{start}" if folder else start):
                continue
            # An object of no bytes before a folder of its name stands for the folder.
            if empty is not None and not key.startswith(f"{empty.key}/"):
                yield empty
            found = DatasetFile(key, size)
            empty = None if size else found
            if size:
                yield found
        if empty is not None:
            yield empty

    async def size(self, key: str) -> int | None:
        """Return how many bytes a file has; None where it is not there."""
        try:
            return await self._bucket.size(checked_key(key))
        except BytesMissing:
            return None

    async def read(self, key: str, *, max_bytes: int) -> bytes | None:
        """Return a file; None if it is missing. A larger one is refused."""
        try:
            size, data = await self._bucket.get_within(checked_key(key), max_bytes)
        except BytesMissing:
            return None
        if data is None:
            raise too_large(key, size, max_bytes)
        return data

    async def add(self, key: str, data: bytes) -> bool:
        """Write a file that is not there yet; False, and nothing written, where it is."""
        return await self._bucket.add(writable_key(key), data)

    async def put(self, key: str, data: bytes) -> None:
        """Write a file in place of the one before."""
        await self._bucket.put(writable_key(key), data)

    async def remove(self, key: str) -> None:
        """Remove a file; a missing one is not an error."""
        await self._bucket.drop([writable_key(key)])
