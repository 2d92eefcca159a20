"""What a page is, how good it is, what it says in short, and whether it belongs into the index.

In come an `Article` and the facts known of it from elsewhere (`Subject`). Out goes an `Analysis`;
each part of it names the engine that produced it. `analyse.page.analyse` is the way in.

`page_text` reads the text once for all parts. `kinds` and `classify` tell the type of a page,
`quality`, `summary`, `copyright`, `sensitive` and `fields` look for one thing each, and `decision`
decides. `language_model` writes questions for a model and checks its answers.

This package never calls a model and never obeys a word of the page: text is counted and compared,
never followed. It must never invent a value: what cannot be known is None.
"""
