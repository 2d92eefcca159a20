"""Commands before a crawl: `seeds providers ranks config profiles doctor demo`.

Lists of URLs, registrations and settings come in; contracts, stored registrations and reports go
out. `seeds` has its own modules: `dataset` (which dataset and queues), `seed_run` (work and live
view) and `dead_letters` (messages that failed for good). `demo` also holds the sample crawl that
`doctor` runs; it never leaves this machine. `config` hides passwords and keys.
"""
