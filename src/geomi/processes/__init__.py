"""The processes of geomi beside the one that a person started, and the server as a whole.

In comes an order through a pipe: where the data directory is, which settings hold, what to do. Out
go events and one last word, through the same pipe. `crawl` works on the jobs of a store, `index`
indexes the pages of one crawl, `seeds` works on a dataset, `serve` does the work behind a service.
`server` runs HTTP, those processes and the background tasks together. `fleet` runs workers as
actors of a Ray cluster.

A process drains on SIGTERM, stops at a second one, and ends when its starter is gone. Nothing is
lost with it: its leases expire and others go on. Only `server` loads the web framework. Nothing
below the command line imports this package; the library and the service start a process by the
name of its program. An order is never defined in the module that runs as `__main__`.
"""
