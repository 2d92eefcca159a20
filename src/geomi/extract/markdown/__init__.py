"""Write the content of a page as markdown (MD-01…MD-12).

In come a content tree, the targets of the page's links and the job's `Extraction`; out goes
`Written`: markdown, the outline of headings, and the first failure of a caller's rule. `writer` is
the way in. The other modules each prepare one thing that the parser's renderer does not write as
we want it: tables, code, notes, formulas, the forms of markdown. `writer.salvage` runs before
anything is pruned and saves content that the lists of `content.prune` would remove.

A page's text must never become markup, and no module here writes more than its limits allow.
"""
