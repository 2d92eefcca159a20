"""Derived outputs: records of pages come in, files that people and other programs read go out.

Everything here can be made again from the archive, so nothing is fsynced and nothing is ever read
back; and no text of a page decides where a file lies.
"""
