"""Wire shapes: what requests and responses look like, in camelCase, and how values become them.

A request with an unknown field is refused, and a number written as text is no number. Every
request has an example, which the OpenAPI document and the tests use. A class name is the name of
its component in that document. A shape knows nothing of HTTP.
"""
