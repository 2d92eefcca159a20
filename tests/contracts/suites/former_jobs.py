"""Jobs as they were written before they had fields for what they are.

All of it stood in `origins`: a list of pairs, a name and where it came from. There were names of
settings, and names that said something else by how they began.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import replace

from geomi.adapters.store.tables.jobs import ROWS, running_columns
from geomi.model.job import CrawlJob, JobKind
from geomi.model.site import Channel
from tests.contracts.suites.material import job

# The last steps of the schemas in which a job was written like this.
SQLITE_STEPS = 12
POSTGRES_STEPS = 4

_SET = ("limits.max_pages", "flag")
_PLAIN = replace(job("plain"), origins=(_SET,))
_ALLOWED = replace(
    job("allowed"),
    origins=(
        ("http.user_agent", "profile docs"),
        ("limits.max_depth", "flag --depth"),
        ("run.profile", "flag --profile"),
    ),
    profile="docs",
    network=("--resolve a.test:80", "--allow-private", "--ca-file /my certs/ça.pem"),
    archive="s3://bucket/network here",
)
_LIBRARY = replace(
    job("library"),
    provider="acme",
    channel=Channel.CONTEXT7,
    library="/acme/docs",
    library_name='Acme "Ltd" 거미',
    directory="0123456789abcdef",
)
_FOLLOWER = replace(
    job("follower"),
    origins=(("limits.max_pages", "provider acme"),),
    provider="acme",
    channel_why="Context7: 5 errors in a row, the last: (none)",
)
_AGAIN = replace(job("again"), origins=(_SET,), kind=JobKind.RECRAWL, crawl="plain")

# What was written, and the job that it was.
FORMER_JOBS: tuple[tuple[tuple[tuple[str, str], ...], CrawlJob], ...] = (
    ((), job("bare")),
    ((_SET,), _PLAIN),
    (
        (
            *_ALLOWED.origins,
            ("network --resolve a.test:80", "flag"),
            ("network --allow-private", "flag"),
            ("network --ca-file /my certs/ça.pem", "flag"),
            ("archive --blobs s3://bucket/network here", "flag"),
        ),
        _ALLOWED,
    ),
    (
        (
            ("channel context7 /acme/docs", 'provider Acme "Ltd" 거미'),
            ("archive id 0123456789abcdef", "data directory"),
        ),
        _LIBRARY,
    ),
    (
        (
            *_FOLLOWER.origins,
            ("channel crawl (Context7: 5 errors in a row, the last: (none))", "provider acme"),
        ),
        _FOLLOWER,
    ),
    ((_SET,), _AGAIN),
)


def former_row(
    origins: tuple[tuple[str, str], ...], job: CrawlJob, columns: Collection[str]
) -> dict[str, object]:
    """Write a job into the columns that a former table had."""
    row = ROWS.values(job) | running_columns(job)
    row["origins"] = json.dumps(origins, ensure_ascii=False, separators=(",", ":"))
    return {name: value for name, value in row.items() if name in columns}
