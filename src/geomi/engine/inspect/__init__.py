"""Answer questions about a job from what is stored.

In come a job and the ports; out go values that commands, API and dashboard show: why a URL was
collected or not, how far the job is, and how good its pages are. Also what looks like a trap,
which figures are out of bounds, and what the archive holds.

Rules kept:
- Nothing is fetched, and nothing is logged only to answer here. The same pure rules run again.
- A job of millions of URLs is read in parts, up to a named limit. Past it, the answer says so.
- Only `traps` writes, and only what a person decided about a site.
"""
