"""What the tests of geomi share: sites on loopback, random webs, a clock that a test turns by
hand, servers that a test may kill, and the checks that must hold after any crawl, whatever
happened to it.
"""
