"""The operations of the API, one module for each kind of thing.

A request's shape comes in, a use case of the service is called, and a response's shape goes out.
Every operation stands behind the guard, except `/healthz` and `/readyz`. Routes translate and
decide nothing.
"""
