"""Take one entry of the frontier from robots.txt to a closed visit.

In come an entry and the session of its host. Out goes one `ClosedVisit`: a settlement for the
store and, where the page is kept, a capture for the archive. `road.py` shows the order; the other
modules are the steps it calls.

Rules kept:
- Every visit ends in exactly one settlement, whatever the server did.
- Nothing here writes to the store or the archive. The settler does that, in batches.
- Every request goes through the `HostSession`.
- Personal data is removed before a value leaves this package, where the job asks for it (C-47).
- A page that is kept has one record, one row and one capture, all made from the same values.

It must never decide a rule of its own: admission, robots, retries and duplicates are stages.
"""
