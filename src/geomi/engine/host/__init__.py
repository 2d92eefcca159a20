"""Ask one host: in its turn, one request at a time, and only while its lease holds.

In come a lease and requests; out come answers, and the host's state for the store. A crawl, a
survey, a preview and the seed engine all ask through this package.

Rules kept:
- No request is sent before the host's delay is over, counted from the end of the last answer.
- No request is sent that could end after the lease. A lost lease raises `LeaseLost`.
- robots.txt is read before anything else of a host is requested, and every redirect is judged.
- Each request leaves one row for the log that `geomi audit` reads, where the job keeps a log.
- A job's own headers go to the hosts of its seeds and nowhere else.

It must never ask two requests of a host at once, nor ask a host without a lease.
"""
