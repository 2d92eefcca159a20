"""Indexes of chunks: in an SQLite file for each tenant, or in LanceDB tables.

Documents with their chunks, vectors and queries come in, matches and passages go out. It must never
show a tenant what belongs to another, or keep a text that its document says is not to be kept.
"""
