"""How a fetch breaks off inside this package.

Below `HttpClient.fetch` a failure travels as one exception, because it can start in a callback of
the parser, in a decoder or in a timer; `fetch` turns it into the `failure` of a `Fetched`, and
nothing outside this package ever sees it.
"""

from __future__ import annotations

from dataclasses import dataclass

from geomi.model.verdict import Outcome


@dataclass(frozen=True, slots=True)
class FetchFailure:
    """How a fetch ends, and a sentence that names the thing and the limit."""

    outcome: Outcome
    detail: str


class FetchFailed(Exception):
    """One fetch must end.

    What is kept of it is the `failure`: an exception also holds the frames it went through, and
    with them bodies that nobody wants any more.
    """

    def __init__(self, outcome: Outcome, detail: str) -> None:
        super().__init__(detail)
        self.failure = FetchFailure(outcome, detail)
