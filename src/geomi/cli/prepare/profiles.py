"""`geomi profiles`: list the profiles and show the settings of one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import typer

from geomi.cli import flags
from geomi.cli.console import print_json, say
from geomi.cli.prepare.config import print_settings
from geomi.settings.compliance import weaknesses
from geomi.settings.layers import Profile, Range, all_values, profile_names, read_profile, resolve

commands = typer.Typer(help="List and show profiles.", no_args_is_help=True)


@commands.command("list")
def list_profiles(json: flags.AsJson = False) -> None:
    """List the profiles and what each is for."""
    profiles = [read_profile(name) for name in profile_names()]
    if json:
        print_json({profile.name: profile.about for profile in profiles})
        return
    width = max(len(profile.name) for profile in profiles)
    for profile in profiles:
        say(f"{profile.name:<{width}}  {profile.about}")


@commands.command("show")
def show(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The profile.")],
    json: flags.AsJson = False,
) -> None:
    """Print a profile's settings with their sources, its ranges, and its weak points."""
    profile = read_profile(name)
    resolved = resolve([profile.layer])
    values, origins = all_values(resolved.config), dict(resolved.origins)
    weak = weaknesses(resolved.config)
    if json:
        print_json(
            {
                "profile": profile.name,
                "about": profile.about,
                "values": {
                    key: {"value": value, "origin": origins.get(key, "default")}
                    for key, value in values.items()
                },
                "ranges": _bounds(profile.ranges),
                "service_ranges": _bounds(profile.service_ranges),
                "warnings": weak,
            }
        )
        return
    say(f"{profile.name}: {profile.about}")
    print_settings(values, {key: origins.get(key, "default") for key in values})
    _tell_ranges(profile)
    for text in weak:
        say(f"WARN {text}", style="yellow")


def _bounds(ranges: Mapping[str, Range]) -> dict[str, list[float]]:
    return {key: [allowed.low, allowed.high] for key, allowed in ranges.items()}


def _tell_ranges(profile: Profile) -> None:
    for key, allowed in profile.ranges.items():
        say(f"range {key}: {allowed}")
    for key, allowed in profile.service_ranges.items():
        say(f"range {key}: {allowed}, for users of a service")
