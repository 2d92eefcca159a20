"""How seed 001 reads robots.txt: the rules of the profile `scanner` as it ships."""

from __future__ import annotations

from geomi.settings.layers import read_profile, resolve

SCANNER = resolve([read_profile("scanner").layer]).config.robots
