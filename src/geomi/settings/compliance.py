"""What a crawl may not do, and what it does less of than RFC 9309 demands.

A user agent never uses another program's name (C-74), and should have a contact (LEG-08). A weaker
treatment of robots.txt is allowed, and geomi warns about it at every start. Only a broken MUST of
the RFC counts as weakness; a SHOULD, or what the RFC does not mention (Crawl-delay), is the
operator's choice.

A job remembers what it was allowed of the network and where its bytes are. A process that would go
on with it in another way is refused.
"""

from __future__ import annotations

import re

from geomi.errors import ConfigError
from geomi.model.config import (
    Compare,
    CrawlConfig,
    HttpRules,
    OnOversize,
    OnUnreachable,
    RobotsRules,
)
from geomi.model.job import CrawlJob
from geomi.settings.options import Settings

# Browsers and crawlers whose name would tell a site that somebody else is asking (C-74).
OTHER_PROGRAMS = frozenset(
    """
    mozilla applewebkit gecko webkit khtml trident presto chrome chromium headlesschrome crios
    firefox fxios safari opera opr edge edg edga edgios msie seamonkey vivaldi brave samsungbrowser
    yabrowser ucbrowser whale lynx links elinks w3m
    googlebot googlebot-image googlebot-news googlebot-video google-extended googleother
    adsbot-google mediapartners-google storebot-google bingbot msnbot adidxbot bingpreview slurp
    duckduckbot baiduspider yandexbot yandex yeti naverbot daum daumoa sogou exabot applebot
    amazonbot petalbot bytespider facebookexternalhit facebot meta-externalagent twitterbot
    linkedinbot pinterestbot slackbot discordbot telegrambot whatsapp gptbot chatgpt-user
    oai-searchbot claudebot claude-user claude-searchbot anthropic-ai perplexitybot ccbot
    ia_archiver archive_org_bot ahrefsbot semrushbot mj12bot dotbot dataforseobot
    curl wget
    """.split()
)
NEVER_SIGNED_IN = frozenset({"docs"})
_SEPARATOR = re.compile(r"[\s();,]+")
_NAMED = re.compile(r"([A-Za-z_-]+)/[0-9]")


def refuse_disguise(config: CrawlConfig) -> None:
    """Raise for a user agent that takes another program's name: geomi never disguises itself."""
    agent = config.http.user_agent
    token = agent.partition("/")[0].strip()
    products = (match[1] for match in map(_NAMED.match, _SEPARATOR.split(agent)) if match)
    for name in (token, *products):
        if name.lower() in OTHER_PROGRAMS:
            raise ConfigError(
                f"user agent `{agent}` uses the name of another program, `{name}`",
                hint="sites must see who crawls them: `my-crawler/1.0 (+https://example.org/about)`",
            )


def refuse_sign_in(config: CrawlConfig, profile: str) -> None:
    """Raise where a profile that reads public documentation is to sign in (C-48)."""
    if config.http.sign_in and profile in NEVER_SIGNED_IN:
        raise ConfigError(
            f"the profile `{profile}` never signs in, but http.sign_in = true demands it",
            hint="leave out one of them",
        )


def has_contact(http: HttpRules) -> bool:
    """Return whether a site can find out from the user agent whom to ask (LEG-08)."""
    if http.user_agent:
        return "://" in http.user_agent or "@" in http.user_agent
    return bool(http.contact)


def weaknesses(config: CrawlConfig) -> tuple[str, ...]:
    """Name each rule of RFC 9309 that the configuration does not keep, and the setting to blame."""
    if not config.robots.respect:
        return ("geomi does not obey robots.txt at all (robots.respect, RFC 9309)",)
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
            "rules do not match queries (robots.match_query, RFC 9309 §2.2.2)",
        ),
        (
            robots.compare is not Compare.RFC,
            "percent-encoded paths are compared as written (robots.compare, RFC 9309 §2.2.2)",
        ),
        (
            robots.blank_line_ends_group,
            "geomi drops rules after a blank line (robots.blank_line_ends_group, RFC 9309 §2.2)",
        ),
    )


def allowed_network(settings: Settings) -> tuple[str, ...]:
    """Name what the process was allowed of the network, as flags; a resumed job needs it again."""
    allowed = [("--allow-private", "")] if settings.allow_private else []
    allowed += [("--ca-file", settings.ca_file)] if settings.ca_file else []
    # A test server's own port changes from run to run; which host is redirected does not.
    allowed += [("--resolve", ":".join(text.split(":")[:2])) for text in settings.resolve]
    return tuple(f"{flag} {value}".strip() for flag, value in allowed)


def archive_place(settings: Settings) -> str:
    """Return the URL of the archive's bucket without how to get there, which may change."""
    return settings.blobs.partition("?")[0].rstrip("/")


def same_network(job: CrawlJob, settings: Settings) -> None:
    """Refuse to resume a job without its network flags: its URLs would all be refused."""
    missing = sorted(set(job.network).difference(allowed_network(settings)))
    if missing:
        raise ConfigError(
            f"job {job.id} was started with {', '.join(missing)}",
            hint="give the same network flags again with --resume",
        )


def same_archive(job: CrawlJob, settings: Settings) -> None:
    """Refuse to look for a job's bytes where they are not: all its pages would count as lost."""
    then = job.archive
    if then != archive_place(settings):
        raise ConfigError(
            f"the archive of job {job.id} is in {then or 'its data directory'}",
            hint=f"GEOMI_BLOBS={then}" if then else "leave out --blobs and GEOMI_BLOBS",
        )


def same_directory(job: CrawlJob, identity: str) -> None:
    """Refuse to store a job's archive in two directories: no process could read all of it."""
    if job.directory and job.directory != identity:
        raise ConfigError(
            f"the archive of job {job.id} is in another data directory",
            hint="name it with -o, on a disk that all machines share, or crawl with --blobs",
        )
