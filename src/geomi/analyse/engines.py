"""Everyone who has a say in what is understood of a page: with their versions it may change."""

from __future__ import annotations

from geomi.analyse import copyright, fields, gate, quality, sensitive, summary
from geomi.analyse.classify import RULES
from geomi.analyse.kinds import version
from geomi.model.index.analysis import Engine


def engines() -> tuple[Engine, ...]:
    """Name every engine of this release."""
    parts = (quality, fields, summary, sensitive, copyright, gate)
    return RULES, Engine("kinds", version()), *(part.ENGINE for part in parts)
