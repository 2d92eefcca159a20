"""Wire geomi together: settings come in, an open data directory and its use cases go out.

`directory` opens a data directory with its archive, network, clock and heartbeat; `store` opens
the database, `index` the search index with the language models and embedders that settings name.
`recovery` ends the leases of dead workers, `external_docs` opens Context7. `use` holds the use
cases that the command line, the library and the service share.

Only this package knows every adapter. Extras (PostgreSQL, S3, Ray) are imported when a setting
asks for them. It never reads the environment, never prints, and knows no HTTP framework. The
wiring never imports a use case.
"""

from __future__ import annotations

from geomi.app.directory import DataDirectory, open_directory
from geomi.app.recovery import recover
from geomi.app.store import DATABASE, TENANT, has_store
from geomi.app.use.crawl import (
    Plan,
    WorkerOrder,
    crawl,
    is_running,
    make_plan,
    start_detached,
    worker_for,
)
from geomi.app.use.recrawl import RecrawlResult, preview_recrawl, recrawl

__all__ = [
    "DATABASE",
    "TENANT",
    "DataDirectory",
    "Plan",
    "RecrawlResult",
    "WorkerOrder",
    "crawl",
    "has_store",
    "is_running",
    "make_plan",
    "open_directory",
    "preview_recrawl",
    "recover",
    "recrawl",
    "start_detached",
    "worker_for",
]
