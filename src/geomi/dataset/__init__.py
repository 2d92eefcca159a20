"""The files of a dataset as values: keys, raw files, contracts, checkpoints, messages.

In come the bytes of a raw file, a contract, a checkpoint or a message; out come their values, with
what was wrong with them, and the bytes to write. Whatever comes from outside is checked before it
becomes part of a key or of a contract. It never opens a file, fetches a URL or sends a message:
`engine/seeds` and the adapters do.
"""
