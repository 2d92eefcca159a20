"""Decide which URL is next, how long its host rests, and how the states of entries change.

In come depths, outcomes and the state of a host; out come priorities, delays, and the next state of
an entry and of a host. The queue itself is in the store. This package never waits and draws no
random number of its own.
"""
