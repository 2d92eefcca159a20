"""A dataset, the web it speaks of, and lives of the seed engine that begin on it.

In the small one two raw files of one partition name three domains; one of them is in both, and one
record is of no use. The server counts who is asked for robots.txt: a collection begins with it.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, LiteralString, Protocol

import trustme

from geomi.app.store import DATABASE
from geomi.dataset.partition import raw_path
from geomi.model.dataset.seed import Partition
from tests.chaos.process import Crawl, Nursery
from tests.chaos.seed_life import Life
from tests.support.postgres import Cluster
from tests.support.s3 import S3Server
from tests.support.seed_dataset import record, server_context
from tests.support.server import Reply, Site

PLACE = Partition("sg", "news", "2026-01-28")
SMALL = {
    raw_path(PLACE, 1): [
        record("https://mom.gov.sg/act"),
        record("https://moh.gov.sg/b"),
        record("https://mom.gov.sg/press"),
        record("https://moh.gov.sg/other", country="us"),
    ],
    raw_path(PLACE, 2): [
        record("https://ica.gov.sg/visa"),
        record("https://mom.gov.sg/second"),
        record("https://mom.gov.sg/act"),
    ],
}
# Thirty domains, each in two of six files.
LARGE = {
    raw_path(PLACE, number): [
        record(f"https://site{(number * 5 + place) % 30}.test/{number}") for place in range(10)
    ]
    for number in range(6)
}
ROUTES = {
    "/robots.txt": Reply(b"User-agent: *\nAllow: /\n", content_type="text/plain"),
    "/sitemap.xml": Reply(
        b'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
        b"<url><loc>https://mom.gov.sg/</loc></url></urlset>",
        content_type="application/xml",
    ),
}
LONGEST_LIFE_S = 60.0
# Every lease and loan of the life before has passed by then.
AFTERLIFE_S = 1000.0

_TIMES = re.compile(
    rb'("(?:processed_at|fetched_at|processing_duration_ms|duration_ms|response_time_avg_ms|'
    rb'prod/[^"]*/domain_metadata.json)"): ?(?:"[^"]*"|\d+|\{[^}]*\})'
)

Tree = dict[str, bytes]
Files = Mapping[str, list[dict[str, str]]]


class Back(Protocol):
    """Where files and queues are."""

    def begin(self, folder: Path, files: Files) -> tuple[str, str]:
        """Return a dataset with raw files, and the URL of a database; both are new."""
        ...

    def tree(self, dataset: str) -> Tree:
        """Read every file of a dataset."""
        ...

    def rows(self, folder: Path, db: str, query: LiteralString) -> list[Any]:
        """Ask the database; nothing where there is none yet."""
        ...


class Local:
    """A directory and a file."""

    def begin(self, folder: Path, files: Files) -> tuple[str, str]:
        """Write the raw files."""
        for key, records in files.items():
            path = folder / "dataset" / key
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(records))
        return str(folder / "dataset"), ""

    def tree(self, dataset: str) -> Tree:
        """Read every file."""
        root = Path(dataset)
        return {
            path.relative_to(root).as_posix(): path.read_bytes()
            for path in sorted(root.rglob("*"))
            if path.is_file() and path.suffix != ".part"  # half a file, which no dataset lists
        }

    def rows(self, folder: Path, db: str, query: LiteralString) -> list[Any]:
        """Ask the file."""
        with closing(sqlite3.connect(folder / "home" / DATABASE)) as store:
            is_made = store.execute("SELECT 1 FROM sqlite_schema WHERE name = 'seed_tasks'")
            return store.execute(query).fetchall() if is_made.fetchone() else []


@dataclass(frozen=True)
class Served:
    """A bucket and a server."""

    cluster: Cluster
    s3: S3Server

    def begin(self, folder: Path, files: Files) -> tuple[str, str]:
        """Put the raw files into a new place of the bucket."""
        place = self.s3.new_prefix()
        objects = self.s3.objects(place)
        for key, records in files.items():
            objects.put(key, json.dumps(records).encode())
        return place, self.cluster.new_schema()

    def tree(self, dataset: str) -> Tree:
        """Read every object."""
        objects = self.s3.objects(dataset)
        found = [one["path"] for part in objects.list() for one in part]
        return {path: bytes(objects.get(path).bytes()) for path in sorted(found)}

    def rows(self, folder: Path, db: str, query: LiteralString) -> list[Any]:
        """Ask the server."""
        import psycopg  # an extra

        from geomi.adapters.store.postgres.address import read_address

        address = read_address(db)
        with psycopg.connect(address.url) as store:
            store.execute("SELECT set_config('search_path', %s, false)", (address.schema,))
            if store.execute("SELECT to_regclass('seed_tasks')").fetchone() == (None,):
                return []
            return store.execute(query).fetchall()


@dataclass
class Case:
    """One dataset from its beginning to its end, however many lives that takes."""

    ground: SeedGround
    folder: Path
    life: Life
    env: dict[str, str]
    open_loans: Counter[str] = field(default_factory=Counter)
    lives: int = 0

    def begin(self, **changes: Any) -> Crawl:
        """Begin a life."""
        told = self.folder / f"life-{self.lives}.txt"
        self.lives += 1
        life = replace(self.life, **changes)
        order = {"life": asdict(life), "env": self.env, "told": str(told)}
        return self.ground.nursery.begin(order)

    def live(self, **changes: Any) -> int:
        """Live one life to its end; return its exit code."""
        crawl = self.begin(**changes)
        code = crawl.wait(LONGEST_LIFE_S)
        assert code is not None, f"a life does not end: {crawl.words()}"
        if code < 0:
            self.mourn()
        else:
            assert code == 0, crawl.words()
        return code

    def mourn(self) -> None:
        """Note what the dead had in hand; whoever lives next does so after its loans."""
        lent = self.rows("SELECT task FROM seed_tasks WHERE owner IS NOT NULL")
        self.open_loans.update(task for (task,) in lent)
        self.life = replace(self.life, later_s=self.life.later_s + AFTERLIFE_S)

    def rows(self, query: LiteralString) -> list[Any]:
        """Ask the database."""
        return self.ground.back.rows(self.folder, self.life.db, query)

    def tree(self) -> Tree:
        """Read every file."""
        return self.ground.back.tree(self.life.dataset)

    def steps(self) -> list[str]:
        """Return the steps that were noted."""
        return Path(self.life.steps).read_text().splitlines()


class SeedGround:
    """The web of the dataset, and the nursery of the processes that work on it."""

    def __init__(self, folder: Path, back: Back, files: Files) -> None:
        self.back = back
        self.nursery = Nursery()
        self.files = files
        self.domains = sorted({one["domain"] for records in files.values() for one in records})
        self._folder = folder
        self._cases = 0
        self._ca_file = folder / "ca.pem"
        authority = trustme.CA()
        authority.cert_pem.write_to_path(str(self._ca_file))
        self._site = Site(ROUTES, tls=server_context(authority, *self.domains))
        self._site.__enter__()

    def close(self) -> None:
        """End everything."""
        self.nursery.close()
        self._site.__exit__(None, None, None)

    def case(self) -> Case:
        """Begin with a new dataset and a new database."""
        self._cases += 1
        folder = self._folder / str(self._cases)
        folder.mkdir()
        dataset, db = self.back.begin(folder, self.files)
        self._site.log.clear()
        life = Life(
            str(folder / "home"),
            dataset,
            db,
            tuple(f"{domain}:443:127.0.0.1:{self._site.port}" for domain in self.domains),
            str(self._ca_file),
            steps=str(folder / "steps.txt"),
        )
        env = self.back.s3.environment if isinstance(self.back, Served) else {}
        return Case(self, folder, life, env)

    def collections(self) -> dict[str, int]:
        """Return how often each domain was asked for its robots.txt."""
        asked = (seen.headers["host"] for seen in self._site.log if seen.path == "/robots.txt")
        counts = Counter(asked)
        return {domain: counts[domain] for domain in self.domains}


@contextmanager
def seed_ground(folder: Path, back: Back, files: Files = SMALL) -> Iterator[SeedGround]:
    """Open a ground."""
    made = SeedGround(folder, back, files)
    try:
        yield made
    finally:
        made.close()


def timeless(tree: Mapping[str, bytes]) -> Tree:
    """Return files without what differs between two runs: times, and checksums of these."""
    return {path: _TIMES.sub(rb"\1:0", data) for path, data in tree.items()}


def unfinished(tree: Mapping[str, bytes]) -> list[str]:
    """Name the files that a checkpoint answers for and that are not what it says."""
    wrong: list[str] = []
    for path, data in tree.items():
        if not path.endswith(".success"):
            continue
        manifest = json.loads(data)
        named = manifest["inputs"] | manifest["outputs"]
        assert path.removesuffix(".success") in named, f"{path} answers for nothing"
        for key, sum_ in named.items():
            assert key in tree, f"{path} is there without {key}"
            if sha256(tree[key]).hexdigest() != sum_["sha256"]:
                wrong.append(key)
    return wrong
