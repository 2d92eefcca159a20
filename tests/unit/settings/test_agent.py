"""Who a crawl says it is."""

from __future__ import annotations

import pytest

from geomi.errors import ConfigError
from geomi.model.config import CrawlConfig, HttpRules
from geomi.settings.compliance import has_contact, refuse_disguise
from geomi.settings.layers import profile_names, read_profile, resolve


@pytest.mark.req("C-74")
@pytest.mark.parametrize(
    "agent",
    [
        "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/120.0 Safari/537.36",
        "mozilla",
        "Googlebot/2.1 (+http://www.google.com/bot.html)",
        "GOOGLEBOT",
        "bingbot/2.0",
        "my-crawler/1.0 (compatible; Googlebot/2.1; +https://me.test)",
        "my-crawler/1.0 Mozilla/5.0",
        "my-crawler/1.0 (like Chrome/99)",
        "curl/8.0",
    ],
)
def test_another_programs_name_is_refused(agent: str) -> None:
    with pytest.raises(ConfigError, match="uses the name of another program") as caught:
        refuse_disguise(CrawlConfig(http=HttpRules(user_agent=agent)))
    assert "my-crawler/1.0" in caught.value.hint


@pytest.mark.parametrize(
    "agent",
    [
        "",
        "my-crawler/1.0 (+https://me.test/chrome/about)",
        "chrome-docs-crawler/1.0",
        "bot/2",
        "safaribot/1 (on the edge of the opera; me@firefox.test)",
    ],
)
def test_a_name_of_our_own_is_not(agent: str) -> None:
    refuse_disguise(CrawlConfig(http=HttpRules(user_agent=agent)))


@pytest.mark.parametrize("name", profile_names())
def test_no_profile_is_a_disguise(name: str) -> None:
    refuse_disguise(resolve([read_profile(name).layer]).config)


@pytest.mark.req("LEG-08", "C-04")
@pytest.mark.parametrize(
    ("http", "known"),
    [
        (HttpRules(), False),
        (HttpRules(contact="https://me.test"), True),
        (HttpRules(user_agent="bot/1"), False),
        (HttpRules(user_agent="bot/1", contact="https://me.test"), False),
        (HttpRules(user_agent="bot/1 (+https://me.test)"), True),
        (HttpRules(user_agent="bot/1 (me@me.test)"), True),
    ],
)
def test_a_contact_is_what_the_user_agent_says(http: HttpRules, known: bool) -> None:
    """An own user agent is sent as it is, so a contact that it leaves out reaches nobody."""
    assert has_contact(http) is known
