"""The catalogue's rules to the letter: the rungs of EXT-01…EXT-04, and CLN-01…CLN-08.

The first element of the first rung that matches is the content, and what the lists name goes out of
it, whatever it holds: a `header` with the page's title, too. Documentation is what the lists were
written for; elsewhere they harm (`ladder`, `prune`), so that they are a choice.
"""

from __future__ import annotations

from geomi.extract.dom import Element
from geomi.extract.ladder import Choice, choose_own
from geomi.extract.prune import clear, drop_tooling
from geomi.model.config import Extraction

_UNWANTED = (
    "noscript, nav, header, footer, aside, .ad, .ads, .advertisement, [data-ad], [data-adunit], "
    ".sidebar, .toc, .table-of-contents, .breadcrumb, .breadcrumbs, .pagination, .pager, .cta, "
    ".banner, .announcement, .alert-banner, .promo, .feedback, .feedback-widget, .thumbs-up-down, "
    ".was-helpful, .cookie-banner, .cookie-consent, .gdpr-banner"
)
# Each rung, and how sure it is: the further down, the more pages use it for something else.
_RUNGS = (
    ("article", "article", 0.9),
    ("main", "main", 0.9),
    ("role", '[role="main"]', 0.9),
    ("common", ".content", 0.7),
    ("common", ".docs-body", 0.7),
    ("common", "#content", 0.7),
    ("common", ".markdown-body", 0.7),
)


def find_literally(body: Element, rules: Extraction) -> Choice:
    """Find the main content and take what is unwanted out of it (EXT-05)."""
    clear(body, rules.remove)
    choice = choose_own(body, rules.content) or _climb(body)
    choice.content.remove(_UNWANTED)
    drop_tooling(choice.content)
    return choice


def _climb(body: Element) -> Choice:
    for strategy, rung, confidence in _RUNGS:
        if (found := body.select_one(rung)) is not None:
            return Choice(found, strategy, confidence)
    return Choice(body, "body", 0.4)
