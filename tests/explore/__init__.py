"""The claim protocol, explored: every interleaving of a few workers on a few hosts, to a depth.

What runs is the real store and its real accounting. Modelled are the worker, as far as it decides
when to ask, and the world around it: time, deaths, lost answers. After each step the explorer asks
the invariants of `geomi.engine.audit.invariants`, and no others.
"""
