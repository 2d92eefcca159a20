"""The dashboard's pages, one module for each kind of page.

A view receives a checked request, calls a use case of the service and renders a template. It
decides nothing, and it never builds HTML itself.
"""
