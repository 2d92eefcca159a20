"""Decide which URLs belong to a crawl.

In come parsed URLs and the configuration of one job; out go verdicts. Every verdict names the
rule that decided and the smallest change that would reverse it. Nothing here may fetch, resolve a
name, or match a stranger's pattern in more than linear time.
"""
