"""Rows that somebody, or a bad disk, has changed: what cannot be read is named.

How a row is damaged is the test's own matter; here is what to damage, and who notices.
"""

from __future__ import annotations

from dataclasses import replace

from geomi.model.index.document import DocumentFilter
from geomi.model.robots import RobotsCopy, RobotsKey
from geomi.model.site import Review, SiteRule
from geomi.model.verdict import Exclusion
from geomi.ports.runtime import ClockAnchor
from geomi.ports.store import Store
from tests.contracts.suites.knowing import document
from tests.contracts.suites.material import (
    START_S,
    asked,
    batch,
    begin,
    claim_one,
    page,
    url,
    visit,
)
from tests.contracts.suites.paying import cost
from tests.contracts.suites.queueing import DATASET, bury
from tests.contracts.suites.sites import PROVIDER

# A table of every store in SQL, and a change of it that nobody can read.
DAMAGES = (
    ("jobs", "config = 'not json'"),
    ("jobs", "config = '[]'"),
    ("jobs", """config = '{"limits":{"max_pages":"many"}}'"""),
    ("jobs", """config = '{"scope":{"within":"everywhere"}}'"""),
    ("jobs", """config = '{"scope":{"include":"/docs"}}'"""),
    ("jobs", """config = '{"politeness":{"delay_s":[]}}'"""),
    ("jobs", "seeds = '{}'"),
    ("jobs", "origins = '[[1]]'"),
    ("jobs", "state = 'asleep'"),
    ("jobs", "stop = 'tired'"),
    ("jobs", "kind = 'song'"),
    ("jobs", "network = '{}'"),
    ("entries", "state = 'lost'"),
    ("entries", "outcome = 'fine'"),
    ("entries", "kind = 'song'"),
    ("exclusions", "examples = 'x'"),
    ("pages", "duplicate_reason = 'hearsay'"),
    ("robots", "failure = 'rain'"),
    ("requests", "purpose = 'fun'"),
    ("site_rules", "review = 'maybe'"),
    ("providers", "provider = '{}'"),
    ("documents", "state = 'lost'"),
    ("costs", "purpose = 'fun'"),
    ("seed_messages", "error = '{}'"),
    ("meta", "value = '[1]'"),
)


def damage_id(value: str) -> str:
    """Name a case."""
    return value.replace(" ", "")


async def fill(store: Store) -> None:
    """Write a row into every table that holds more than numbers and text."""
    await begin(store, url())
    lease = await claim_one(store)
    done = replace(
        visit(lease, page=page(url())),
        asked=(asked(),),
        excluded=(Exclusion("depth", "http://a.test/deep"),),
    )
    await store.frontier.settle(batch(done))
    await store.robots.put(RobotsCopy(RobotsKey("http", "a.test:80", "geomi"), 0, b"", START_S))
    await store.sites.put(SiteRule("a.test", "", Review.EXCLUDE))
    await store.providers.put(PROVIDER)
    await store.documents.put([document()])
    await store.costs.add([cost()])
    await bury(store.queues, "1", "L1")
    store.set_anchor(ClockAnchor("boot", 1.0, 2.0), instead_of=None)


async def read_all(store: Store) -> None:
    """Read everything that `fill` wrote."""
    await store.jobs.get("job")
    await store.jobs.list(limit=9)
    await store.census.entries("job", state=None, after=b"", limit=9)
    await store.census.exclusions("job")
    await store.pages.get(url().url_hash)
    await store.robots.get(RobotsKey("http", "a.test:80", "geomi"))
    await store.requests.of_host("a.test:80", after_s=0.0, limit=9)
    await store.sites.list()
    await store.providers.list()
    await store.documents.list(DocumentFilter(), after="", limit=9)
    await store.costs.list()
    await store.queues.letter(DATASET, "L1")
    store.anchor()
