"""A worker process: `python -m geomi.worker DESCRIPTOR`, started by `geomi crawl --workers N` only.

Its order comes through the pipe whose descriptor it is given; see `adapters/crew.py`.
"""

from __future__ import annotations

import sys
from multiprocessing.connection import Connection

from geomi.app import Order, run_worker


def main() -> None:
    """Take the order and carry it out."""
    pipe = Connection(int(sys.argv[1]))
    order = pipe.recv()
    assert isinstance(order, Order)
    run_worker(order, pipe)


if __name__ == "__main__":
    main()
