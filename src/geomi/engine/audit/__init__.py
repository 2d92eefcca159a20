"""Prove from the stored log of requests that every rule of politeness was kept.

In comes the log, with the jobs and the stored copies of robots.txt. Out go proofs for each host
and address, and every breach with the requests that show it.

Rules kept:
- Nothing is believed that can be computed again: gaps, concurrency, caps, and what was allowed.
- Settings of today are held only against requests of the job's last run.
- The log is read in parts, host by host, in bounded memory.
- Nothing is written, and no host is asked.

What is not in the log cannot be proven. A worker that is killed takes its unsettled requests
along.
"""
