"""Read, write and name the messages of the seed engine's queues, as JSON (SED-21, SED-22, C-50).

Two messages with the same name are one message. The name of a raw file's message is its key. The
name of a domain's message holds the domain, the raw file and the file's checksum, so that a
changed file makes another message. A forced orchestration adds its own name.
"""

from __future__ import annotations

import orjson

from geomi.dataset.json_fields import (
    Fields,
    as_count,
    checksum,
    flag,
    inner,
    partition,
    partition_fields,
    read_object,
    rows,
    seed_url,
    text,
    url_fields,
    wrong,
)
from geomi.dataset.partition import read_raw_key, result_path
from geomi.model.dataset.queue import Message
from geomi.model.dataset.seed import DomainMessage, Partition, SeedMessage, SeedRules
from geomi.url.host import domain_name

SUM_CHARS = 16  # of a raw file's checksum, in the names of what comes of it


def file_message(rules: SeedRules, seed: SeedMessage) -> Message:
    """Make a message of the SEED queue; its task is the raw file."""
    return Message(
        rules.seed_queue,
        seed.file_path + _forced(seed.run),
        seed.file_path,
        seed.partition_info,
        write_seed_message(seed),
    )


def domain_message(rules: SeedRules, domain: DomainMessage) -> Message:
    """Make a message of the DOMAIN queue; its task is the folder of the domain's contract."""
    task = result_path(domain.partition_info, domain.domain)
    file = f"{domain.file_path.rpartition('/')[2]}:{domain.file.sha256[:SUM_CHARS]}"
    return Message(
        rules.domain_queue,
        f"{task}#{file}{_forced(domain.run)}",
        task,
        domain.partition_info,
        write_domain_message(domain),
    )


def write_seed_message(message: SeedMessage) -> bytes:
    """Write what the SEED queue carries."""
    written: dict[str, object] = {
        "file_path": message.file_path,
        "partition_info": partition_fields(message.partition_info),
        "force": message.force,
        "run": message.run,
    }
    return orjson.dumps(written | ({"again": True} if message.again else {}))


def read_seed_message(body: bytes) -> SeedMessage:
    """Read what the SEED queue carries; `SeedError` where it is something else."""
    found = read_object(body)
    path, info = text(found, "file_path"), partition(inner(found, "partition_info"))
    _check_path(path, info)
    return SeedMessage(path, info, *_forced_by(found), again="again" in found)


def write_domain_message(message: DomainMessage) -> bytes:
    """Write what the DOMAIN queue carries."""
    return orjson.dumps(
        {
            "domain": message.domain,
            "domain_id": message.domain_id,
            "urls": [url_fields(it) for it in message.urls],
            "partition_info": partition_fields(message.partition_info),
            "file_path": message.file_path,
            "file": {"sha256": message.file.sha256, "size": message.file.size},
            "indexes": message.indexes,
            "force": message.force,
            "run": message.run,
        }
    )


def read_domain_message(body: bytes) -> DomainMessage:
    """Read what the DOMAIN queue carries; `SeedError` where it is something else."""
    found = read_object(body)
    urls = tuple(map(seed_url, rows(found, "urls")))
    indexes = tuple(as_count(value, "an index") for value in rows(found, "indexes"))
    if len(urls) != len(indexes) or not urls:
        raise wrong(f"it has {len(urls)} URLs and {len(indexes)} indexes")
    path, info = text(found, "file_path"), partition(inner(found, "partition_info"))
    _check_path(path, info)
    domain = text(found, "domain")
    if domain_name(domain) != domain:
        raise wrong(f"domain `{domain[:200]}` is not a domain name")
    return DomainMessage(
        domain,
        text(found, "domain_id"),
        urls,
        info,
        path,
        checksum(inner(found, "file")),
        indexes,
        *_forced_by(found),
    )


def _forced(run: str) -> str:
    return f"@{run}" if run else ""


def _forced_by(found: Fields) -> tuple[bool, str]:
    """Read whether something is forced, and by which orchestration."""
    force, run = flag(found, "force"), text(found, "run")
    if force != bool(run):
        raise wrong(f"force is {force}, and run is `{run[:200]}`")
    return force, run


def _check_path(path: str, info: Partition) -> None:
    named = read_raw_key(path)
    if named is None or named[0] != info:
        raise wrong(f"file_path `{path[:200]}` is not a raw file of its partition")
