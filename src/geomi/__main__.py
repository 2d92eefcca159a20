"""`python -m geomi` is the `geomi` command."""

from __future__ import annotations

from geomi.cli import start

if __name__ == "__main__":
    start()
