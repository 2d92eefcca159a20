"""Show every view of the dashboard in the documentation: light, dark and on a phone.

`python -m tools.screenshots` serves the sample site and a geomi that crawls it, opens each view in
the system's Chromium and writes `docs/images/dashboard/VIEW-KIND.png`, in few colours and none of
them larger than `MAX_BYTES`.
"""

from __future__ import annotations

import io
import sys
import tempfile
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import Browser

from tests.dashboard.stage import (
    browser,
    chromium,
    crawl,
    served,
    until_given_up,
    views,
    visitor,
)
from tests.e2e.serving import Served
from tests.support.server import Reply, Site

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "images" / "dashboard"
MAX_BYTES = 150_000
COLOURS = 256
SEEDS = tuple(f"http://{host}.geomi.test/" for host in ("www", "docs", "blog"))
WIDE, SMALL = {"width": 1240, "height": 820}, {"width": 375, "height": 760}
KINDS: dict[str, dict[str, Any]] = {
    "light": {"viewport": WIDE, "color_scheme": "light"},
    "dark": {"viewport": WIDE, "color_scheme": "dark"},
    "phone": {"viewport": SMALL, "color_scheme": "light", "locale": "ko-KR"},
}
BROKEN_LINKS = 30


def main() -> int:
    """Make every picture anew."""
    program = chromium()
    if program is None:
        print("Chromium is not here: apt-get install chromium", file=sys.stderr)
        return 1
    FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="geomi-") as root, served(Path(root)) as server:
        fill(server)
        with browser(program) as opened:
            for kind, options in KINDS.items():
                show(opened, server, kind, options)
    return 0


def fill(server: Served) -> None:
    """Let there be something to see on every view."""
    crawl(server, "silk", SEEDS)
    links = "".join(f"<a href='/{number}'>x</a>" for number in range(BROKEN_LINKS))
    with Site({"/": Reply(f"<title>old</title><main><p>{links}".encode())}) as site:
        crawl(server, "old-site", [site.url("/")])
    weekly = {"collectionId": "silk", "seedUrls": [SEEDS[1]]}
    server.post("/schedules", {"title": "every Monday", "cron": "0 3 * * 1", "crawl": weekly})
    server.post("/schedules", {"title": "", "intervalSeconds": 86_400, "crawl": weekly})
    server.post("/webhooks", {"url": "http://127.0.0.1:9/geomi"})
    until_given_up(server)
    server.post("/admin/tenants", {"name": "acme", "title": "Acme"})
    server.post("/admin/tenants/acme/keys", {"label": "reader of the wiki", "scopes": ["read"]})


def show(opened: Browser, server: Served, kind: str, options: dict[str, Any]) -> None:
    """Open each view and keep a picture of it."""
    with visitor(opened, server, **options) as somebody:
        shown = views(server, "silk")
        del shown["empty"]  # there is nothing to see
        for name, path in shown.items():
            page = somebody.open(path)
            if name == "new-crawl":
                page.fill("#seedUrls", "\n".join(SEEDS))
                page.fill("#collectionId", "silk")
                page.click("button[value=look]")
                page.wait_for_selector("#plan")
            keep(page.screenshot(), FOLDER / f"{name}-{kind}.png")
        somebody.page.context.clear_cookies()
        keep(somebody.open("/sign-in").screenshot(), FOLDER / f"sign-in-{kind}.png")
    started = live(server)
    with visitor(opened, server, **options) as somebody:
        page = somebody.open(f"/crawls/{started}")
        page.wait_for_selector(".course")
        page.wait_for_timeout(8_000)
        keep(page.screenshot(), FOLDER / f"live-{kind}.png")
    server.post(f"/crawls/{started}/cancel", {})


def live(server: Served) -> str:
    """Start a crawl that is still at work when it is looked at."""
    asked = {"collectionId": "live", "seedUrls": list(SEEDS), "config": {"requestsPerSecond": 1}}
    return str(server.post("/crawls", asked)["jobId"])


def keep(picture: bytes, file: Path) -> None:
    """Keep a picture in few colours."""
    image = Image.open(io.BytesIO(picture)).convert("RGB")
    few = image.quantize(COLOURS, Image.Quantize.MEDIANCUT, kmeans=1, dither=Image.Dither.NONE)
    few.save(file, optimize=True)
    size = file.stat().st_size
    assert size <= MAX_BYTES, f"{file.name} has {size:,} bytes"
    print(f"{file.name}: {size:,} bytes")


if __name__ == "__main__":
    sys.exit(main())
