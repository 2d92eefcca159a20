"""Which URL is next and how gently its host is asked, as values.

In come depths, outcomes and what is remembered of a host; out come priorities, delays, the next
state of an entry and of a host. It never keeps the queue (a store does), never waits and draws no
random number of its own.
"""
