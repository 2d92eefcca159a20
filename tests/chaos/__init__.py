"""Chaos: real crawls of real sites, with faults from outside and from beneath.

A scenario starts `geomi crawl` in a process, lets something happen to it (a kill, a full disk, a
database that goes away), resumes it to the end, and asks what the sites saw and what the store
holds. In: a fault, a database, a number of runs. Out: one line of a table, or a failed test. Faults
from beneath come by a layer that only `tests.chaos.process` puts under a crawl; the product knows
nothing of it.
"""
