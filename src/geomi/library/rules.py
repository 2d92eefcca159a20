"""Markdown rules of a caller's own, refused where they could not work."""

from __future__ import annotations

from geomi.errors import ConfigError
from geomi.model.markdown import UNRULED, MarkdownRules
from geomi.settings.options import RunOptions


def check_rules(rules: MarkdownRules, run: RunOptions) -> None:
    """Raise for a rule that would never be asked, or only in some of the processes."""
    for tag, rule in rules.items():
        if tag.lower() in UNRULED:
            raise ConfigError(
                f"a markdown rule for `{tag}` cannot work: it is part of something",
                hint="write one for the whole of it: `ul`, `ol`, `dl`, `table`",
            )
        if not callable(rule):
            raise ConfigError(f"the markdown rule for `{tag}` is no function: {rule!r}")
    if rules and run.workers > 1:
        raise ConfigError(
            f"markdown rules work in this process alone, and `workers` is {run.workers}",
            hint="leave `workers` at 1",
        )
