"""Read and write the files of a dataset: keys, raw files, contracts, checkpoints, messages.

In come the bytes of a raw file, a contract, a checkpoint or a message; out go values with their
errors, and bytes to write. Everything from outside is checked before it becomes part of a key or a
contract. This package never opens a file, fetches a URL or sends a message: `engine/seeds` and the
adapters do.
"""
