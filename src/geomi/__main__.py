"""`python -m geomi` is the `geomi` command."""

from __future__ import annotations

import sys

from geomi.cli import main

if __name__ == "__main__":
    sys.exit(main())
