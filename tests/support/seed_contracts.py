"""Contracts as the collector leaves them, without a web: for whoever reads them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from geomi.dataset.checkpoint import write_manifest
from geomi.dataset.contract import write_contract
from geomi.dataset.partition import host_paths, metadata_path, raw_path, success_path
from geomi.engine.seeds.checkpoints import checksum_of
from geomi.model.dataset.contract import Contract, HostFacts, RobotsFacts, ServerInfo, SitemapFacts
from geomi.model.dataset.seed import Manifest, Partition, SeedUrl
from geomi.url.parse import split

SG = Partition("sg", "news", "2026-01-28")
FETCHED_AT = "2026-01-28T15:30:00Z"


@dataclass(frozen=True)
class Host:
    """What was found on one host; `robots` is None where there was no file."""

    robots: bytes | None = b"User-agent: *\nAllow: /\n"
    allows_crawling: bool = True
    sitemap: str = ""
    sitemap_urls: tuple[str, ...] = ()
    fetched_at: str = FETCHED_AT
    error: str = "HTTP 404"
    max_age_s: int | None = None

    @property
    def facts(self) -> HostFacts:
        """The same, as a contract says it."""
        robots = RobotsFacts(
            exists=self.robots is not None,
            size=len(self.robots or b""),
            allows_crawling=self.allows_crawling,
            sitemap_urls=self.sitemap_urls,
            fetched_at=self.fetched_at,
            error="" if self.robots is not None else self.error,
            max_age_s=self.max_age_s,
        )
        sitemap = SitemapFacts(
            exists=bool(self.sitemap),
            url=self.sitemap,
            fetched_at=self.fetched_at,
            error="" if self.sitemap else "HTTP 404",
        )
        return HostFacts(robots, sitemap, ServerInfo(supports_https=True))


def lay_contract(
    root: Path,
    urls: Sequence[str],
    *,
    domain: str,
    hosts: Mapping[str, Host] | None = None,
    files: Sequence[int] = (1,),
    partition: Partition = SG,
) -> Path:
    """Write a contract and its checkpoint; the raw files have to be there already."""
    found = {domain: Host(), **(hosts or {})}
    contract = Contract(
        domain,
        f"gov:{partition.country}:{domain}",
        partition,
        tuple(SeedUrl(url, "Title", split(url).path) for url in urls),
        found[domain].facts,
        FETCHED_AT,
        12,
        {name: host.facts for name, host in found.items() if name != domain},
    )
    metadata = metadata_path(partition, domain)
    outputs = {metadata: write_contract(contract)}
    for name, host in found.items():
        if host.robots is not None:
            outputs[host_paths(partition, domain, name)[0]] = host.robots
    raws = {raw_path(partition, number) for number in files}
    manifest = Manifest(
        FETCHED_AT,
        {key: checksum_of((root / key).read_bytes()) for key in raws if (root / key).exists()},
        {key: checksum_of(data) for key, data in outputs.items()},
        {"urls": len(urls)},
        tuple((files[0], index) for index in range(len(urls))),
    )
    for key, data in {**outputs, success_path(metadata): write_manifest(manifest)}.items():
        (root / key).parent.mkdir(parents=True, exist_ok=True)
        (root / key).write_bytes(data)
    return root / metadata
