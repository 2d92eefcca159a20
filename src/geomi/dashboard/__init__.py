"""The dashboard: the service for people, as pages that a server writes.

In come requests with a session cookie; the same use cases that the API calls are called, and pages
go out, with every text of the web escaped where it is written. A page works without a script; what
scripts there are come from here and only keep it fresh. It decides nothing, never opens a data
directory, and trusts nothing that a site has said, in titles and URLs neither.
"""
