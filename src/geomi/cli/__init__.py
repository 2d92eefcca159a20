"""The command line: flags in, exit codes out; one file a command.

Commands translate and nothing else: they read flags, call a use case of the engine and print what
it returned. Data goes to stdout, talk to stderr, and no command decides anything that another
surface would have to decide again.
"""

from __future__ import annotations

import os

INTERRUPTED = 130


def main() -> int:
    """Run the program; it is loaded here, so that Ctrl-C is understood while it loads."""
    # numpy only hashes here: threads for its linear algebra would cost every start 55 ms of CPU,
    # and workers are forked where no thread runs yet.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        from geomi.cli.program import main as run

        return run()
    except KeyboardInterrupt:
        return INTERRUPTED
