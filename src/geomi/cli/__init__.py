"""The command line: flags in, exit codes out; one file a command.

Commands translate and nothing else: they read flags, call a use case of the engine and print what
it returned. Data goes to stdout, talk to stderr, and no command decides anything that another
surface would have to decide again.
"""

from __future__ import annotations

import os

# numpy only hashes here: threads for its linear algebra would cost every start 55 ms of CPU, and
# workers are forked where no thread runs yet.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from geomi.cli.program import main  # after the line that numpy has to find

__all__ = ["main"]
