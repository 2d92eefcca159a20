"""A small handwritten web on loopback, for `geomi demo` and for people who want to play.

In: nothing but a port. Out: four hosts of a fictional silk workshop, served by Host header from one
loopback socket, with the rules, redirects, traps and broken pages that real sites have. It imports
nothing else of geomi, listens on 127.0.0.1 only, and must never be needed by a real crawl.
"""

from __future__ import annotations

from geomi.demo.serve import DemoSite, DemoVisit

__all__ = ["DemoSite", "DemoVisit"]
