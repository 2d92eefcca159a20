"""GitHub's REST interface, and whatever speaks its form: documents that a repository has.

In come the name of a repository and the address of a document; out come the addresses of its
documents and what one of them says. It sends nothing while the rate limit is used up, and its token
goes into no message and no document.
"""
