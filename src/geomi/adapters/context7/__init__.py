"""Context7, and whatever speaks its REST form: a source of external documents.

In come the name of a provider or the id of a library; out come the libraries that it offers and
what one says about a question. It never follows a redirect, and its key goes into no message and no
document.
"""
