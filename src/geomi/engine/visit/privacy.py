"""Keep personal data out of everything that is written down (C-47).

Where the job redacts or skips, everything that leaves a visit passes here before it is settled:
the page, its headers, details, rows of the log, and URLs. A URL that holds a personal value is not
requested: the request would write it into the frontier, the log and other pages' records. Where
the job only flags, nothing is changed. Where it does not look, nothing is done.
"""

from __future__ import annotations

import re
from dataclasses import replace

from geomi.model.config import CrawlConfig, Safety
from geomi.model.page import Article, Fetched
from geomi.model.personal_data import PiiAction
from geomi.model.robots import RobotsCopy
from geomi.model.verdict import Exclusion, Verdict
from geomi.private.detect import find
from geomi.private.redact import counted, mask, redacted
from geomi.robots.parse import decode
from geomi.url.parse import Url

RULE = "safety.pii"

# Lines of a robots.txt that are obeyed, and therefore kept as they stand.
_OBEYED = re.compile(r"(?i)\s*(?:allow|disallow|user-agent)\s*:")


def keeps_raw(config: CrawlConfig) -> bool:
    """Say whether responses are kept as they came; where data are taken out only if asked for."""
    raw = config.store.raw
    if config.store.is_preview:
        return False
    return not config.safety.removes if raw is None else raw


class Privacy:
    """What one job does about personal data."""

    def __init__(self, safety: Safety) -> None:
        self._action = safety.pii
        self._kinds = frozenset(safety.pii_types)
        self._removes = safety.removes and bool(self._kinds)

    def read(self, article: Article) -> Article:
        """Return a page as it may be written down, with how many values were found in it."""
        if self._removes:
            return redacted(article, self._kinds)
        return counted(article, self._kinds) if self._action is PiiAction.FLAG else article

    def objection(self, article: Article) -> str:
        """Say why a page is not kept; empty when it is."""
        if self._action is not PiiAction.SKIP or not article.personal:
            return ""
        held = ", ".join(f"{kind} {many}" for kind, many in article.personal)
        return f"holds personal data ({held}), which {RULE} = skip leaves out"

    def refusal(self, url: Url) -> Verdict | None:
        """Refuse a URL that holds a value; None where nothing is taken out, or it holds none."""
        if not self._removes or not (places := find(url.href, self._kinds)):
            return None
        detail = f"its URL holds personal data ({places[0].kind})"
        return Verdict(False, RULE, detail, "--set safety.pii=flag")

    def told(self, text: str) -> str:
        """Return a text as it may be told and kept."""
        return mask(text, self._kinds) if self._removes and text else text

    def exclusions(self, excluded: tuple[Exclusion, ...]) -> tuple[Exclusion, ...]:
        """Return what was kept out as it may be counted, with its examples."""
        if not self._removes:
            return excluded
        return tuple(
            Exclusion(one.rule, self.told(one.url), self.told(one.detail)) for one in excluded
        )

    def answer(self, fetched: Fetched) -> Fetched:
        """Return an answer whose headers may be kept; nearly always the same one."""
        if not self._removes:
            return fetched
        headers = tuple((name, self.told(value)) for name, value in fetched.headers)
        return fetched if headers == fetched.headers else replace(fetched, headers=headers)

    def body(self, fetched: Fetched, article: Article) -> bytes:
        """Return what stands for a body in its hash: a short one could be guessed from it."""
        return article.text.encode("utf-8", "replace") if self._removes else fetched.body

    def robots(self, copy: RobotsCopy) -> RobotsCopy:
        """Return a robots.txt as it may be kept: what its owner asks for stays, word for word."""
        if not self._removes:
            return copy
        body, text = copy.body, decode(copy.body)
        if find(text, self._kinds):
            body = "\n".join(map(self._robots_line, text.splitlines())).encode("utf-8", "replace")
        return replace(copy, body=body, detail=self.told(copy.detail))

    def _robots_line(self, line: str) -> str:
        """Take values out of a comment, and make one of a line that holds any and is no rule."""
        rule, sign, comment = line.partition("#")
        if _OBEYED.match(rule):
            return rule + sign + self.told(comment)
        masked = self.told(line)
        return masked if masked == line or not rule.strip() else f"# {masked}"
