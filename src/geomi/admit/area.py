"""Decide what kind of place a URL is, where nobody wants the place: logins, shops, personal areas.

Each function names the part of the URL that tells, or returns nothing. Segments and parameters are
compared as whole names in canonical spelling and lower case (C-66); the expressions of SCP-10 are
the exception, and mean what they say.
"""

from __future__ import annotations

from geomi.admit import defaults
from geomi.url.canonical import canonical
from geomi.url.host import registrable_domain
from geomi.url.parse import Url


def blocked_name(url: Url) -> str:
    """Name the segment or parameter of the default block list that a URL holds."""
    names = _names(url)
    if (
        url.query == ""
        and defaults.BLOCKED_SEGMENTS.isdisjoint(names)
        and defaults.BLOCKED_LAST_SEGMENTS.isdisjoint(names)
    ):
        return ""
    for name in names:
        if name in defaults.BLOCKED_SEGMENTS:
            return name
    last = names[-1] or names[-2]
    if last in defaults.BLOCKED_LAST_SEGMENTS:
        return last
    for parameter in url.query.split("&") if url.query else ():
        name = canonical(parameter.partition("=")[0]).lower()
        if name in defaults.BLOCKED_PARAMETERS:
            return name
    return ""


def blocked_text(url: Url) -> str:
    """Name the expression of SCP-10 that finds something in a URL, scheme and host included."""
    href = url.href.lower()
    for text in defaults.BLOCKED_TEXTS:
        if text in href:
            return text
    for ending in defaults.BLOCKED_ENDINGS:
        if href.endswith((ending, ending + "/")):
            return ending
    return ""


def personal_name(url: Url) -> str:
    """Name what makes a URL a place of people: where they speak for themselves, or sign in.

    SCP-14, SCP-15, LEG-09, LEG-10. What documentation says about logins is no login.
    """
    labels = url.host.split(".")
    for label in labels[:-1]:
        if label in defaults.GATHERINGS:
            return label
    if registrable_domain(url.host) in defaults.GATHERING_SITES:
        return registrable_domain(url.host)
    names = _names(url)
    if names[1] in defaults.LOGIN_SEGMENTS:
        return names[1]
    is_documented = not defaults.DOCUMENTATION.isdisjoint(labels)
    for name in names:
        if name in defaults.DOCUMENTATION:
            return ""
        if name in defaults.GATHERINGS or (name in _OF_PEOPLE and not is_documented):
            return name
    return ""


def login_name(url: Url, sent_from: Url) -> str:
    """Name the login that a page sends its visitors to; a page about logins sends nobody away."""
    names = defaults.LOGIN_SEGMENTS.intersection(_names(url)).difference(_names(sent_from))
    return min(names, default="")


_OF_PEOPLE = defaults.PEOPLE | defaults.LOGIN_SEGMENTS


def _names(url: Url) -> list[str]:
    return canonical(url.path).lower().split("/")
