"""Decide when a page is due again, and which pages gain most from a visit.

In come the visits of a page and of pages like it; out go a rate of change, a due time, the best
pages for a budget, and the report of a recrawl. This package never puts a URL back into a frontier
and reads no clock.
"""
