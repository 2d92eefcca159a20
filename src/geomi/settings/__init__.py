"""Read the settings of the process and the configuration of one crawl from their layers.

In come flags, the environment and files. Out go two separate values: `Settings` says how this
process runs, and a `CrawlConfig` says what one job does and is stored with it. Only this package
and the command line read the environment and files. Nothing here opens a store or a connection.
"""
