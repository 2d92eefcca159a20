"""The use cases that the command line, the library and the service share.

In come an open data directory and plain values; out go plain values or a `GeomiError`. `crawl`
plans and runs a crawl, `recrawl` visits it again, `outputs` writes its files. `providers` is the
registry of providers, `channels` decides whether their documents come from Context7 or a crawl.
`deletion` deletes and erases at a person's request, `retention` deletes expired data. `datasets`
opens the datasets of the seed engine, `ranks` imports and refreshes a rank list, `own_traffic`
keeps a tenant's own table, `backup` copies a data directory into one file and back.

A use case that deletes or writes may be killed at any point and run again; its module says which
order of steps makes this safe. A use case never prints, never reads the environment and never asks
a person for confirmation.
"""
