"""A tenant's crawls: order, start, schedule, preview and show them.

In come a tenant's service and an order; out go jobs, or `FieldRefused` with the field that cannot
work, before anything is written. `crawls` reads orders into plans, starts and steers crawls;
`schedules` repeats them, `previews` examines sites before a crawl. `progress`, `stream`, `urls`
and `sites` show its results. Nothing here fetches a page of a crawl: the workers do. A tenant
never sees the crawl, URL or host of another.
"""
