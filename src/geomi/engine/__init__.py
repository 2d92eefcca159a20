"""Take a job from its seeds to its pages; only this package waits.

In come a job and the ports of `World`; out go settlements, captures and events. Rules about what
is allowed, how long to wait and what a status means belong to the stages; the engine asks them.

- `world` bundles the ports. `jobs` starts and ends jobs, `recrawl` chooses pages that are due, and
  `external_docs` asks a source of documents in place of a site.
- `visit` takes one URL from robots.txt to its settlement. Read `visit/road.py` first.
- `host` sends every request, in the host's turn and under its lease.
- `worker` runs: the loop, the settler, the supervisor and the heartbeat.
- `inspect`, `audit` and `survey` answer questions about a job, a log or a site.
- `enrich` makes collected pages searchable; `seeds` turns lists of URLs into contracts.

The engine knows no driver, reads no environment and imports nothing of `app`.
"""
