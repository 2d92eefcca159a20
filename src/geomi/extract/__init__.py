"""Turn the bytes of one page into an `Article`.

In come a body, its final URL, its content type and the job's `Extraction`; out goes one frozen
`Article` with markdown, plain text, links and metadata. `extract.page.extract` is the way in.
This package never fetches anything, never raises on any input, and never returns more than its
limits allow, however hostile the page is.
"""
