"""`geomi doctor`: check this installation part by part, then crawl the sample web.

With `--deep` it holds what a data directory has against every invariant instead: all tenants, the
whole archive, the whole request log.
"""

from __future__ import annotations

import asyncio
import platform
import shutil
import sqlite3
import ssl
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from importlib import import_module, metadata
from pathlib import Path
from typing import Annotated

import typer

from geomi import __version__
from geomi.adapters.http.rules import Proxies
from geomi.adapters.machine.clock import system_readings
from geomi.adapters.telemetry.fan_out import EventFanOut
from geomi.admit.address import is_public
from geomi.app import DataDirectory, has_store, open_directory
from geomi.app.directory import TenantDirectories, bucket_of, egress_rules
from geomi.cli import flags
from geomi.cli.console import print_json, say, say_check
from geomi.cli.data_directory import in_data_directory
from geomi.cli.options import Configured, configure
from geomi.cli.prepare.demo import crawl_sample
from geomi.engine.audit.deep import DeepFinding, inspect
from geomi.errors import DISTRIBUTION, GeomiError, RuleBroken
from geomi.settings.options import Settings

OLDEST_PYTHON = (3, 11)
OLDEST_SQLITE = (3, 35)  # RETURNING
NATIVE = {
    "turbohtml": "turbohtml",
    "ada_url": "ada-url",
    "httptools": "httptools",
    "orjson": "orjson",
    "pydantic_core": "pydantic_core",
    "isal.isal_zlib": "isal",
    "brotli": "brotli",
    "backports.zstd": "backports.zstd",
    "numpy": "numpy",
    "re2": "google-re2",
}
OTHERS = 0o077  # what the group and everybody else may do
BORN = datetime(2025, 1, 1, tzinfo=UTC)  # a clock before geomi's own birth was never set


@dataclass(frozen=True, slots=True)
class DoctorCheck:
    """One thing that was looked at."""

    name: str
    is_good: bool
    detail: str


def doctor(
    deep: Annotated[
        bool,
        typer.Option("--deep", help="Instead check all that a data directory holds, byte by byte."),
    ] = False,
    output: flags.Directory = None,
    db: flags.Database = None,
    blobs: flags.Blobs = None,
    allow_private: flags.AllowPrivate = None,
    json: flags.AsJson = False,
) -> None:
    """Check geomi, Python, the native parts, disk, SQLite and clock, then crawl the sample site."""
    if deep:
        work = partial(_look_deep, allow_private=bool(allow_private))
        _tell_deep(in_data_directory(output, work, db=db, blobs=blobs), json=json)
        return
    configured = configure({"output": output}, process={"db": db, "blobs": blobs})
    checks = []
    for check in _checks(configured):
        checks.append(check)
        if not json:
            say_check(f"{check.name}: {check.detail}", is_good=check.is_good)
    bad = [check.name for check in checks if not check.is_good]
    if json:
        print_json({"is_good": not bad, "checks": checks})
    if bad:
        raise GeomiError(f"something is wrong: {', '.join(bad)}")


async def _look_deep(home: DataDirectory, *, allow_private: bool) -> list[DeepFinding]:
    homes, rules = TenantDirectories(home), egress_rules(home.settings)
    known = {override.address for override in rules.overrides}
    # Behind a proxy the address is the proxy's matter.
    trusts_all = allow_private or rules.allow_private or rules.proxies != Proxies()
    return await inspect(
        home.world,
        lambda tenant: homes.of(tenant).world,
        lets_through=lambda ip: trusts_all or ip in known or is_public(ip),
    )


def _tell_deep(findings: Sequence[DeepFinding], *, json: bool) -> None:
    broken = [one.invariant for one in findings if not one.is_good]
    if json:
        print_json({"is_good": not broken, "invariants": findings})
    for one in findings if not json else ():
        looked = f"{one.broken} broken" if one.broken else f"{one.checked:,} checked"
        told = "; ".join(part for part in (looked, one.note) if part)
        say_check(f"{one.invariant}: {one.sentence} ({told})", is_good=one.is_good)
        for example in one.examples:
            say(f"    {example}", style="red")
        if one.broken > len(one.examples):
            say(f"    and {one.broken - len(one.examples)} more", style="red")
    if broken:
        raise RuleBroken(
            f"what must always hold does not: {', '.join(broken)}",
            hint="the lines marked ✗ have examples; if nobody changed the data, this is a fault of "
            "geomi: please report it",
        )


def _checks(configured: Configured) -> Iterator[DoctorCheck]:
    root = Path(configured.resolved.run.output)
    yield _installed()
    yield _python()
    for module, package in NATIVE.items():
        yield _native(module, package)
    yield _certificates()
    yield _writable(root)
    yield _space(root, configured.settings.min_free_bytes)
    yield _sqlite()
    yield _clock()
    if has_store(root, configured.settings):
        yield _tried("store", lambda: asyncio.run(_open(root, configured)))
    if configured.settings.blobs:
        yield _tried("archive", lambda: asyncio.run(_reach(configured.settings)))
    yield _tried("sample crawl", _sample)


def _installed() -> DoctorCheck:
    folder = Path(__file__).parents[2]
    try:
        as_what = f"the distribution {DISTRIBUTION} {metadata.version(DISTRIBUTION)}"
    except metadata.PackageNotFoundError:  # a checkout on the path of Python
        as_what = f"no distribution {DISTRIBUTION} is installed"
    return DoctorCheck("geomi", True, f"{__version__} in `{folder}`; {as_what}")


def _python() -> DoctorCheck:
    is_good = sys.version_info[:2] >= OLDEST_PYTHON
    return DoctorCheck("python", is_good, f"{platform.python_version()} on {platform.platform()}")


def _native(module: str, package: str) -> DoctorCheck:
    try:
        import_module(module)
        return DoctorCheck(package, True, metadata.version(package))
    except ImportError as error:
        return DoctorCheck(package, False, f"cannot be loaded: {error}")


def _certificates() -> DoctorCheck:
    paths = ssl.get_default_verify_paths()
    found = paths.cafile or paths.capath
    detail = found or "none found; install your system's ca-certificates"
    return DoctorCheck("certificates", bool(found), detail)


def _writable(root: Path) -> DoctorCheck:
    folder = _nearest(root)
    try:
        with tempfile.TemporaryFile(dir=folder):
            told = f"`{root}` can be written"
        if root.exists() and root.stat().st_mode & OTHERS:
            told += f"; others can enter it: chmod 700 {root}"
        return DoctorCheck("data directory", True, told)
    except OSError as error:
        return DoctorCheck("data directory", False, f"`{root}` cannot be written: {error.strerror}")


def _space(root: Path, min_free_bytes: int) -> DoctorCheck:
    free = shutil.disk_usage(_nearest(root)).free
    return DoctorCheck(
        "space", free >= min_free_bytes, f"{free:,} bytes free; {min_free_bytes:,} needed"
    )


def _nearest(root: Path) -> Path:
    """Return the directory, or the nearest one above it that is there already."""
    return next(folder for folder in (root, *root.absolute().parents) if folder.exists())


def _sqlite() -> DoctorCheck:
    with tempfile.TemporaryDirectory() as folder, closing(sqlite3.connect(f"{folder}/db")) as db:
        mode = db.execute("PRAGMA journal_mode = WAL").fetchone()[0]
    is_good = sqlite3.sqlite_version_info >= OLDEST_SQLITE and mode == "wal"
    return DoctorCheck("sqlite", is_good, f"{sqlite3.sqlite_version}, journal {mode}")


def _clock() -> DoctorCheck:
    now = datetime.fromtimestamp(system_readings().wall_s(), UTC)
    return DoctorCheck("clock", now > BORN, now.isoformat(timespec="seconds"))


def _tried(name: str, work: Callable[[], str]) -> DoctorCheck:
    try:
        return DoctorCheck(name, True, work())
    except GeomiError as error:
        return DoctorCheck(name, False, error.message)


async def _open(root: Path, configured: Configured) -> str:
    async with open_directory(
        root, configured.settings, lambda _: EventFanOut(), create=False
    ) as home:
        jobs = await home.world.store.jobs.list(limit=1)
        return f"`{root}` opens; newest job: {jobs[0].id if jobs else 'none'}"


async def _reach(settings: Settings) -> str:
    bucket = bucket_of(settings)
    assert bucket is not None
    await bucket.sizes("doctor")  # a folder that is not there
    return f"{bucket} can be reached"


def _sample() -> str:
    with tempfile.TemporaryDirectory(prefix="geomi-") as folder:
        sample = asyncio.run(crawl_sample(Path(folder), lambda _: EventFanOut()))
    if sample.faults:
        raise GeomiError("; ".join(sample.faults))
    return f"{len(sample.pages)} pages of four hosts in {sample.report.seconds:.1f} s"
