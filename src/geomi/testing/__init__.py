"""What tests of geomi need: sites on loopback, random webs, store contracts, a clock by hand,
servers that can be killed, and what must hold after a crawl whatever happened to it.

It comes with the package so that somebody who writes an adapter can hold it to the same contracts.
Nothing in the product imports it.
"""
