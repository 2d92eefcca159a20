"""The command line: flags in, exit codes out; one file a command, in the folders that help shows.

A command reads its flags, calls a use case and prints the result. It decides nothing that the API
or the library would have to decide again. Data goes to stdout, messages to stderr.

The folders are the headings of `geomi --help`: `collect`, `read`, `look`, `keep`, `serve` and
`prepare`. The modules beside them are shared: `program` (the registry), `flags`, `options`
(settings), `data_directory`, `console` (printing) and `event_output` (live view and JSON lines).
"""

from __future__ import annotations

import atexit
import os
import sys
from contextlib import suppress

INTERRUPTED = 130


def start() -> None:
    """Be the `geomi` command: run the program, and leave with its exit code.

    The clients of buckets have threads of their own. One that is inside Python while the
    interpreter is taken apart aborts the process, and its exit code is 134, whatever was done. So
    nothing is taken apart: what others do at the end is done, and the process is gone.
    """
    code = 1

    def leave() -> None:
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):  # nobody reads it any more, or it was closed
                stream.flush()
        os._exit(code)

    atexit.register(leave)  # first of all, so that it is called after all others
    code = main()


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
