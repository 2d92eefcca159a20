"""Commands that send requests to websites: `crawl`, `recrawl`, `scrape`, `map` and `plan`.

Flags and start URLs come in; pages in a data directory, or text on stdout, go out. `scrape`, `map`
and `plan` store no page. `sources` finds the start URLs of a provider or of a dataset's contracts.
Before a crawl starts, wrong settings are refused and weak ones are warned about. No command here
sends a request past robots.txt and the delay of its host: the engine does the fetching.
"""
