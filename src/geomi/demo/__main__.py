"""`python -m geomi.demo`: serve the sample web until Ctrl-C and say how to reach it."""

from __future__ import annotations

import argparse
import asyncio
import contextlib

from geomi.demo.serve import ADDRESS, DemoSite


def main() -> None:
    """Read the arguments and serve."""
    parser = argparse.ArgumentParser(prog="python -m geomi.demo", description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="where to listen (0: any free port)")
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_serve(parser.parse_args().port))


async def _serve(port: int) -> None:
    async with DemoSite(port=port) as site:
        print(_how_to_reach(site), flush=True)
        await asyncio.Event().wait()


def _how_to_reach(site: DemoSite) -> str:
    seeds = " ".join(site.seeds)
    flags = " ".join(f"--resolve {override}" for override in site.overrides)
    return "\n".join(
        (
            f"Four hosts of a silk workshop are up on {ADDRESS}:{site.port}. Ctrl-C ends them.",
            "",
            *(f"  {seed}" for seed in site.seeds),
            "",
            f"  geomi crawl {seeds} --allow-private {flags}",
            f"  curl --connect-to {site.overrides[0]} {site.seeds[0]}",
            f'  chromium --host-resolver-rules="MAP *.geomi.test {ADDRESS}:{site.port}"',
        )
    )


if __name__ == "__main__":
    main()
