"""The REST API: requests in, use cases of the service, answers out.

Wire shapes are in `schema`, one module for each kind of thing; `routes` has one module for each,
too. What every request has to pass (key, scope, rate, size, idempotency, audit) stands once, in
`guard`. It decides nothing that another surface would have to decide again, and it never opens a
data directory: it is given a service.
"""
