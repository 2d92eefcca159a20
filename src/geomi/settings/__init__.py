"""Settings of the process and the configuration of one crawl, put together from their layers.

In come flags, the environment and files; out come two values that are never mixed: `Settings`, how
this process runs, and a `CrawlConfig`, what one job does, stored with it. Only this room and the
command line read the environment and files; nothing here opens a store or a connection.
"""
