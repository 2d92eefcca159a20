"""What a test of geomi needs: a site on loopback, random webs, store contracts, a clock turned by hand.

It comes with the package so that somebody who writes an adapter can hold it to the same contracts.
Nothing in the product imports it.
"""
