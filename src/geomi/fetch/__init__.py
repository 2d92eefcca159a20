"""Build requests, and decide what answers mean, without sending anything.

In come a URL, the job's configuration and what came back (`Fetched`); out come the request, the
outcome, the target of a redirect, the wait before another try, and whether a body is wanted. It
never opens a connection, follows a redirect or counts attempts: the engine does.
"""
