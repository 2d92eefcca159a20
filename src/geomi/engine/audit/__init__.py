"""Prove from the stored request log that every rule of politeness was kept.

In comes the log, with the jobs and the stored copies of robots.txt. Out go proofs for each host
and address, and every breach with the requests that show it.

Rules kept:
- Everything that can be computed again is computed: gaps, concurrency, caps, and permissions.
- Present settings judge only requests of the job's last run.
- The log is read in parts, host by host, in bounded memory.
- The audit writes nothing and sends no request.

The audit cannot prove anything about requests that are not in the log. A killed worker loses the
rows of its unsettled requests.
"""
