"""Who a crawl says it is: never somebody else, and preferably somebody who can be asked."""

from __future__ import annotations

import re

from geomi.errors import ConfigError
from geomi.model.config import CrawlConfig, HttpRules

# Browsers and crawlers whose name would tell a site that somebody else is asking (C-74).
OTHERS = frozenset(
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

_SEPARATOR = re.compile(r"[\s();,]+")
_NAMED = re.compile(r"([A-Za-z_-]+)/[0-9]")


def refuse_disguise(config: CrawlConfig) -> None:
    """Raise for a user agent that takes another program's name: geomi never disguises itself."""
    agent = config.http.user_agent
    token = agent.partition("/")[0].strip()
    products = (match[1] for match in map(_NAMED.match, _SEPARATOR.split(agent)) if match)
    for name in (token, *products):
        if name.lower() in OTHERS:
            raise ConfigError(
                f"user agent `{agent}` takes the name of another program, `{name}`",
                hint="a site is told who asks: `my-crawler/1.0 (+https://example.org/about)`",
            )


def has_contact(http: HttpRules) -> bool:
    """Say whether a site can find out from the user agent whom to ask (LEG-08)."""
    if http.user_agent:
        return "://" in http.user_agent or "@" in http.user_agent
    return bool(http.contact)
