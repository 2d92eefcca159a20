"""What a contract costs: from raw files to `prod/`, on a loopback web of many domains.

    python -m bench.seeds [--domains 1000] [--records 10000] [--batch 5]

10,000 records over 1,000 domains in ten raw files, whose domains are spread over all of them. Every
domain is a host of its own behind https, with a robots.txt and a sitemap, on one of a hundred
addresses. The pipeline is the product's own (orchestrator, file processor,
collector), on SQLite and a directory, in this process; the web is another process. Politeness is
told to wait for nobody, because loopback is ours. A second run has nothing to do: it must cost no
request, and its count is printed.

The control: the same requests for the same hosts by the same HTTP client, as many hosts at once,
and nothing around it, no lease, no log, no parser, no file. It runs before the pipeline and after
it, so that both have met the same machine; ratios are to the mean of the two.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import resource
import ssl
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path

import trustme

from bench.web import ROOT, BenchError
from geomi.adapters.telemetry.fan_out import EventFanOut
from geomi.app import DataDirectory, open_directory
from geomi.app.use.datasets import open_dataset
from geomi.dataset.partition import raw_path
from geomi.engine.seeds.context import SeedContext
from geomi.engine.seeds.orchestrate import orchestrate
from geomi.engine.seeds.queue import work_on_queues
from geomi.engine.seeds.sitemaps import sitemap_entry
from geomi.fetch.request import Requests
from geomi.model.config import CrawlConfig
from geomi.model.dataset.seed import Partition, PartitionFilter
from geomi.settings.layers import flags_layer, resolve_under_profile
from geomi.settings.options import Settings
from geomi.url.parse import split

FILES = 10
FILES_ASKED = ("robots.txt", "sitemap.xml")  # of each host
PAGES = 100  # that a sitemap lists
PARTITION = Partition("sg", "news", "2026-01-28")
# Everybody below a public suffix is registrable, and one certificate speaks for all of them.
SUFFIX = "gov.sg"
ADDRESSES = [f"127.0.1.{number}" for number in range(1, 101)]
MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Cost:
    """What one run took."""

    requests: int
    wall_s: float
    cpu_s: float
    sent: int = 0


@dataclass(frozen=True, slots=True)
class Costs:
    """What the pipeline took, what nothing left to do took, and the control on either side."""

    first: Cost
    second: Cost
    controls: tuple[Cost, Cost]

    @property
    def control(self) -> Cost:
        """The mean of both."""
        one, other = self.controls
        wall_s, cpu_s = (one.wall_s + other.wall_s) / 2, (one.cpu_s + other.cpu_s) / 2
        return Cost(one.requests, wall_s, cpu_s)


def main() -> int:
    """Serve a web, run the pipeline over it twice, report."""
    parser = argparse.ArgumentParser(description="Measure the seed engine.")
    parser.add_argument("--domains", type=int, default=1000)
    parser.add_argument("--records", type=int, default=10_000)
    parser.add_argument("--batch", type=int, default=5, help="domains in hand at once")
    parser.add_argument("--serve", metavar="FOLDER", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        asyncio.run(serve(Path(options.serve)))
        return 0
    with tempfile.TemporaryDirectory(prefix="geomi-seeds-") as folder:
        try:
            measure(Path(folder), options.domains, options.records, options.batch)
        except BenchError as error:
            print(f"bench: {error}", file=sys.stderr)
            return 2
    return 0


def measure(folder: Path, domains: int, records: int, batch: int) -> None:
    """Make the raw files, start the web, and let two runs follow one another."""
    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(folder / "ca.pem"))
    authority.issue_cert(f"*.{SUFFIX}").private_key_and_cert_chain_pem.write_to_path(
        str(folder / "web.pem")
    )
    names = [f"d{number:05}.{SUFFIX}" for number in range(domains)]
    write_raw(folder / "dataset", names, records)
    command = (sys.executable, "-m", "bench.seeds", "--serve", str(folder))
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as web:
        try:
            assert web.stdout is not None
            port = int(web.stdout.readline() or "0")
            if not port:
                raise BenchError("the web did not start")
            costs = asyncio.run(run_all(folder, names, port, seed_config(batch)))
        finally:
            web.terminate()
    report(costs, domains, records)


def write_raw(dataset: Path, names: list[str], records: int) -> None:
    """Deal records out to domains and files, so that every domain is in several files."""
    files: list[list[dict[str, str]]] = [[] for _ in range(FILES)]
    for number in range(records):
        name = names[number % len(names)]
        url = f"https://{name}/articles/{number}"
        files[number // len(names) % FILES].append(
            {
                "url": url,
                "title": f"Article {number} of {name}",
                "domain": name,
                "registrable_domain": name,
                "domain_id": f"gov:sg:{name}",
                "source_type": "gov",
                "content_type": "text/html",
                "language": "en",
                "country": "sg",
                "discovered_at": "2026-01-28T10:00:00Z",
                "discovery_method": "google_search",
            }
        )
    for number, found in enumerate(files, 1):
        path = dataset / raw_path(PARTITION, number)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(found), "utf-8")


def seed_config(batch: int) -> CrawlConfig:
    """Return the seed engine's settings, which wait for nobody on loopback."""
    config = resolve_under_profile([flags_layer({"profile": "seed-engine"})]).config
    return replace(
        config,
        politeness=replace(config.politeness, delay_s=0.0),
        seeds=replace(config.seeds, domain_batch=batch),
    )


async def run_all(folder: Path, names: list[str], port: int, config: CrawlConfig) -> Costs:
    """Run the pipeline over the raw files, and once more, between two controls."""
    settings = Settings(
        resolve=tuple(
            f"{name}:443:{ADDRESSES[number % len(ADDRESSES)]}:{port}"
            for number, name in enumerate(names)
        ),
        ca_file=str(folder / "ca.pem"),
    )
    before = await control(folder / "before", settings, names, config)
    async with open_directory(folder / "home", settings, lambda _: EventFanOut()) as home:
        dataset = open_dataset(str(folder / "dataset"))
        seeding = SeedContext(home.world, config, home.store.queues, dataset)
        first, second = [await run_once(home, seeding) for _ in range(2)]
    after = await control(folder / "after", settings, names, config)
    if first.requests != before.requests:
        raise BenchError(f"{first.requests} requests; the control sent {before.requests}")
    return Costs(first, second, (before, after))


async def run_once(home: DataDirectory, seeding: SeedContext) -> Cost:
    """Find raw files, and work until nothing is left."""
    asked = await requests_of(home)
    began_s, began_cpu_s = time.perf_counter(), time.process_time()
    found = await orchestrate(seeding, PartitionFilter())
    await work_on_queues(seeding, leaving=asyncio.Event(), is_done_when_empty=True)
    wall_s, cpu_s = time.perf_counter() - began_s, time.process_time() - began_cpu_s
    return Cost(await requests_of(home) - asked, wall_s, cpu_s, found.sent)


async def control(root: Path, settings: Settings, names: list[str], config: CrawlConfig) -> Cost:
    """Ask every host for the same two files, with connections of its own."""
    waiting, sent = iter(names), 0

    async def ask(home: DataDirectory, requests: Requests) -> None:
        nonlocal sent
        for name in waiting:  # shared: each takes the next
            robots, sitemap = (split(f"https://{name}/{file}") for file in FILES_ASKED)
            for request in (
                requests.robots(robots.href, robots.authority),
                requests.page(sitemap_entry(sitemap), sitemap),
            ):
                fetched = await home.world.fetcher.fetch(request)
                if fetched.status != 200:
                    raise BenchError(f"{request.url}: {fetched.status} {fetched.detail}")
                sent += 1

    async with open_directory(root, settings, lambda _: EventFanOut()) as home:
        requests = Requests(config, (), version=home.world.version)
        began_s, began_cpu_s = time.perf_counter(), time.process_time()
        try:
            async with asyncio.TaskGroup() as group:
                for number in range(config.seeds.domain_batch):
                    group.create_task(ask(home, requests), name=f"asker {number}")
        except* BenchError as failures:
            raise failures.exceptions[0] from failures
        return Cost(sent, time.perf_counter() - began_s, time.process_time() - began_cpu_s)


async def requests_of(home: DataDirectory) -> int:
    """Count the requests in the log."""
    log = home.world.store.requests
    return sum([len(await log.of_host(host, after_s=0, limit=10**6)) for host in await log.hosts()])


def report(costs: Costs, domains: int, records: int) -> None:
    """Say what a domain costs, beside the bare requests, and that a second run costs nothing."""
    first, second, bare = costs.first, costs.second, costs.control
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / MIB
    print(f"{records:,} records, {domains:,} domains, {first.sent} raw files")
    apart = " and ".join(f"{one.wall_s:.1f} s" for one in costs.controls)
    print(f"control: {apart}, {bare.requests:,} requests, {1000 * bare.cpu_s / domains:.2f} CPU ms")
    print(f"first run: {first.wall_s:.1f} s, {first.requests:,} requests")
    print(f"second run: {second.wall_s:.2f} s, {second.sent} files, {second.requests} requests")
    print(
        f"domains_s={domains / first.wall_s:.0f} requests_domain={first.requests / domains:.2f} "
        f"cpu_ms_domain={1000 * first.cpu_s / domains:.2f} rss_mb={peak:.0f} "
        f"second_run_requests={second.requests} rate_ratio={bare.wall_s / first.wall_s:.2f} "
        f"cpu_ratio={first.cpu_s / bare.cpu_s:.2f}"
    )


async def serve(folder: Path) -> None:
    """Answer for every name: robots.txt, a sitemap of its own, and nothing else."""
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(folder / "web.pem")
    first = await asyncio.start_server(_talk, ADDRESSES[0], 0, ssl=tls, backlog=1024)
    port = first.sockets[0].getsockname()[1]
    await asyncio.start_server(_talk, ADDRESSES[1:], port, ssl=tls, backlog=1024)
    print(port, flush=True)
    await first.serve_forever()


async def _talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            path = head.split(" ", 2)[1]
            host = next(line for line in head.lower().split("\r\n") if line.startswith("host: "))
            writer.write(_answer(path, host.removeprefix("host: ")))
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError, ssl.SSLError):
        writer.close()


def _answer(path: str, host: str) -> bytes:
    robots = f"User-agent: *\nDisallow: /admin\nSitemap: https://{host}/sitemap.xml\n"
    status, body = "404 Not Found", ""
    if path == "/robots.txt":
        status, body = "200 OK", robots
    elif path == "/sitemap.xml":
        pages = (
            f"<url><loc>https://{host}/{number}</loc><lastmod>2026-01-{number % 28 + 1:02}"
            "</lastmod></url>"
            for number in range(PAGES)
        )
        status, body = "200 OK", f"<urlset>{''.join(pages)}</urlset>"
    return (
        f"HTTP/1.1 {status}\r\nServer: bench\r\nContent-Type: text/plain\r\n"
        f"Content-Length: {len(body)}\r\n\r\n{body}"
    ).encode()


if __name__ == "__main__":
    sys.exit(main())
