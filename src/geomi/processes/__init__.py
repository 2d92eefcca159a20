"""The programs of worker processes, the server and the fleet.

In comes an order through a pipe: the data directory, the settings and the task. Out go events and a
result, through the same pipe. `crawl` works on the jobs of a store, `index` indexes the pages of
one crawl, `seeds` works on a dataset, `serve` does the work behind a service. `server` runs HTTP,
those processes and the background tasks together. `fleet` runs workers as actors of a Ray cluster.

A process drains on SIGTERM, stops at a second one, and ends when its starter has ended. Its end
loses nothing: its leases expire and other processes continue. Only `server` loads the web
framework. Nothing below the command line imports this package; the library and the service start a
process by the name of its program. An order is never defined in the module that runs as
`__main__`.
"""
