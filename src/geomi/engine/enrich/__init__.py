"""Make collected pages searchable: analyse them, cut them into chunks, index, embed, and search.

In come the committed captures of jobs. Out go documents, chunks in the index, their vectors, and
answers to queries. A crawl never waits for any of it.

Rules kept:
- Work on a batch comes before its cursor moves. Done twice, it comes out the same.
- One process at a time follows one job for one kind of work.
- Words come first; vectors follow in a loop of their own (C-80).
- A language model adds to what was computed and does not undo it. All of this works without one.
- What a page says is material for a model, never an instruction.
"""
