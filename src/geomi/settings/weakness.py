"""Where a configuration asks less of us than RFC 9309 does: a person hears of it at each start.

Only what the RFC says MUST be done counts; a SHOULD, or what it does not speak of (Crawl-delay), is
the operator's choice.
"""

from __future__ import annotations

from geomi.model.config import Compare, CrawlConfig, OnOversize, OnUnreachable, RobotsRules


def weaknesses(config: CrawlConfig) -> tuple[str, ...]:
    """Name each rule of RFC 9309 that the configuration does not keep, and the setting to blame."""
    if not config.robots.respect:
        return ("robots.txt is not obeyed at all (robots.respect, RFC 9309)",)
    return tuple(text for is_weak, text in _claims(config.robots) if is_weak)


def _claims(robots: RobotsRules) -> tuple[tuple[bool, str], ...]:
    allows = robots.on_unreachable in (OnUnreachable.ALLOW, OnUnreachable.ALLOW_WITH_DELAY)
    return (
        (
            allows,
            "a robots.txt that cannot be fetched allows everything "
            "(robots.on_unreachable, RFC 9309 §2.3.1.4)",
        ),
        (
            robots.on_oversize is OnOversize.ALLOW,
            "a robots.txt above its limits allows everything (robots.on_oversize, RFC 9309 §2.5)",
        ),
        (
            robots.max_rules > 0 and robots.on_oversize is OnOversize.OBEY,
            f"only the first {robots.max_rules} rules of a robots.txt are read "
            "(robots.max_rules, RFC 9309 §2.3.1.1)",
        ),
        (
            not robots.match_query,
            "rules about queries are not matched (robots.match_query, RFC 9309 §2.2.2)",
        ),
        (
            robots.compare is not Compare.RFC,
            "percent-encoded paths are not compared in one form (robots.compare, RFC 9309 §2.2.2)",
        ),
        (
            robots.blank_line_ends_group,
            "rules after a blank line are dropped (robots.blank_line_ends_group, RFC 9309 §2.2)",
        ),
    )
