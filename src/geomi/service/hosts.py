"""Which hosts are the operator's own, as far as their names tell; nothing is looked up here."""

from __future__ import annotations

from geomi.admit.address import is_public
from geomi.app import egress_rules
from geomi.settings.options import Settings
from geomi.url.host import is_address
from geomi.url.parse import Url


def is_inner(url: Url) -> bool:
    """Say whether a URL names this machine or a private address."""
    is_local = url.host == "localhost" or url.host.endswith(".localhost")
    return is_local or (is_address(url.host) and not is_public(url.host.strip("[]")))


def is_own(url: Url, settings: Settings) -> bool:
    """Say whether a URL leads to a server of the operator's own."""
    for one in egress_rules(settings).overrides:
        if one.host == url.host:
            return not is_public(one.address)
    return is_inner(url)
