"""Whether a page is worth a browser."""

from __future__ import annotations

import pytest

from geomi.fetch.response import RenderDecision, decide_rendering
from geomi.model.config import Render

SHELL = "empty application root"


@pytest.mark.parametrize(
    ("render", "unfinished", "expected"),
    [
        (Render.AUTO, "", RenderDecision(False, "")),
        (Render.AUTO, SHELL, RenderDecision(True, SHELL)),
        (Render.NEVER, "", RenderDecision(False, "")),
        (Render.NEVER, SHELL, RenderDecision(False, SHELL)),
        (Render.ALWAYS, "", RenderDecision(True, "the job renders every page")),
        (Render.ALWAYS, SHELL, RenderDecision(True, SHELL)),
    ],
)
def test_decide_c34(render: Render, unfinished: str, expected: RenderDecision) -> None:
    assert decide_rendering(render, unfinished) == expected
