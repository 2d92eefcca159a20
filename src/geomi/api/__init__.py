"""The REST API: HTTP requests in, use cases of the service, JSON out.

`schema` has the wire shapes and `routes` the operations, one module each for each kind of thing.
`guard` checks every request once: key, rate, scope, idempotency, audit. `openapi` describes the
API, and `problems` turns every error into a problem (RFC 9457). The API decides nothing that
another surface would have to decide again. It never opens a data directory: it is given a service.
"""
