"""Examine sites before a crawl: what it would find, take and cost; and preview one page.

In come seeds and a configuration; out go a `Survey`, a `Forecast`, an `Estimate` or a `Preview`.

Rules kept:
- Every request waits for its host's turn and gets a row in the request log, as in a crawl.
- robots.txt is obeyed, and URLs are judged by the rules that a crawl would use.
- No page is stored, no job is created, and nothing enters the frontier.
- Samples, lists and listed URLs have limits; a survey that reached one says so.
"""
