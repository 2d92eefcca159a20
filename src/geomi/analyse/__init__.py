"""Analyse a page: its type, quality, fields and summary, and whether geomi indexes it.

In come an `Article` and facts about it from elsewhere (`Subject`). Out goes an `Analysis`; each
part of it names the engine that produced it. `analyse.page.analyse` is the entry point.

`page_text` reads the text once for all parts. `kinds` and `classify` find the type of a page.
`quality`, `summary`, `copyright`, `sensitive` and `fields` each look for one thing, and `decision`
decides whether to index the page. `language_model` writes questions for a model and checks its
answers.

This package never calls a model and never follows instructions in a page: it only counts and
compares text. It never invents a value: what it cannot know is None.
"""
