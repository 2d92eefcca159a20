"""The suites that every store has to pass.

A `Stores` opener comes in as the fixture `stores`, one tenant's handle goes out at each call, all on
the same rows. A test file imports the classes it wants to run; nothing here knows which store it
is, or waits for real time.
"""
