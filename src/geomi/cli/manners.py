"""What a command that asks sites tells beforehand about how it will appear to them."""

from __future__ import annotations

from geomi.cli.options import Configured
from geomi.cli.talk import note
from geomi.settings.compliance import has_contact
from geomi.settings.options import Settings
from geomi.settings.profiles import AGENT


def warn_of_manners(configured: Configured, *, is_verbose: bool) -> None:
    """Warn of a crawler that nobody can ask about (C-04); a private site is our own."""
    settings, http = configured.settings, configured.resolved.config.http
    agent_from = dict(configured.resolved.origins).get(AGENT, "")
    is_borrowed = agent_from.startswith("profile") and not http.contact
    if (is_borrowed or not has_contact(http)) and not settings.allow_private:
        note("warning: sites cannot tell who crawls them; set GEOMI_CONTACT to a URL or an address")
    if settings.min_delay_s < Settings().min_delay_s:
        note(
            f"warning: GEOMI_MIN_DELAY_S={settings.min_delay_s:g} is only for sites that you own; "
            f"others are owed {Settings().min_delay_s:g} s between requests"
        )
    for variable in configured.strange_variables if is_verbose else ():
        note(f"note: the variable {variable} says nothing to geomi")
