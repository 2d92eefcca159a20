"""Commands that use collected pages: `search`, `enrich`, `analyse`, `preview` and `export`.

Pages of a data directory come in; search results, analyses and files go out. `search` indexes
waiting pages first, unless `--as-is` is given. `export` writes only committed pages, and a file
appears whole or not at all. Only `preview` fetches a page; it stores nothing.
"""
