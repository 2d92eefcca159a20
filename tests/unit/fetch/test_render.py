"""Whether a page is worth a browser."""

from __future__ import annotations

import pytest

from geomi.fetch.render import Rendering, decide
from geomi.model.config import Render

SHELL = "empty application root"


@pytest.mark.parametrize(
    ("render", "unfinished", "expected"),
    [
        (Render.AUTO, "", Rendering(False, "")),
        (Render.AUTO, SHELL, Rendering(True, SHELL)),
        (Render.NEVER, "", Rendering(False, "")),
        (Render.NEVER, SHELL, Rendering(False, SHELL)),
        (Render.ALWAYS, "", Rendering(True, "the job renders every page")),
        (Render.ALWAYS, SHELL, Rendering(True, SHELL)),
    ],
)
def test_decide_c34(render: Render, unfinished: str, expected: Rendering) -> None:
    assert decide(render, unfinished) == expected
