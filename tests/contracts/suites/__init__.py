"""The suites that every store has to pass.

A `Stores` opener comes in as the fixture `stores`; each call opens the same rows for one tenant. A
test file imports the classes it wants to run. Nothing here may know which store it is, or wait for
real time.
"""
