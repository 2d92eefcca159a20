"""How a fetch breaks off inside this package.

Below `HttpClient.fetch` a failure travels as one exception, because it can start in a callback of
the parser, in a decoder or in a timer; `fetch` turns it into the `failure` of a `Fetched`, and
nothing outside this package ever sees it.
"""

from __future__ import annotations

from geomi.model.verdict import Outcome


class FetchFailed(Exception):
    """One fetch cannot go on: how it ends, and a sentence that names the thing and the limit."""

    def __init__(self, outcome: Outcome, detail: str) -> None:
        super().__init__(detail)
        self.outcome = outcome
        self.detail = detail
