"""Wire shapes: what requests and answers look like, in camelCase, and how values become them.

A request with a field that nobody knows is refused, and a number that is written as text is no
number. Every shape has an example, which the document and the tests use.
"""
