"""The dashboard: the service as web pages that the server renders.

Requests with a session cookie come in; the use cases that the API calls are called, and pages go
out. Every text from the web is escaped where it is written. A page works without scripts; its own
scripts only keep it fresh. The dashboard decides nothing, never opens a data directory, and trusts
nothing that a site has sent, titles and URLs included.
"""
