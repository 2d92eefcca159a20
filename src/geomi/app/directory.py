"""Open a data directory: its store, archive, heartbeat, and the network behind the gate.

`open_directory` refuses wrong settings before it opens anything. It holds the lock of this process
until everything that the process wrote is safe. `open_for` opens the same directory for another
tenant; all tenants share workers, politeness and the archive. The archive is in the directory, or
in the bucket that `blobs` names. S3 is an extra: nothing of it is imported before a URL asks for
it.
"""

from __future__ import annotations

import os
import platform
import random
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from geomi import __version__
from geomi.adapters.blob.directory import DirectoryArchive
from geomi.adapters.blob.spool import BucketSpool, DirectorySpool
from geomi.adapters.bucket_url import read_bucket_url
from geomi.adapters.compute.child import ChildCompute
from geomi.adapters.http.client import HttpClient
from geomi.adapters.http.egress import Egress
from geomi.adapters.http.rules import (
    EgressRules,
    Override,
    Proxies,
    parse_no_proxy,
    parse_override,
    parse_proxy,
)
from geomi.adapters.machine.disk import DirectoryDisk, refusal, whole_file
from geomi.adapters.machine.mark import MarkFile
from geomi.adapters.machine.presence import PresenceLock
from geomi.adapters.machine.vault import FernetVault
from geomi.app.external_docs import RepositoryApi, check_source, open_source
from geomi.app.recovery import SilenceWatch, directory_name, recover
from geomi.app.store import clock_of, open_store, shared_time
from geomi.engine.worker.heartbeat import Heartbeat, with_heartbeat
from geomi.engine.world import World
from geomi.errors import ExtraMissing, StoreError
from geomi.frontier.region import check_region
from geomi.model.event import Warned
from geomi.model.markdown import NO_RULES, MarkdownRules
from geomi.model.worker import WorkerCard, WorkerRole
from geomi.ports.archive import KeptArchive, Spool
from geomi.ports.external_docs import ExternalDocsSource
from geomi.ports.runtime import Clock, EventSink
from geomi.ports.store import Store
from geomi.settings.options import Settings
from geomi.text.identifiers import new_ulid

if TYPE_CHECKING:
    from geomi.adapters.blob.bucket import Bucket


SOFTWARE = f"geomi/{__version__}"
# A settlement waits for it, and nothing is lost with it but a little time.
SPOOL_PATIENCE_S = 5.0


@dataclass(frozen=True, slots=True)
class DataDirectory:
    """An open data directory and the world around it.

    Args:
        heart: sends the heartbeats of this process after it has registered.
        watch: knows which other processes have been silent.
        docs_source: the external source, if one is configured.
        docs_api: the API of providers that name one.
    """

    root: Path
    settings: Settings
    archive: KeptArchive
    world: World
    heart: Heartbeat
    docs_api: RepositoryApi
    watch: SilenceWatch = field(default_factory=SilenceWatch)
    docs_source: ExternalDocsSource | None = None

    @property
    def store(self) -> Store:
        """The store of its world."""
        return self.world.store

    def open_for(self, tenant: str) -> DataDirectory:
        """Return the same directory with another tenant's handles; both are closed with the first.

        Who works, politeness and the archive are everybody's.
        """
        return replace(self, world=replace(self.world, store=self.store.open_for(tenant)))


class TenantDirectories:
    """One directory as each of its tenants has it, opened once for each."""

    def __init__(self, home: DataDirectory) -> None:
        self._opened = {home.store.tenant: home}
        self.system = home

    def of(self, tenant: str) -> DataDirectory:
        """Return a tenant's handles."""
        if tenant not in self._opened:
            self._opened[tenant] = self.system.open_for(tenant)
        return self._opened[tenant]


def egress_rules(settings: Settings) -> EgressRules:
    """Read the settings of the egress gate; wrong ones are refused before anything is opened."""
    return EgressRules(
        allow_private=settings.allow_private,
        overrides=egress_overrides(settings),
        ca_file=Path(settings.ca_file) if settings.ca_file else None,
        proxies=Proxies(
            http=parse_proxy(settings.http_proxy) if settings.http_proxy else None,
            https=parse_proxy(settings.https_proxy) if settings.https_proxy else None,
            no_proxy=parse_no_proxy(settings.no_proxy),
        ),
    )


def egress_overrides(settings: Settings) -> tuple[Override, ...]:
    """Read where single hosts are, as the operator says."""
    return tuple(parse_override(text) for text in settings.resolve)


@asynccontextmanager
async def open_directory(
    root: Path,
    settings: Settings,
    listen: Callable[[Clock], EventSink],
    *,
    owner: str = "",
    create: bool = True,
    markdown_rules: MarkdownRules = NO_RULES,
) -> AsyncIterator[DataDirectory]:
    """Open a data directory: its store, its archive, the network behind the gate.

    Args:
        listen: makes the listener of its events, given its clock.
        owner: the name of a worker that joins a crawl, which outlives its database's restarts.
        markdown_rules: functions that write elements their way, in this process alone.
    """
    rules = egress_rules(settings)
    bucket = bucket_of(settings)
    check_source(settings)
    check_region(settings.region)
    rng = random.Random()
    if create or settings.db:
        _make_folder(root)
    with closing(open_store(root, settings, create=create, waits=bool(owner))) as store:
        clock = clock_of(store)
        owner = owner or f"w-{new_ulid(clock.wall_s(), rng)}"
        sink = listen(clock)
        archive = open_archive(
            root, bucket, worker=owner, warn=lambda text: sink.emit(Warned("", text))
        )
        egress = Egress(rules, clock)
        compute, mark = ChildCompute(), MarkFile(root, owner)
        client = HttpClient(egress, clock, mark)
        world = World(
            store=store,
            clock=clock,
            fetcher=client,
            resolver=egress,
            archive=archive,
            spool=open_spool(root, settings),
            compute=compute,
            disk=DirectoryDisk(root, settings.min_free_bytes),
            sink=sink,
            rng=rng,
            version=__version__,
            owner=owner,
            vault=FernetVault(root, settings.sign_in_key),
            silence_s=settings.silence_s,
            mark=mark,
            markdown_rules=markdown_rules,
        )
        time = shared_time(store, clock, owner=owner, silence_s=settings.silence_s)
        lock, card = PresenceLock(root, owner), _card(world, root, settings.region)
        heart = Heartbeat(world, card, time, stay=lock.keep, tend=lambda: recover(home))
        docs_source = open_source(settings, rules, clock)
        docs_api = RepositoryApi(settings, rules, clock)
        home = DataDirectory(
            root, settings, archive, world, heart, docs_api, docs_source=docs_source
        )
        try:
            async with _present(home, lock, mark):
                yield home
        finally:
            await client.aclose()
            await docs_api.aclose()
            if docs_source is not None:
                await docs_source.aclose()
            await compute.aclose()
            egress.close()


@asynccontextmanager
async def _present(home: DataDirectory, lock: PresenceLock, mark: MarkFile) -> AsyncIterator[None]:
    """Hold this process's lock, one for all its crawls, until what they made is safe."""
    with lock, mark:
        try:
            yield
        finally:
            await _close(home.archive, home.heart)  # if it fails, the lock stays: others mend then


async def _close(archive: KeptArchive, heart: Heartbeat) -> None:
    """Upload the remaining segments with heartbeats: those of a dead worker count as lost."""
    if not heart.is_enrolled:
        return await archive.aclose()
    await with_heartbeat(heart, archive.aclose())
    await heart.leave()


def _card(world: World, root: Path, region: str) -> WorkerCard:
    return WorkerCard(
        owner=world.owner,
        machine=platform.node(),
        root=directory_name(root),
        pid=os.getpid(),
        role=WorkerRole.WORKER,
        version=world.version,
        started_s=0.0,
        beat_s=0.0,
        silence_s=0.0,
        region=region,
    )


def _make_folder(root: Path) -> None:
    """Make a directory that this user alone can read; an existing one stays as it is."""
    try:
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(
            f"cannot make the data directory `{root}`: {error.strerror}",
            hint="give one that can be written with -o DIR",
        ) from error


def bucket_of(settings: Settings, *, patience_s: float | None = None) -> Bucket | None:
    """Read where the archive is; nonsense is refused before anything is opened or dialled."""
    if not settings.blobs:
        return None
    need_obstore("an archive in a bucket")
    from geomi.adapters.blob.bucket import PATIENCE_S, Bucket  # an extra

    return Bucket(read_bucket_url(settings.blobs), patience_s=patience_s or PATIENCE_S)


def need_obstore(what: str) -> None:
    """Refuse what needs an extra that is not there."""
    if find_spec("obstore") is None:
        raise ExtraMissing(f"{what} needs obstore", extra="s3")


def directory_id(root: Path, settings: Settings) -> str:
    """Return the id of a directory's archive in a database; empty if none is needed.

    The first crawl here creates the file. A database may have jobs of several directories,
    and a worker that writes to the wrong one would leave pages that no other worker can read.
    """
    if settings.blobs or not settings.db:
        return ""
    path = root / "archive.id"
    try:
        if not path.exists():
            with whole_file(path) as file:
                file.write(uuid4().hex.encode())
        return path.read_text("ascii").strip()
    except OSError as error:
        raise refusal(error, path) from error


def open_archive(
    root: Path, bucket: Bucket | None, *, worker: str, warn: Callable[[str], None]
) -> KeptArchive:
    """Open the archive of a data directory, for one worker; nothing is dialled yet."""
    if bucket is None:
        return DirectoryArchive(root, worker=worker, software=SOFTWARE)
    from geomi.adapters.blob.s3 import S3Archive  # an extra

    return S3Archive(root, bucket, worker=worker, software=SOFTWARE, warn=warn)


def open_spool(root: Path, settings: Settings) -> Spool:
    """Open the spool beside the archive, so that every reader of the archive finds the texts."""
    bucket = bucket_of(settings, patience_s=SPOOL_PATIENCE_S)
    return DirectorySpool(root) if bucket is None else BucketSpool(bucket)
