"""Which URLs belong to a crawl: parsed URLs and one job's configuration come in, verdicts go out.

Every verdict names the rule that decided and the smallest change that would turn it round. Nothing
here may fetch, resolve a name, or match a stranger's pattern in more than linear time.
"""
