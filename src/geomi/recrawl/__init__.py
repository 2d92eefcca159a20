"""When a collected page is worth another visit, and which pages are worth it most.

In come what visits of a page and of pages like it have found; out come a rate of change, a due
time, the pages that a budget is best spent on, and what a recrawl found. It never puts a URL back
into a frontier and reads no clock.
"""
