"""What a served geomi does for many tenants: who may ask, what they may ask for, and what they get.

In come a caller whose key was checked and plain values; out go plain values or a `GeomiError`. It
knows tenants, keys, crawls, collections, documents, schedules, hooks and the audit log, and nothing
of HTTP: whatever surface calls it decides nothing. The tenant comes from the key alone, so that
nothing here takes one as an argument of a request.
"""
