"""The dashboard's languages say the same things, and everything that pages ask for."""

from __future__ import annotations

import re
import string
from importlib import resources

import pytest

from geomi.admit.rules import Admission
from geomi.dashboard.crawl_form import ACTIONS, FLAGS, KINDS, LISTS, NUMBERS, TYPES, WHOLES
from geomi.dashboard.translations import LANGUAGES, choose_language, translations_of
from geomi.engine.inspect.alarms import AlarmRule
from geomi.engine.inspect.why import _ANSWERS, _NOT_ASKED
from geomi.model.config import CrawlConfig
from geomi.model.dataset.seed import ErrorType
from geomi.model.index.analysis import PageType
from geomi.model.index.document import DocumentState
from geomi.model.job import JobState, StopReason
from geomi.model.verdict import Outcome
from geomi.service.access.keys import KeyRole, KeyScope
from geomi.service.crawling.urls import UrlStatus
from geomi.service.webhooks import HookEvent
from geomi.url.parse import split

NAMED: dict[str, list[str]] = {
    "state": [*JobState, *UrlStatus, *DocumentState, "paused"],
    "stop": [*StopReason],
    "outcome": [*Outcome],
    "page_type": [*PageType],
    "alarm": [*AlarmRule],
    "event": [*HookEvent],
    "error_type": [*ErrorType],
    "role": [*KeyRole],
    "scope": [*KeyScope],
    "answer": [*_ANSWERS.values(), *_NOT_ASKED.values()],
    "action": sorted({one for actions in ACTIONS.values() for one in actions}),
    "safety_kind": [kind for _, kinds in KINDS.values() for kind in kinds],
    "field": [*WHOLES, *NUMBERS, *LISTS, *FLAGS, TYPES],
    "step": [
        name
        for name, _ in Admission(CrawlConfig(), ["http://a.test/"], now_year=9999).explain(
            split("http://a.test/"), 0
        )
    ],
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_has_the_same_keys_and_values_to_fill_in(language: str) -> None:
    first, other = translations_of(LANGUAGES[0]).texts, translations_of(language).texts
    assert other.keys() == first.keys()
    assert all(other.values())
    assert {key: _fields(one) for key, one in other.items()} == {
        key: _fields(one) for key, one in first.items()
    }


@pytest.mark.parametrize("group", NAMED)
def test_everything_that_can_be_shown_has_a_name(group: str) -> None:
    texts = translations_of("ko").texts
    assert [value for value in NAMED[group] if f"{group}.{value}" not in texts] == []


def test_templates_ask_for_keys_that_are_there_and_leave_none_unused() -> None:
    folder = resources.files("geomi.dashboard").joinpath("templates")
    pages = "\n".join(
        file.read_text("utf-8") for file in folder.iterdir() if file.name.endswith(".html")
    )
    asked = set(re.findall(r"""t\(["']([a-z_]+\.[A-Za-z_]+)["']""", pages))
    groups = set(re.findall(r"""t(?:\.name)?\(["']([a-z_]+)(?:\.["'] [+~]|["'],)""", pages))
    texts = translations_of("en").texts
    assert sorted(asked - texts.keys()) == []
    spoken = {"sign_in.refused", "sign_in.stale"}  # by views
    groups.add("unit")  # by filters
    unused = {key for key in texts if key not in asked | spoken and key.split(".")[0] not in groups}
    assert sorted(unused) == []


@pytest.mark.parametrize(
    ("wished", "accepted", "chosen"),
    [
        (None, "", "en"),
        (None, "ko-KR,ko;q=0.9,en;q=0.8", "ko"),
        (None, "de-DE,en;q=0.5,ko;q=0.7", "ko"),
        (None, "fr", "en"),
        (None, "ko;q=nonsense,en;q=0.1", "en"),
        ("en", "ko", "en"),
        ("xx", "ko", "ko"),
        (None, "," * 10_000 + "ko", "en"),
    ],
)
def test_the_language_is_the_chosen_one_or_the_browsers(
    wished: str | None, accepted: str, chosen: str
) -> None:
    assert choose_language(wished, accepted) == chosen


def _fields(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}
