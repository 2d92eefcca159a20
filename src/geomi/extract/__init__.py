"""Turn the bytes of one page into an `Article`.

In come a body, its final URL, its content type and the job's `Extraction`. Out goes one frozen
`Article` with markdown, plain text, links and metadata. `extract.page.extract` is the way in.

`dom` parses, `links`, `metadata` and `structured` read the whole page, `content` finds its main
part, `markdown` writes that part down. `document`, `pdf` and `openapi` read bodies that are not
HTML; `media` decides which reader a body needs.

This package never fetches anything, never raises on any input, and never returns more than its
limits allow, however hostile the page is.
"""
